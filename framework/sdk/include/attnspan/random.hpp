#pragma once

#include <cstdint>
#include <span>

#include "attnspan/types.hpp"

namespace attnspan {

/// The host's counter-based generator. Every output is a pure function of (key, index, position): no state, safe from
/// any number of threads, the same numbers in whatever order and in whatever pieces they are asked for.
class RandomSource {
public:
    RandomSource() = default;
    RandomSource(const RandomSource&) = delete;
    RandomSource& operator=(const RandomSource&) = delete;
    virtual ~RandomSource() = default;

private:
    friend class RandomStream;
    virtual void do_bits(std::uint64_t key, std::uint64_t index, Index first, std::span<std::uint64_t> out) const = 0;
    virtual void do_uniforms(std::uint64_t key, std::uint64_t index, Index first, std::span<double> out) const = 0;
    virtual void do_normals(std::uint64_t key, std::uint64_t index, Index first, std::span<double> out) const = 0;
};

/// One random sequence for each index, keyed by (seed, purpose, trial, sample, dimension) by the host. A value: copying
/// it copies the place, not a state, and drawing changes nothing. Valid as long as the host that handed it out.
class RandomStream {
public:
    RandomStream(const RandomSource& source, std::uint64_t key, std::uint64_t index = 0)
        : source_(&source), key_(key), index_(index) {}

    /// The sequence number `index` of the same key, for instance one per column or row. Sequences are independent.
    [[nodiscard]] RandomStream at(Index index) const { return {*source_, key_, static_cast<std::uint64_t>(index)}; }

    /// Words first, first + 1, ... of the sequence: uniform 64-bit integers.
    void bits(Index first, std::span<std::uint64_t> out) const { source_->do_bits(key_, index_, first, out); }
    /// Numbers first, first + 1, ... : uniform on the open interval (0, 1), odd multiples of 2^-53 (52 random bits).
    void uniforms(Index first, std::span<double> out) const { source_->do_uniforms(key_, index_, first, out); }
    /// Numbers first, first + 1, ... : independent N(0, 1).
    void normals(Index first, std::span<double> out) const { source_->do_normals(key_, index_, first, out); }

    /// Uniform on {0, ..., bound - 1}, bound >= 1: word `position`, by multiplication (bias below bound / 2^64).
    [[nodiscard]] Index below(Index bound, Index position) const {
        std::uint64_t word = 0;
        bits(position, {&word, 1});
        return reduced(word, bound);
    }
    /// The same from a word that was drawn before.
    [[nodiscard]] static Index reduced(std::uint64_t word, Index bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<Index>((static_cast<Wide>(word) * static_cast<Wide>(bound)) >> 64U);
    }

private:
    const RandomSource* source_;
    std::uint64_t key_;
    std::uint64_t index_;
};

}  // namespace attnspan
