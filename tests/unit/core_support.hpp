#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "attnspan/construction.hpp"
#include "attnspan/core/encode.hpp"
#include "attnspan/core/verify.hpp"

namespace core_test {

using namespace attnspan;

/// Products by the definition. `backwards` sums from the last term to the first, which is as good and differs in the
/// last digits.
class NaiveBackend final : public Backend {
public:
    explicit NaiveBackend(bool backwards = false) : backwards_(backwards) {}

private:
    [[nodiscard]] BackendInfo do_info() const override { return {.library = "naive", .instruction_set = "none"}; }
    void do_multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                     MatrixView<double> c) const override {
        product(alpha, op_a, a, op_b, b, beta, c);
    }
    void do_multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                     MatrixView<float> c) const override {
        product(alpha, op_a, a, op_b, b, beta, c);
    }
    [[nodiscard]] Svd do_svd(ConstMatrixView<double>) const override { throw Error(ErrorKind::plugin, "unused"); }
    [[nodiscard]] SymmetricEigen do_symmetric_eigen(ConstMatrixView<double>) const override {
        throw Error(ErrorKind::plugin, "unused");
    }
    [[nodiscard]] Qr do_qr(ConstMatrixView<double>) const override { throw Error(ErrorKind::plugin, "unused"); }
    [[nodiscard]] Matrix<double> do_solve(ConstMatrixView<double>, ConstMatrixView<double>) const override {
        throw Error(ErrorKind::plugin, "unused");
    }

    template <class T>
    void product(T alpha, Op op_a, ConstMatrixView<T> a, Op op_b, ConstMatrixView<T> b, T beta, MatrixView<T> c) const {
        const Index inner = op_a == Op::none ? a.cols : a.rows;
        for (Index j = 0; j < c.cols; ++j) {
            for (Index i = 0; i < c.rows; ++i) {
                T sum = 0;
                for (Index t = 0; t < inner; ++t) {
                    const Index k = backwards_ ? inner - 1 - t : t;
                    sum += (op_a == Op::none ? a(i, k) : a(k, i)) * (op_b == Op::none ? b(k, j) : b(j, k));
                }
                c(i, j) = alpha * sum + (beta == T(0) ? T(0) : beta * c(i, j));
            }
        }
    }

    bool backwards_;
};

inline VisibleRanges bidirectional(Index queries, Index keys) {
    return {.keys = keys, .ranges = std::vector<KeyRange>(static_cast<std::size_t>(queries), KeyRange{0, keys})};
}

inline VisibleRanges causal(Index n) {
    VisibleRanges out{.keys = n, .ranges = {}};
    for (Index i = 0; i < n; ++i) {
        out.ranges.push_back({0, i + 1});
    }
    return out;
}

/// A target from a dense array; zeros are not stored.
inline SparseMatrix sparse(const std::vector<std::vector<double>>& rows) {
    SparseMatrix out;
    out.cols = rows.empty() ? 0 : static_cast<Index>(rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (row[j] > 0) {
                out.push(static_cast<Index>(j), row[j]);
            }
        }
        out.end_row();
    }
    return out;
}

inline Matrix<double> dense(const std::vector<std::vector<double>>& rows) {
    Matrix<double> out(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
    for (Index i = 0; i < out.rows(); ++i) {
        for (Index j = 0; j < out.cols(); ++j) {
            out(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        }
    }
    return out;
}

inline Matrix<double> random_matrix(Index rows, Index cols, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    Matrix<double> out(rows, cols);
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            out(i, j) = normal(engine);
        }
    }
    return out;
}

/// A criterion from the two epsilons.
inline core::Criterion criterion(double ratio, double leakage) {
    return {.log_ratio = std::log1p(ratio), .log_leakage = std::log(leakage), .total_variation = std::nullopt};
}

}  // namespace core_test
