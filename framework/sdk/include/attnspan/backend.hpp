#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "attnspan/error.hpp"
#include "attnspan/interface.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan {

enum class Op { none, transpose };

/// For the provenance of a result.
struct BackendInfo {
    std::string library;          ///< "Eigen 3.4.0", "Armadillo 11.4.2 with OpenBLAS 0.3.21"
    std::string instruction_set;  ///< what the kernels really use: "avx512", "SkylakeX", ...
    Index threads = 1;            ///< at most this many threads work in a factorisation
};

/// A = u diag(sigma) v^T with sigma descending; u is rows x rows, v is cols x cols (all of them), sigma min(rows,
/// cols).
struct Svd {
    Matrix<double> u;
    std::vector<double> sigma;
    Matrix<double> v;
};

/// A = vectors diag(values) vectors^T, values ascending.
struct SymmetricEigen {
    std::vector<double> values;
    Matrix<double> vectors;
};

/// A = q r with q rows x min(rows, cols), r min(rows, cols) x cols upper triangular.
struct Qr {
    Matrix<double> q;
    Matrix<double> r;
};

/// Dense linear algebra. Products run on the calling thread alone and may be called on one object from several threads
/// at once; factorisations and solves use up to info().threads threads and are called by one thread at a time.
class Backend : public Interface {
public:
    [[nodiscard]] BackendInfo info() const { return do_info(); }

    /// c = alpha op(a) op(b) + beta c. With beta = 0 the old c is not read. c overlaps neither a nor b.
    /// @throws Error(plugin) naming the shapes when they do not fit
    void multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                  MatrixView<double> c) const {
        if (check_product(op_a, a, op_b, b, c)) {
            do_multiply(alpha, op_a, a, op_b, b, beta, c);
        } else {
            scale(c, beta);
        }
    }
    /// The same in single precision.
    void multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                  MatrixView<float> c) const {
        if (check_product(op_a, a, op_b, b, c)) {
            do_multiply(alpha, op_a, a, op_b, b, beta, c);
        } else {
            scale(c, beta);
        }
    }

    /// @throws Error(data) for a matrix with a non-finite entry, Error(resource) when the iteration does not converge
    [[nodiscard]] Svd svd(ConstMatrixView<double> a) const {
        require_finite("singular value decomposition", a);
        Svd answer = do_svd(a);
        require_shape("singular value decomposition", "U", answer.u, a.rows, a.rows);
        require_shape("singular value decomposition", "V", answer.v, a.cols, a.cols);
        require_count("singular value decomposition", answer.sigma.size(), std::min(a.rows, a.cols));
        return answer;
    }
    /// Only the lower triangle of the square matrix `a` is read. @throws as svd; Error(plugin) for a rectangle
    [[nodiscard]] SymmetricEigen symmetric_eigen(ConstMatrixView<double> a) const {
        require_square("symmetric eigenvalue decomposition", a);
        require_finite("symmetric eigenvalue decomposition", a);
        SymmetricEigen answer = do_symmetric_eigen(a);
        require_shape("symmetric eigenvalue decomposition", "the vectors", answer.vectors, a.rows, a.rows);
        require_count("symmetric eigenvalue decomposition", answer.values.size(), a.rows);
        return answer;
    }
    /// @throws as svd
    [[nodiscard]] Qr qr(ConstMatrixView<double> a) const {
        require_finite("QR decomposition", a);
        Qr answer = do_qr(a);
        require_shape("QR decomposition", "Q", answer.q, a.rows, std::min(a.rows, a.cols));
        require_shape("QR decomposition", "R", answer.r, std::min(a.rows, a.cols), a.cols);
        return answer;
    }
    /// x with a x = b for a square `a` (n x n) and b (n x any), by LU with partial pivoting.
    /// @throws Error(data) when `a` or `b` has a non-finite entry or `a` is singular to working precision
    [[nodiscard]] Matrix<double> solve(ConstMatrixView<double> a, ConstMatrixView<double> b) const {
        require_square("linear solve", a);
        if (a.rows != b.rows) {
            throw Error(ErrorKind::plugin, "linear solve: " + shape_text(a.rows, a.cols) + " against a right side of " +
                                               shape_text(b.rows, b.cols));
        }
        require_finite("linear solve", a);
        require_finite("linear solve", b);
        Matrix<double> answer = do_solve(a, b);
        require_shape("linear solve", "the solution", answer, b.rows, b.cols);
        return answer;
    }

