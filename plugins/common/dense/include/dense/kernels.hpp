#pragma once

#include "attnspan/backend.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::dense {

/// Matrix products compiled for one instruction set. Shapes must fit and nothing may be empty (Backend checks both).
/// Every function runs on the calling thread and may be called from several threads.
struct Kernels {
    const char* instruction_set;  ///< "avx512", "avx2", "sse2"
    /// c = alpha op(a) op(b) + beta c; with beta = 0 the old c is not read.
    void (*multiply_f64)(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b,
                         double beta, MatrixView<double> c);
    void (*multiply_f32)(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                         MatrixView<float> c);
};

/// The kernels for the processor this runs on; the same ones at every call on one machine.
[[nodiscard]] const Kernels& kernels();

}  // namespace attnspan::dense
