#pragma once

#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
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

/// Weights log-uniform in [1, variation]; exactly 1 for variation 1. Uses numbers [0, weights.size()) of the stream.
inline void log_uniform(double variation, const RandomStream& random, std::span<double> weights) {
    random.uniforms(0, weights);
    const double log_variation = std::log(variation);
    for (double& w : weights) {
        w = std::exp(w * log_variation);
    }
}

}  // namespace attnspan::targets
