#include "fwht.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

namespace attnspan {
namespace {

/// A vector register of `bytes` bytes. Handed on by reference only: how it is passed by value differs between
/// instruction sets.
template <class T, std::size_t bytes>
struct Register {
    // gcc 12 overlooks the attribute in an alias declaration with a dependent size.
    typedef T type __attribute__((vector_size(bytes)));  // NOLINT(modernize-use-using)
};
template <class T, std::size_t bytes>
using Vector = typename Register<T, bytes>::type;

/// The stage of distance `stride` within a vector: lane i becomes x[i] + x[i ^ stride], or their difference where i has
/// that bit.
template <std::size_t stride, class T, std::size_t bytes, std::size_t... lane>
[[gnu::always_inline]] inline void lane_stage(Vector<T, bytes>& v, std::index_sequence<lane...>) {
    constexpr Vector<T, bytes> sign = {((lane & stride) != 0 ? T(-1) : T(1))...};
    v = v * sign + __builtin_shufflevector(v, v, static_cast<int>(lane ^ stride)...);
}

/// All stages within a vector.
template <class T, std::size_t bytes, std::size_t stride = 1>
[[gnu::always_inline]] inline void lane_stages(Vector<T, bytes>& v) {
    constexpr std::size_t lanes = bytes / sizeof(T);
    if constexpr (stride < lanes) {
        lane_stage<stride, T, bytes>(v, std::make_index_sequence<lanes>());
        lane_stages<T, bytes, 2 * stride>(v);
    }
}

/// Stages over `radix` vectors in registers.
template <class T, std::size_t bytes, std::size_t radix>
[[gnu::always_inline]] inline void butterfly(Vector<T, bytes> (&v)[radix]) {
#pragma GCC unroll 8
    for (std::size_t stride = 1; stride < radix; stride *= 2) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < radix; ++i) {
            if ((i & stride) == 0) {
                const Vector<T, bytes> sum = v[i] + v[i + stride];
                v[i + stride] = v[i] - v[i + stride];
                v[i] = sum;
            }
        }
    }
}

/// The stages of distance stride, 2 stride, ... up to radix / 2 * stride over x[0, size). stride is a multiple of the
/// vector.
template <class T, std::size_t bytes, std::size_t radix, bool with_lanes = false>
[[gnu::always_inline]] inline void pass(T* x, std::size_t size, std::size_t stride) {
    for (std::size_t group = 0; group < size; group += radix * stride) {
        for (std::size_t i = 0; i < stride; i += bytes / sizeof(T)) {
            T* const start = x + group + i;
            Vector<T, bytes> v[radix];
#pragma GCC unroll 8
            for (std::size_t r = 0; r < radix; ++r) {
                std::memcpy(&v[r], start + r * stride, bytes);
                if constexpr (with_lanes) {
                    lane_stages<T, bytes>(v[r]);
                }
            }
            butterfly<T, bytes, radix>(v);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < radix; ++r) {
                std::memcpy(start + r * stride, &v[r], bytes);
            }
        }
    }
}

/// A transform of at most 64 KiB or so, pass after pass.
template <std::size_t bytes, class T>
[[gnu::always_inline]] inline void transform_in_cache(T* x, std::size_t size) {
    std::size_t stride = bytes / sizeof(T);
    if (size < 8 * stride) {
        for (stride = 1; stride < size; stride *= 2) {
            for (std::size_t group = 0; group < size; group += 2 * stride) {
                for (std::size_t i = group; i < group + stride; ++i) {
                    const T sum = x[i] + x[i + stride];
                    x[i + stride] = x[i] - x[i + stride];
                    x[i] = sum;
                }
            }
        }
        return;
    }
    pass<T, bytes, 8, true>(x, size, stride);
    stride *= 8;
    // What three stages at a time leave over comes first, while the data is closest.
    if (const std::size_t rest = size / stride; std::countr_zero(rest) % 3 == 1) {
        pass<T, bytes, 2>(x, size, stride);
        stride *= 2;
    } else if (std::countr_zero(rest) % 3 == 2) {
        pass<T, bytes, 4>(x, size, stride);
        stride *= 4;
    }
    for (; stride < size; stride *= 8) {
        pass<T, bytes, 8>(x, size, stride);
    }
}

/// A long transform: pieces that fit into the first cache, and eight finished neighbours are joined as soon as the last
/// of them is, so that they are still in the closest cache that holds them.
template <std::size_t bytes, class T>
[[gnu::always_inline]] inline void transform(std::span<T> x) {
    constexpr std::size_t largest_piece = 32768 / sizeof(T);
    std::size_t piece = x.size();
    while (piece > largest_piece) {
        piece /= 8;
    }
    for (std::size_t begin = 0; begin < x.size(); begin += piece) {
        transform_in_cache<bytes>(x.data() + begin, piece);
        const std::size_t done = begin + piece;
        for (std::size_t joined = 8 * piece; joined <= x.size() && done % joined == 0; joined *= 8) {
            pass<T, bytes, 8>(x.data() + (done - joined), joined, joined / 8);
        }
    }
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx512f")]] void transform_avx512(std::span<T> x) {
    transform<64>(x);
}
template <class T>
[[gnu::target("avx2")]] void transform_avx2(std::span<T> x) {
    transform<32>(x);
}
#endif

template <class T>
void transform_here(std::span<T> x) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return transform_avx512(x);
    }
    if (__builtin_cpu_supports("avx2")) {
        return transform_avx2(x);
    }
#endif
    transform<16>(x);
}

}  // namespace

void walsh_hadamard(std::span<double> x) {
    transform_here(x);
}
void walsh_hadamard(std::span<float> x) {
    transform_here(x);
}

}  // namespace attnspan
