#include "row_scan.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "processor.hpp"

namespace attnspan::core {
namespace {

// As many independent chains as fill the widest registers twice or more; fixed, so that sums do not depend on the
// width.
constexpr Index lanes = 32;

/// exp(x) for x <= 0: 2^n exp(r) with |r| <= ln(2) / 2 and the Taylor polynomial of degree 13 (truncation below 1e-17).
/// Branch-free, so that compilers vectorise it.
[[gnu::always_inline]] inline double exp_nonpositive(double x) {
    constexpr double log2e = 0x1.71547652b82fep0;
    constexpr double ln2_high = 0x1.62e42fefa3800p-1;
    constexpr double ln2_low = 0x1.ef35793c76730p-45;
    constexpr double to_integer = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
    const double clamped = x < -700.0 ? -700.0 : x;
    const double shifted = clamped * log2e + to_integer;
    const double n = shifted - to_integer;
    const double r = (clamped - n * ln2_high) - n * ln2_low;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U);
    return x < -700.0 ? 0.0 : p * power;
}

struct Maximum {
    template <class T>
    [[gnu::always_inline]] static T run(const T* s, Index count) {
        constexpr Index chains = 64;  // enough to hide the latency of a maximum; the order does not matter here
        T best[chains];
        for (T& b : best) {
            b = -std::numeric_limits<T>::infinity();
        }
        Index i = 0;
        for (; i + chains <= count; i += chains) {
            for (Index l = 0; l < chains; ++l) {
                best[l] = s[i + l] > best[l] ? s[i + l] : best[l];
            }
        }
        for (Index l = 0; i < count; ++i, ++l) {
            best[l] = s[i] > best[l] ? s[i] : best[l];
        }
#pragma GCC unroll 8
        for (Index width = chains / 2; width > 0; width /= 2) {
            for (Index l = 0; l < width; ++l) {
                best[l] = best[l + width] > best[l] ? best[l + width] : best[l];
            }
        }
        return best[0];
    }
};

struct Position {
    template <class T>
    [[gnu::always_inline]] static Index run(const T* s, Index count, T value) {
        constexpr Index step = 64;
        using Flag =
            std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;  // as wide as a number: one vector lane
        Index i = 0;
        for (; i + step <= count; i += step) {
            Flag found = 0;
            for (Index l = 0; l < step; ++l) {
                found |= static_cast<Flag>(s[i + l] == value ? 1 : 0);
            }
            if (found != 0) {
                break;
            }
        }
        while (i < count && s[i] != value) {
            ++i;
        }
        return i;
    }
};

struct SumExp {
    template <class T>
    [[gnu::always_inline]] static double run(const T* s, Index count, double shift) {
        double sums[lanes] = {};
        Index i = 0;
        for (; i + lanes <= count; i += lanes) {
            for (Index l = 0; l < lanes; ++l) {
                sums[l] += exp_nonpositive(static_cast<double>(s[i + l]) - shift);
            }
        }
        for (Index l = 0; i < count; ++i, ++l) {
            sums[l] += exp_nonpositive(static_cast<double>(s[i]) - shift);
        }
        double out = 0;
        for (const double part : sums) {
            out += part;
        }
        return out;
    }
};

struct AddSquares {
    [[gnu::always_inline]] static void run(const double* x, Index count, double* squares) {
        for (Index i = 0; i < count; ++i) {
            squares[i] += x[i] * x[i];
        }
    }
};

}  // namespace

double maximum(const double* s, Index count) {
    return run_on_this_processor<Maximum>(s, count);
}
float maximum(const float* s, Index count) {
    return run_on_this_processor<Maximum>(s, count);
}

Index position_of(const double* s, Index count, double value) {
    return run_on_this_processor<Position>(s, count, value);
}
Index position_of(const float* s, Index count, float value) {
    return run_on_this_processor<Position>(s, count, value);
}

double sum_exp(const double* s, Index count, double shift) {
    return run_on_this_processor<SumExp>(s, count, shift);
}

double sum_exp(const float* s, Index count, double shift) {
    return run_on_this_processor<SumExp>(s, count, shift);
}

void add_squares(const double* x, Index count, double* squares) {
    run_on_this_processor<AddSquares>(x, count, squares);
}

}  // namespace attnspan::core
