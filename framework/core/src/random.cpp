#include "attnspan/core/random.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "attnspan/core/elementary.hpp"
#include "processor.hpp"

namespace attnspan::core {
namespace {

/// The two words of one block.
std::array<std::uint64_t, 2> block_words(std::uint64_t key, std::uint64_t index, std::uint64_t block) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
    const r123::Philox4x32::ctr_type out = r123::Philox4x32()(
        r123::Philox4x32::ctr_type{{low(block), high(block), low(index), high(index)}}, {{low(key), high(key)}});
    return {out[0] | std::uint64_t{out[1]} << 32U, out[2] | std::uint64_t{out[3]} << 32U};
}

constexpr std::size_t batch_blocks = 32;
constexpr std::size_t batch_words = 2 * batch_blocks;
using Words = std::array<std::uint64_t, batch_words>;
using Numbers = std::array<double, batch_words>;

/// Words of the blocks first_block, first_block + 1, ...: even ones in the first half, odd ones in the second.
[[gnu::always_inline]] inline void batch_bits(std::uint64_t key, std::uint64_t index, std::uint64_t first_block,
                                              Words& words) {
    std::array<std::array<std::uint32_t, batch_blocks>, 4> lanes;
    for (std::size_t i = 0; i < batch_blocks; ++i) {
        lanes[0][i] = static_cast<std::uint32_t>(first_block + i);
        lanes[1][i] = static_cast<std::uint32_t>((first_block + i) >> 32U);
    }
    for (std::size_t i = 0; i < batch_blocks; ++i) {
        std::uint32_t c0 = lanes[0][i];
        std::uint32_t c1 = lanes[1][i];
        auto c2 = static_cast<std::uint32_t>(index);
        auto c3 = static_cast<std::uint32_t>(index >> 32U);
        auto k0 = static_cast<std::uint32_t>(key);
        auto k1 = static_cast<std::uint32_t>(key >> 32U);
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0;
            const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2;
            c0 = static_cast<std::uint32_t>(p1 >> 32U) ^ c1 ^ k0;
            c1 = static_cast<std::uint32_t>(p1);
            c2 = static_cast<std::uint32_t>(p0 >> 32U) ^ c3 ^ k1;
            c3 = static_cast<std::uint32_t>(p0);
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        lanes[0][i] = c0;
        lanes[1][i] = c1;
        lanes[2][i] = c2;
        lanes[3][i] = c3;
    }
    for (std::size_t i = 0; i < batch_blocks; ++i) {
        words[i] = lanes[0][i] | std::uint64_t{lanes[1][i]} << 32U;
        words[batch_blocks + i] = lanes[2][i] | std::uint64_t{lanes[3][i]} << 32U;
    }
}

/// ((word >> 12) + 1/2) 2^-52, exactly: the 52 bits become the mantissa of a number in [1, 2).
inline double to_uniform(std::uint64_t word) {
    return std::bit_cast<double>((word >> 12U) | 0x3ff0000000000000) - (1 - 0x1p-53);
}

enum class Kind { bits, uniforms, normals };

// One function for all kinds, compiled for several instruction sets.
struct Batch {
    [[gnu::always_inline]] static void run(Kind kind, std::uint64_t key, std::uint64_t index, std::uint64_t first_block,
                                           Words* words_out, Numbers* numbers_out) {
        Words& words = *words_out;
        Numbers& numbers = *numbers_out;
        Words halves;
        batch_bits(key, index, first_block, halves);
        switch (kind) {
            case Kind::bits:
                for (std::size_t i = 0; i < batch_blocks; ++i) {
                    words[2 * i] = halves[i];
                    words[2 * i + 1] = halves[batch_blocks + i];
                }
                break;
            case Kind::uniforms:
                for (std::size_t i = 0; i < batch_blocks; ++i) {
                    numbers[2 * i] = to_uniform(halves[i]);
                    numbers[2 * i + 1] = to_uniform(halves[batch_blocks + i]);
                }
                break;
            case Kind::normals:
                for (std::size_t i = 0; i < batch_blocks; ++i) {
                    const double radius = std::sqrt(-2 * natural_log(to_uniform(halves[i])));
                    const SineCosine angle = sine_cosine_of_turns(to_uniform(halves[batch_blocks + i]));
                    numbers[2 * i] = radius * angle.cosine;
                    numbers[2 * i + 1] = radius * angle.sine;
                }
                break;
        }
    }
};

/// Covers the positions first, first + 1, ... of `out` with batches that begin at even positions.
template <class T>
void fill(Kind kind, std::uint64_t key, std::uint64_t index, Index first, std::span<T> out) {
    Words words;
    Numbers numbers;
    auto position = static_cast<std::uint64_t>(first);
    while (!out.empty()) {
        run_on_this_processor<Batch>(kind, key, index, position / 2, &words, &numbers);
        const std::size_t skip = position % 2;
        const std::size_t count = std::min(out.size(), batch_words - skip);
        if constexpr (std::is_same_v<T, double>) {
            std::copy_n(numbers.data() + skip, count, out.data());
        } else {
            std::copy_n(words.data() + skip, count, out.data());
        }
        out = out.subspan(count);
        position += count;
    }
}

}  // namespace

void PhiloxSource::do_bits(std::uint64_t key, std::uint64_t index, Index first, std::span<std::uint64_t> out) const {
    // Single words are common (RandomStream::below); a whole batch for each would be wasteful.
    if (out.size() < 8) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::uint64_t position = static_cast<std::uint64_t>(first) + i;
            out[i] = block_words(key, index, position / 2)[position % 2];
        }
        return;
    }
    fill(Kind::bits, key, index, first, out);
}

void PhiloxSource::do_uniforms(std::uint64_t key, std::uint64_t index, Index first, std::span<double> out) const {
    fill(Kind::uniforms, key, index, first, out);
}

void PhiloxSource::do_normals(std::uint64_t key, std::uint64_t index, Index first, std::span<double> out) const {
    fill(Kind::normals, key, index, first, out);
}

RandomStream stream(const RandomSource& source, std::uint64_t seed, Purpose purpose, std::uint64_t trial,
                    std::uint64_t sample, std::uint64_t dimension) {
    // Two chained blocks, so that every bit of the five numbers reaches the key.
    const std::uint64_t halfway = block_words(seed, trial, static_cast<std::uint64_t>(purpose))[0];
    return {source, block_words(halfway, dimension, sample)[0]};
}

}  // namespace attnspan::core
