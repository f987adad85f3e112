#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>

#include "attnspan/backend.hpp"
#include "attnspan/matrix.hpp"

/// What of OpenBLAS goes beyond BLAS and LAPACK.
namespace attnspan::openblas {

/// "OpenBLAS 0.3.21"
std::string name();

/// The kernels it chose, with a hint where this processor could do more: OpenBLAS does not recognise processors younger
/// than itself and then falls back to SSE3.
std::string instruction_set();

/// c = alpha op(a) op(b) + beta c on the calling thread; may be called from several threads.
/// @throws Error(resource) for a size beyond its 32-bit integers
void multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
              MatrixView<double> c);
void multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
              MatrixView<float> c);

/// OpenBLAS works with `threads` threads as long as one of these lives, and with one otherwise. Products wait
/// meanwhile, as do other scopes: the number is one for the whole process, and products promise not to use more than
/// the calling thread.
class ThreadScope {
public:
    explicit ThreadScope(Index threads);
    ThreadScope(const ThreadScope&) = delete;
    ThreadScope& operator=(const ThreadScope&) = delete;
    ~ThreadScope();

private:
    std::unique_lock<std::shared_mutex> lock_;
};

}  // namespace attnspan::openblas
