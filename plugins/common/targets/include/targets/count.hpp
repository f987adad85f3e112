#pragma once

#include <algorithm>

#include "attnspan/types.hpp"

namespace attnspan::targets {

/// A number of entries, >= 0. It stays at `largest` where it would grow beyond, so that sums and products of upper
/// bounds are upper bounds.
class Count {
public:
    static constexpr Index largest = Index{1} << 62;

    explicit constexpr Count(Index value) : value_(std::min(value, largest)) {}
    [[nodiscard]] constexpr Index value() const { return value_; }

    friend constexpr Count operator+(Count a, Count b) { return Count(a.value_ + std::min(b.value_, largest - 1)); }
    friend constexpr Count operator*(Count a, Index b) {
        return b != 0 && a.value_ > largest / b ? Count(largest) : Count(a.value_ * b);
    }
    friend constexpr Count operator*(Count a, Count b) { return a * b.value_; }

private:
    Index value_;
};

/// 1 + 2 + ... + n, n >= 0.
constexpr Count triangle(Index n) {
    return n % 2 == 0 ? Count(n / 2) * (n + 1) : Count(n) * (n / 2 + 1);
}

/// Entries of `length` rows that keep the nearest keys j <= i, at most `width` of them.
constexpr Count causal_band(Index length, Index width) {
    const Index kept = std::min(length, width);
    return triangle(kept) + Count(length - kept) * kept;
}

/// Entries at the distances 0, step, 2 step, ..., reach * step on both sides, among `length` >= 1 tokens; step >= 1.
constexpr Count band(Index length, Index reach, Index step) {
    const Index steps = std::min(reach, (length - 1) / step);
    return steps == 0 ? Count(length) : Count(length) + (Count(length - steps * step) + Count(length - step)) * steps;
}

}  // namespace attnspan::targets
