#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "attnspan/random.hpp"
#include "attnspan/types.hpp"

namespace attnspan::targets {

/// A uniform random permutation of 0 .. size - 1 (Fisher and Yates). Uses words [0, size) of the stream.
inline std::vector<Index> permutation(Index size, const RandomStream& random) {
    std::vector<Index> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), Index{0});
    for (Index i = size - 1; i > 0; --i) {
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1, i))]);
    }
    return order;
}

/// A uniform random subset of `count` of the numbers 0 .. size - 1, all of them where there are no more (Floyd;
/// Bentley, Programming Pearls, Comm. ACM 30 (1987) 754). Uses words [first, first + count) of the stream.
inline std::set<Index> subset(Index count, Index size, const RandomStream& random, Index first) {
    std::set<Index> chosen;
    for (Index top = std::max<Index>(size - count, 0); top < size; ++top) {
        if (!chosen.insert(random.below(top + 1, first++)).second) {
            chosen.insert(top);
        }
    }
    return chosen;
}

}  // namespace attnspan::targets
