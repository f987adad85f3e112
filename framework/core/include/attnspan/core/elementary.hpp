#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace attnspan::core {

// Functions of <cmath> that random numbers need, written out so that their last bit does not depend on the C library or
// on the instruction set. Branch-free: loops over them vectorise. Kernels and coefficients: FreeBSD msun (fdlibm),
// e_log.c, k_sin.c, k_cos.c, Copyright (C) 1993 Sun Microsystems, freely granted with this notice.

/// ln x for positive normal x, within 1 ulp.
inline double natural_log(double x) {
    constexpr std::uint64_t one = 0x3ff0000000000000;        // bits of 1
    constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
    constexpr std::uint64_t exponent_mask = 0xfff0000000000000;
    constexpr std::uint64_t two_52 = 0x4330000000000000;  // bits of 2^52, where one unit in the last place is 1

    // x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); k becomes a double without an integer conversion, which older
    // instruction sets lack for vectors.
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t raised = bits + (one - root_half);
    const double k = std::bit_cast<double>(two_52 | (raised >> 52U)) - (0x1p52 + 1023);
    const double f = std::bit_cast<double>(bits - (raised & exponent_mask) + one) - 1;

    const double s = f / (2 + f);
    const double z = s * s;
    const double w = z * z;
    const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double odd =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double half_square = 0.5 * f * f;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // k times it is exact
    constexpr double ln2_low = 1.90821492927058770002e-10;
    return k * ln2_high - ((half_square - (s * (half_square + (odd + even)) + k * ln2_low)) - f);
}

struct SineCosine {
    double sine;
    double cosine;
};

/// sin and cos of 2 pi u for 0 <= u <= 1, each within 2 ulp.
inline SineCosine sine_cosine_of_turns(double u) {
    // 4u = q + r, q an integer, |r| <= 1/2, both exact: adding 1.5 * 2^52 leaves q in the low bits.
    constexpr double rounder = 0x1.8p52;
    const double shifted = 4 * u + rounder;
    const auto q = std::bit_cast<std::uint64_t>(shifted);
    const double x = (4 * u - (shifted - rounder)) * 1.57079632679489661923;

    const double z = x * x;
    const double w = z * z;
    const double sine_tail = 8.33333333332248946124e-03 +
                             z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                             z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    const double sine = x + z * x * (-1.66666666666666324348e-01 + z * sine_tail);

    const double cosine_tail =
        z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
        w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const double half = 0.5 * z;
    const double rest = 1 - half;
    const double cosine = rest + (((1 - rest) - half) + z * cosine_tail);

    // A quarter turn swaps the two and changes signs. Masks instead of conditions keep the loop free of branches.
    const std::uint64_t swap = 0 - (q & 1U);
    const auto sine_bits = std::bit_cast<std::uint64_t>(sine);
    const auto cosine_bits = std::bit_cast<std::uint64_t>(cosine);
    const std::uint64_t exchanged = (sine_bits ^ cosine_bits) & swap;
    return {std::bit_cast<double>(sine_bits ^ exchanged ^ ((q & 2U) << 62U)),
            std::bit_cast<double>(cosine_bits ^ exchanged ^ (((q + 1) & 2U) << 62U))};
}

}  // namespace attnspan::core
