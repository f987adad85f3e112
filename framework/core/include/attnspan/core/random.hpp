#pragma once

#include <cstdint>
#include <span>

#include "attnspan/random.hpp"

namespace attnspan::core {

/// The generator of the program: Philox4x32-10. Block b of sequence i under a 64-bit key is the Philox block of counter
/// (b low, b high, i low, i high); words 2b and 2b + 1 are its halves. Uniforms are ((word >> 12) + 1/2) 2^-52; normals
/// 2b and 2b + 1 come from block b by Box-Muller. Bits depend neither on the C library nor on the instruction set. Safe
/// from any number of threads. Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC11).
class PhiloxSource final : public RandomSource {
    void do_bits(std::uint64_t key, std::uint64_t index, Index first, std::span<std::uint64_t> out) const override;
    void do_uniforms(std::uint64_t key, std::uint64_t index, Index first, std::span<double> out) const override;
    void do_normals(std::uint64_t key, std::uint64_t index, Index first, std::span<double> out) const override;
};

/// What a stream is drawn for. Values are part of the results: never renumber.
enum class Purpose : std::uint64_t { target = 1, embedding = 2 };

/// The stream of one use: distinct arguments give independent streams. Valid as long as `source`. A stream that does
/// not depend on a trial, a sample or a dimension passes 0.
[[nodiscard]] RandomStream stream(const RandomSource& source, std::uint64_t seed, Purpose purpose,
                                  std::uint64_t trial = 0, std::uint64_t sample = 0, std::uint64_t dimension = 0);

}  // namespace attnspan::core
