#include "openblas.hpp"

#include <cblas.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "attnspan/error.hpp"

namespace attnspan::openblas {
namespace {

/// Guards OpenBLAS's number of threads, which is one for the process, so this is as well.
std::shared_mutex& thread_count_mutex() {
    static std::shared_mutex mutex;
    return mutex;
}

CBLAS_TRANSPOSE transposition(Op op) {
    return op == Op::none ? CblasNoTrans : CblasTrans;
}

template <class T, class Gemm>
void checked_multiply(Gemm gemm, T alpha, Op op_a, ConstMatrixView<T> a, Op op_b, ConstMatrixView<T> b, T beta,
                      MatrixView<T> c) {
    for (const Index size : {a.rows, a.cols, a.ld, b.rows, b.cols, b.ld, c.rows, c.cols, c.ld}) {
        if (size > std::numeric_limits<blasint>::max()) {
            throw Error(ErrorKind::resource, "product: a size or leading dimension of " + std::to_string(size) +
                                                 " exceeds the " + std::to_string(8 * sizeof(blasint)) +
                                                 "-bit integers of OpenBLAS; use the back end \"eigen\"");
        }
    }
    const auto blas = [](Index size) { return static_cast<blasint>(size); };
    const std::shared_lock lock(thread_count_mutex());
    gemm(CblasColMajor, transposition(op_a), transposition(op_b), blas(c.rows), blas(c.cols),
         blas(op_a == Op::none ? a.cols : a.rows), alpha, a.data, blas(a.ld), b.data, blas(b.ld), beta, c.data,
         blas(c.ld));
}

}  // namespace

std::string name() {
    const std::string_view config = openblas_get_config();
    return std::string(config.substr(0, config.find(' ', config.find(' ') + 1)));
}

std::string instruction_set() {
    std::string core = openblas_get_corename();
#if defined(__x86_64__)
    if (core == "Prescott" && __builtin_cpu_supports("avx2")) {
        core += __builtin_cpu_supports("avx512bw") ? " (processor unknown to OpenBLAS; try OPENBLAS_CORETYPE=SkylakeX)"
                                                   : " (processor unknown to OpenBLAS; try OPENBLAS_CORETYPE=Haswell)";
    }
#endif
    return core;
}

void multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
              MatrixView<double> c) {
    checked_multiply(cblas_dgemm, alpha, op_a, a, op_b, b, beta, c);
}

void multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
              MatrixView<float> c) {
    checked_multiply(cblas_sgemm, alpha, op_a, a, op_b, b, beta, c);
}

ThreadScope::ThreadScope(Index threads) : lock_(thread_count_mutex()) {
    openblas_set_num_threads(static_cast<int>(std::clamp<Index>(threads, 1, std::numeric_limits<int>::max())));
}

ThreadScope::~ThreadScope() {
    openblas_set_num_threads(1);
}

}  // namespace attnspan::openblas
