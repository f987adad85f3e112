#pragma once

#include <optional>

#include "attnspan/construction.hpp"

namespace attnspan::core {

/// The parts of a problem that bound 3.6 looks at.
struct BoundInput {
    double eta = 0;            ///< least over rows of tolerated logit error / norm of the encoded row
    double visible_pairs = 0;  ///< over how many inner products the union bound runs
};

/// eta and the pairs of an encoded problem with margin tau (see encoded_margin and encoded_offset).
[[nodiscard]] BoundInput bound_input(const Problem& problem, double tau, bool margin_on_full_rows = true);

/// The worst case over all targets with at most `nonzeros` entries per row and variation exp(log_variation).
[[nodiscard]] BoundInput bound_input(Index nonzeros, double log_variation, const Tolerances& tolerances, double tau,
                                     double visible_pairs);

/// The least query dimension m for which bound 3.6 promises success with probability 1 - failure_probability, for
/// Gaussian and Haar projections: m >= ln(4 pairs / p) / (1/2 (eta - ln(1 + eta))), rounded up. Not from the paper.
/// @return nothing when the tolerated error is not positive or m would exceed 2^53
[[nodiscard]] std::optional<Index> bound_query_dim(const BoundInput& input, double failure_probability);

}  // namespace attnspan::core
