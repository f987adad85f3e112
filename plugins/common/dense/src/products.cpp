#include "eigen_view.hpp"
#include "variant.hpp"

namespace attnspan::dense {
namespace {

template <class T>
void multiply(T alpha, Op op_a, ConstMatrixView<T> a, Op op_b, ConstMatrixView<T> b, T beta, MatrixView<T> c) {
    const auto left = eigen_view(a);
    const auto right = eigen_view(b);
    auto sum = eigen_view(c);
    if (beta == T(0)) {
        sum.setZero();
    } else if (beta != T(1)) {
        sum *= beta;
    }
    const auto add = [&](const auto& x, const auto& y) { sum.noalias() += alpha * x * y; };
    if (op_a == Op::none) {
        op_b == Op::none ? add(left, right) : add(left, right.transpose());
    } else {
        op_b == Op::none ? add(left.transpose(), right) : add(left.transpose(), right.transpose());
    }
}

}  // namespace

void multiply_f64(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                  MatrixView<double> c) {
    multiply(alpha, op_a, a, op_b, b, beta, c);
}

void multiply_f32(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                  MatrixView<float> c) {
    multiply(alpha, op_a, a, op_b, b, beta, c);
}

}  // namespace attnspan::dense
