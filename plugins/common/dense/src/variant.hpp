#pragma once

#include "attnspan/backend.hpp"
#include "attnspan/matrix.hpp"

/// The functions behind one variant's table. They carry the same names in every variant, each in its own library.
namespace attnspan::dense {

void multiply_f64(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                  MatrixView<double> c);
void multiply_f32(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                  MatrixView<float> c);

Svd svd(ConstMatrixView<double> a);
SymmetricEigen symmetric_eigen(ConstMatrixView<double> a);
Qr qr(ConstMatrixView<double> a);
Matrix<double> solve(ConstMatrixView<double> a, ConstMatrixView<double> b);

}  // namespace attnspan::dense
