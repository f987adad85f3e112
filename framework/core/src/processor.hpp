#pragma once

namespace attnspan::core {

#if defined(__x86_64__)
template <class Body, class... Arguments>
[[gnu::target("avx512f")]] auto run_with_avx512(Arguments... arguments) {
    return Body::run(arguments...);
}
template <class Body, class... Arguments>
[[gnu::target("avx2")]] auto run_with_avx2(Arguments... arguments) {
    return Body::run(arguments...);
}
#endif

/// Body::run(arguments...), compiled for several instruction sets; the widest that this processor has. `run` is a
/// static function, always inlined, and takes numbers and pointers only: how vectors are passed differs between the
/// sets.
template <class Body, class... Arguments>
auto run_on_this_processor(Arguments... arguments) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return run_with_avx512<Body>(arguments...);
    }
    if (__builtin_cpu_supports("avx2")) {
        return run_with_avx2<Body>(arguments...);
    }
#endif
    return Body::run(arguments...);
}

}  // namespace attnspan::core
