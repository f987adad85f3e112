#include "attnspan/core/random.hpp"

#include <Random123/philox.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "attnspan/core/elementary.hpp"

namespace attnspan::core {
namespace {

using Block = std::array<std::uint32_t, 4>;

Block philox(const Block& counter, std::uint32_t key_low, std::uint32_t key_high) {
    const auto out = r123::Philox4x32()({{counter[0], counter[1], counter[2], counter[3]}}, {{key_low, key_high}});
    return {out[0], out[1], out[2], out[3]};
}

/// Word `position` of sequence `index` by the documentation of PhiloxSource.
std::uint64_t reference_word(std::uint64_t key, std::uint64_t index, std::uint64_t position) {
    const std::uint64_t b = position / 2;
    const Block out = philox({static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32U),
                              static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U)},
                             static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U));
    const std::size_t half = 2 * (position % 2);
    return out[half] | std::uint64_t{out[half + 1]} << 32U;
}

double ulps(double value, long double exact) {
    const double near = static_cast<double>(std::abs(exact));
    const double ulp = std::nextafter(near, std::numeric_limits<double>::infinity()) - near;
    return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) / ulp;
}

// Two-sided normal quantile of probability 1e-6: the false-alarm probability of each check that uses it.
constexpr double quantile = 4.8916;

TEST_CASE("Philox gives the published answers") {
    // kat_vectors of Random123, lines "philox4x32 10".
    CHECK(philox({0, 0, 0, 0}, 0, 0) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({~0U, ~0U, ~0U, ~0U}, ~0U, ~0U) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
          Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    std::array<std::uint64_t, 2> words{};
    RandomStream(PhiloxSource{}, 0).bits(0, words);
    CHECK(words == std::array<std::uint64_t, 2>{0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c});
}

TEST_CASE("batches of words are the blocks of Philox, at every key, index and position") {
    const PhiloxSource source;
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{0x299f31d0a4093822}, ~std::uint64_t{0}}) {
        for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{0x0370734413198a2e}, ~std::uint64_t{0}}) {
            // Around 2^33 the block number carries into its high half.
            for (const Index first : {Index{0}, Index{63}, (Index{1} << 33) - 31, (Index{1} << 62) + 5}) {
                std::vector<std::uint64_t> words(200);
                RandomStream(source, key, index).bits(first, words);
                for (std::size_t i = 0; i < words.size(); ++i) {
                    REQUIRE(words[i] == reference_word(key, index, static_cast<std::uint64_t>(first) + i));
                }
            }
        }
    }
}

TEST_CASE("a sequence is the same whatever the start and the length asked for") {
    const PhiloxSource source;
    const RandomStream random = stream(source, 42, Purpose::target).at(3);
    constexpr std::size_t size = 300;
    std::vector<std::uint64_t> bits(size);
    std::vector<double> uniforms(size);
    std::vector<double> normals(size);
    random.bits(0, bits);
    random.uniforms(0, uniforms);
    random.normals(0, normals);
    for (const std::size_t first : std::array<std::size_t, 7>{0, 1, 2, 63, 64, 65, 127}) {
        for (const std::size_t count : std::array<std::size_t, 9>{0, 1, 2, 7, 8, 63, 64, 65, 130}) {
            std::vector<std::uint64_t> words(count);
            std::vector<double> numbers(count);
            const auto at = static_cast<std::ptrdiff_t>(first);
            random.bits(static_cast<Index>(first), words);
            REQUIRE(std::equal(words.begin(), words.end(), bits.begin() + at));
            random.uniforms(static_cast<Index>(first), numbers);
            REQUIRE(std::equal(numbers.begin(), numbers.end(), uniforms.begin() + at));
            random.normals(static_cast<Index>(first), numbers);
            REQUIRE(std::equal(numbers.begin(), numbers.end(), normals.begin() + at));
        }
    }
}

TEST_CASE("uniforms are the documented function of the words, to the bit, and normals within 7 roundings") {
    const PhiloxSource source;
    const RandomStream random(source, 7, 11);
    constexpr std::size_t size = 10000;
    std::vector<double> uniforms(size);
    std::vector<double> normals(size);
    random.uniforms(0, uniforms);
    random.normals(0, normals);
    const auto uniform = [](std::uint64_t position) {
        return std::ldexp(static_cast<double>(reference_word(7, 11, position) >> 12U) + 0.5, -52);
    };
    const long double two_pi = 8 * std::atan(1.0L);
    for (std::size_t i = 0; i < size; i += 2) {
        REQUIRE(uniforms[i] == uniform(i));
        REQUIRE(uniforms[i + 1] == uniform(i + 1));
        const long double radius = std::sqrt(-2 * std::log(static_cast<long double>(uniforms[i])));
        const long double angle = two_pi * static_cast<long double>(uniforms[i + 1]);
        // Relative error in units of 2^-53: logarithm 2, halved by the root, root 1, sine 4, product 1; and what the
        // reference loses where the sine is near 0.
        const auto close = [](double value, long double exact) {
            return std::abs(static_cast<long double>(value) - exact) < 7 * 0x1p-53L * std::abs(exact) + 1e-18L;
        };
        REQUIRE(close(normals[i], radius * std::cos(angle)));
        REQUIRE(close(normals[i + 1], radius * std::sin(angle)));
    }
}

