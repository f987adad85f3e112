#pragma once

#include <array>
#include <vector>

#include "attnspan/matrix.hpp"
#include "attnspan/parallel.hpp"
#include "attnspan/random.hpp"

namespace attnspan {

/// The first columns of a Haar-distributed orthogonal n x n matrix Q, grown on demand: equal in law to Q of the QR
/// decomposition of a Gaussian matrix with positive diag R, without that matrix. For all m columns about 2 n m^2 flops,
/// whatever the pieces, and memory for 2 n m + m^2 numbers. Used by one thread at a time. Stewart, The efficient
/// generation of random orthogonal matrices (SIAM J. Numer. Anal. 17, 1980); Schreiber and Van Loan, A
/// storage-efficient WY representation (SIAM J. Sci. Stat. Comput. 10, 1989).
class HaarColumns {
public:
    /// `parallel` is kept by reference.
    HaarColumns(Index n, const RandomStream& random, const Parallel& parallel)
        : n_(n), random_(random), parallel_(parallel), q_(n, 0), v_(n, 0) {}

    [[nodiscard]] Index n() const { return n_; }
    /// Columns [begin, end) of Q, end <= n; valid until the next call.
    /// @throws Error(resource) when they do not fit into memory
    [[nodiscard]] ConstMatrixView<double> columns(Index begin, Index end);

private:
    // Columns made at a time. Whole blocks only, so that the products, and with them every bit, do not depend on how
    // the columns are asked for.
    static constexpr Index block_width = 64;

    void append_block();
    [[nodiscard]] std::array<double, block_width> draw_reflectors(Index first, Index width);

    Index n_;
    RandomStream random_;
    const Parallel& parallel_;
    Index made_ = 0;  ///< columns of q_ and v_ that are made
    // Q's first columns, and the reflectors: H_0 ... H_{made - 1} = I - V T V^T. Column j of V is zero above row j and
    // has squared norm 2, so that diag T = 1. T is kept by blocks of columns, each down to its diagonal. All of them
    // are Matrix, whose alignment is fixed: products may sum in an order that depends on it.
    Matrix<double> q_;
    Matrix<double> v_;
    std::vector<Matrix<double>> t_;
};

}  // namespace attnspan
