#pragma once

#include <span>

#include "attnspan/backend.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::dense {

/// Dense linear algebra compiled for one instruction set; the meaning of each function is that of Backend's of the same
/// name, and what Backend checks (shapes, emptiness of products, finiteness) must hold. Every function runs on the
/// calling thread and may be called from several threads.
struct Kernels {
    const char* instruction_set;  ///< "avx512", "avx2", "sse2"; "generic" on other processors
    const char* library;          ///< "Eigen 3.4.0"
    /// c = alpha op(a) op(b) + beta c; with beta = 0 the old c is not read.
    void (*multiply_f64)(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b,
                         double beta, MatrixView<double> c);
    void (*multiply_f32)(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                         MatrixView<float> c);
    Svd (*svd)(ConstMatrixView<double> a);
    SymmetricEigen (*symmetric_eigen)(ConstMatrixView<double> a);
    Qr (*qr)(ConstMatrixView<double> a);
    Matrix<double> (*solve)(ConstMatrixView<double> a, ConstMatrixView<double> b);
};

/// The kernels for the processor this runs on; the same ones at every call on one machine.
[[nodiscard]] const Kernels& kernels();

/// Every set of kernels that this processor can run, the best first. For comparing them.
[[nodiscard]] std::span<const Kernels* const> supported_kernels();

}  // namespace attnspan::dense