private:
    static std::string shape_text(Index rows, Index cols) {
        return std::to_string(rows) + " x " + std::to_string(cols);
    }

    /// True when there is something to sum; false when the product is zero or c is empty.
    template <class T>
    static bool check_product(Op op_a, ConstMatrixView<T> a, Op op_b, ConstMatrixView<T> b, MatrixView<T> c) {
        const Index rows = op_a == Op::none ? a.rows : a.cols;
        const Index inner_a = op_a == Op::none ? a.cols : a.rows;
        const Index inner_b = op_b == Op::none ? b.rows : b.cols;
        const Index cols = op_b == Op::none ? b.cols : b.rows;
        if (rows != c.rows || cols != c.cols || inner_a != inner_b) {
            throw Error(ErrorKind::plugin, "product: " + shape_text(rows, inner_a) + " times " +
                                               shape_text(inner_b, cols) + " into " + shape_text(c.rows, c.cols));
        }
        return rows > 0 && cols > 0 && inner_a > 0;
    }

    template <class T>
    static void scale(MatrixView<T> c, T beta) {
        for (Index j = 0; j < c.cols; ++j) {
            for (Index i = 0; i < c.rows; ++i) {
                c(i, j) = beta == T(0) ? T(0) : beta * c(i, j);
            }
        }
    }

    // What the plugin answers, before anyone reads it.
    static void require_shape(const char* operation, const char* part, const Matrix<double>& got, Index rows,
                              Index cols) {
        if (got.rows() != rows || got.cols() != cols) {
            throw Error(ErrorKind::plugin, std::string(operation) + ": the back end answers with " + part + " of " +
                                               shape_text(got.rows(), got.cols()) + " instead of " +
                                               shape_text(rows, cols));
        }
    }
    static void require_count(const char* operation, std::size_t got, Index count) {
        if (got != static_cast<std::size_t>(count)) {
            throw Error(ErrorKind::plugin, std::string(operation) + ": the back end answers with " +
                                               std::to_string(got) + " values instead of " + std::to_string(count));
        }
    }

    static void require_square(const char* operation, ConstMatrixView<double> a) {
        if (a.rows != a.cols) {
            throw Error(ErrorKind::plugin,
                        std::string(operation) + ": the matrix is " + shape_text(a.rows, a.cols) + ", not square");
        }
    }

    static void require_finite(const char* operation, ConstMatrixView<double> a) {
        for (Index j = 0; j < a.cols; ++j) {
            for (Index i = 0; i < a.rows; ++i) {
                if (!std::isfinite(a(i, j))) {
                    throw Error(ErrorKind::data, std::string(operation) + ": entry (" + std::to_string(i) + ", " +
                                                     std::to_string(j) + ") of the " + shape_text(a.rows, a.cols) +
                                                     " matrix is not finite");
                }
            }
        }
    }

    [[nodiscard]] virtual BackendInfo do_info() const = 0;
    // Shapes fit and nothing is empty.
    virtual void do_multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b,
                             double beta, MatrixView<double> c) const = 0;
    virtual void do_multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b,
                             float beta, MatrixView<float> c) const = 0;
    // All entries are finite; sizes may be zero.
    [[nodiscard]] virtual Svd do_svd(ConstMatrixView<double> a) const = 0;
    [[nodiscard]] virtual SymmetricEigen do_symmetric_eigen(ConstMatrixView<double> a) const = 0;
    [[nodiscard]] virtual Qr do_qr(ConstMatrixView<double> a) const = 0;
    [[nodiscard]] virtual Matrix<double> do_solve(ConstMatrixView<double> a, ConstMatrixView<double> b) const = 0;
};

}  // namespace attnspan
