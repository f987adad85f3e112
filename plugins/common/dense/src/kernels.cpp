#include "dense/kernels.hpp"

#include <vector>

using attnspan::dense::Kernels;

// One function from each variant's library (see CMakeLists.txt).
extern "C" {
#if defined(__x86_64__)
const Kernels* attnspan_dense_avx512();
const Kernels* attnspan_dense_avx2();
const Kernels* attnspan_dense_sse2();
#else
const Kernels* attnspan_dense_generic();
#endif
}

namespace attnspan::dense {
namespace {

std::vector<const Kernels*> find_supported() {
#if defined(__x86_64__)
    std::vector<const Kernels*> found;
    // These ask the operating system too: without its support the wide registers do not survive a task switch.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        found.push_back(attnspan_dense_avx512());
    }
    if (avx2) {
        found.push_back(attnspan_dense_avx2());
    }
    found.push_back(attnspan_dense_sse2());
    return found;
#else
    return {attnspan_dense_generic()};
#endif
}

}  // namespace

std::span<const Kernels* const> supported_kernels() {
    static const std::vector<const Kernels*> supported = find_supported();
    return supported;
}

const Kernels& kernels() {
    return *supported_kernels().front();
}

}  // namespace attnspan::dense