TEST_CASE("logarithm and sines are within the stated units in the last place") {
    const long double two_pi = 8 * std::atan(1.0L);
    double worst_logarithm = 0;
    double worst_sine = 0;
    const auto try_at = [&](double u) {
        const auto exact_u = static_cast<long double>(u);
        worst_logarithm = std::max(worst_logarithm, ulps(natural_log(u), std::log(exact_u)));
        // Reduced exactly first: near its zeros sin(2 pi u) is only as good as the representation of 2 pi.
        const long double quarter = std::nearbyint(4 * exact_u);
        const long double rest = (exact_u - quarter / 4) * two_pi;
        const std::array<long double, 4> sines = {std::sin(rest), std::cos(rest), -std::sin(rest), -std::cos(rest)};
        const auto turn = static_cast<std::size_t>(quarter);
        worst_sine = std::max(worst_sine, ulps(sine_cosine_of_turns(u).sine, sines[turn % 4]));
        worst_sine = std::max(worst_sine, ulps(sine_cosine_of_turns(u).cosine, sines[(turn + 1) % 4]));
    };
    const PhiloxSource source;
    std::vector<double> uniforms(200000);
    RandomStream(source, 1).uniforms(0, uniforms);
    std::ranges::for_each(uniforms, try_at);
    for (double tiny = 0x1p-53; tiny < 0.1; tiny *= 1.37) {
        for (const double u : {tiny, 1 - tiny, 0.25 - tiny, 0.25 + tiny, 0.5 - tiny, 0.5 + tiny, 0.75 - tiny}) {
            try_at(u);
        }
    }
    CHECK(worst_logarithm < 1);
    CHECK(worst_sine < 2);
    CHECK(natural_log(1.0) == 0);
    CHECK(natural_log(0x1p-53) == doctest::Approx(-53 * std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("normals have the moments and the distribution function of N(0, 1)") {
    const PhiloxSource source;
    constexpr std::size_t size = 1000000;
    std::vector<double> x(size);
    stream(source, 2024, Purpose::embedding).normals(0, x);
    const auto n = static_cast<double>(size);
    // Moment k against E x^k, with the variance E x^2k - (E x^k)^2 of its terms.
    const std::array<double, 4> expected = {0, 1, 0, 3};
    const std::array<double, 4> variance = {1, 2, 15, 96};
    for (std::size_t k = 0; k < 4; ++k) {
        double sum = 0;
        for (const double value : x) {
            sum += std::pow(value, static_cast<double>(k + 1));
        }
        CHECK(std::abs(sum / n - expected[k]) < quantile * std::sqrt(variance[k] / n));
    }
    double neighbours = 0;
    for (std::size_t i = 0; i + 1 < size; ++i) {
        neighbours += x[i] * x[i + 1];
    }
    CHECK(std::abs(neighbours / n) < quantile / std::sqrt(n));

    std::ranges::sort(x);
    double distance = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const double cdf = std::erfc(-x[i] / std::sqrt(2.0)) / 2;
        distance = std::max({distance, cdf - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - cdf});
    }
    // Kolmogorov: P(sqrt(n) distance > t) = 2 exp(-2 t^2), 1e-6 at t = 2.6935.
    CHECK(std::sqrt(n) * distance < 2.6935);
}

TEST_CASE("sequences and streams are uncorrelated") {
    const PhiloxSource source;
    constexpr std::size_t size = 100000;
    const auto correlation = [](const RandomStream& a, const RandomStream& b) {
        std::vector<double> x(size);
        std::vector<double> y(size);
        a.normals(0, x);
        b.normals(0, y);
        double sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
            sum += x[i] * y[i];
        }
        return sum / std::sqrt(static_cast<double>(size));
    };
    const RandomStream base = stream(source, 1, Purpose::embedding);
    CHECK(std::abs(correlation(base.at(0), base.at(1))) < quantile);
    CHECK(std::abs(correlation(base, stream(source, 2, Purpose::embedding))) < quantile);
    CHECK(std::abs(correlation(base, stream(source, 1, Purpose::target))) < quantile);
    CHECK(std::abs(correlation(base, stream(source, 1, Purpose::embedding, 1))) < quantile);
    CHECK(std::abs(correlation(base, stream(source, 1, Purpose::embedding, 0, 1))) < quantile);
    CHECK(std::abs(correlation(base, stream(source, 1, Purpose::embedding, 0, 0, 1))) < quantile);
}

TEST_CASE("every bit of seed, trial, sample and dimension changes the stream") {
    const PhiloxSource source;
    std::set<std::uint64_t> first_words;
    const auto note = [&](std::uint64_t seed, std::uint64_t trial, std::uint64_t sample, std::uint64_t dimension) {
        std::uint64_t word = 0;
        stream(source, seed, Purpose::embedding, trial, sample, dimension).bits(0, {&word, 1});
        first_words.insert(word);
    };
    note(0, 0, 0, 0);
    for (unsigned b = 0; b < 64; ++b) {
        const std::uint64_t bit = std::uint64_t{1} << b;
        note(bit, 0, 0, 0);
        note(0, bit, 0, 0);
        note(0, 0, bit, 0);
        note(0, 0, 0, bit);
    }
    CHECK(first_words.size() == 1 + 4 * 64);
}

TEST_CASE("bounded integers fall evenly") {
    const PhiloxSource source;
    const RandomStream random = stream(source, 5, Purpose::target);
    constexpr Index bound = 10;
    constexpr Index draws = 100000;
    std::array<double, bound> count{};
    for (Index i = 0; i < draws; ++i) {
        const Index value = random.below(bound, i);
        REQUIRE(value >= 0);
        REQUIRE(value < bound);
        count[static_cast<std::size_t>(value)] += 1;
    }
    double chi_square = 0;
    for (const double c : count) {
        chi_square += (c - draws / 10.0) * (c - draws / 10.0) / (draws / 10.0);
    }
    CHECK(chi_square < 45.1);  // upper quantile of chi-square with 9 degrees of freedom, probability below 1e-6
}

}  // namespace
}  // namespace attnspan::core
