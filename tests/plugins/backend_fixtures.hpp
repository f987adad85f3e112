#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "attnspan/backend.hpp"
#include "backend_loader.hpp"

namespace attnspan::test {

struct NamedBackend {
    std::string name;
    std::unique_ptr<Backend> backend;
};

/// Both built-in back ends, two threads each.
inline std::array<NamedBackend, 2> both_backends() {
    return {{{"eigen", load_backend(PLUGIN_EIGEN, 2)}, {"armadillo", load_backend(PLUGIN_ARMADILLO, 2)}}};
}

/// Entries uniform on (-1, 1); the same seed gives the same matrix.
template <class T = double>
Matrix<T> random_matrix(Index rows, Index cols, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<T> entry(-1, 1);
    Matrix<T> m(rows, cols);
    std::generate_n(m.data(), rows * cols, [&] { return entry(generator); });
    return m;
}

/// op(m)(i, j) in the precision of references.
template <class T>
long double entry(Op op, ConstMatrixView<T> m, Index i, Index j) {
    return op == Op::none ? m(i, j) : m(j, i);
}

/// op(a) op(b) by the definition, summed in long double.
template <class T>
Matrix<double> reference_product(Op op_a, ConstMatrixView<T> a, Op op_b, ConstMatrixView<T> b) {
    const Index rows = op_a == Op::none ? a.rows : a.cols;
    const Index inner = op_a == Op::none ? a.cols : a.rows;
    const Index cols = op_b == Op::none ? b.cols : b.rows;
    Matrix<double> c(rows, cols);
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            long double sum = 0;
            for (Index k = 0; k < inner; ++k) {
                sum += entry(op_a, a, i, k) * entry(op_b, b, k, j);
            }
            c(i, j) = static_cast<double>(sum);
        }
    }
    return c;
}

/// max |a_ij - b_ij|; infinite where one of the two is not a number.
template <class A, class B>
double largest_difference(MatrixView<A> a, MatrixView<B> b) {
    double largest = 0;
    for (Index j = 0; j < a.cols; ++j) {
        for (Index i = 0; i < a.rows; ++i) {
            const double d = std::abs(static_cast<double>(a(i, j)) - static_cast<double>(b(i, j)));
            largest = std::isnan(d) ? HUGE_VAL : std::max(largest, d);
        }
    }
    return largest;
}

inline Matrix<double> eye(Index n) {
    Matrix<double> m(n, n, 0.0);
    for (Index i = 0; i < n; ++i) {
        m(i, i) = 1;
    }
    return m;
}

/// max |m^T m - I|
inline double orthogonality_error(const Matrix<double>& m) {
    return largest_difference(reference_product(Op::transpose, m.view(), Op::none, m.view()).view(),
                              eye(m.cols()).view());
}

}  // namespace attnspan::test
