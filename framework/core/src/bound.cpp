#include "attnspan/core/bound.hpp"
#include "attnspan/encoding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnspan::core {
namespace {

/// The logit error that a row tolerates: half the distance from the encoded zeros to the leakage limit, and half the
/// ratio limit where there is a ratio to keep.
double tolerated_error(const Tolerances& tolerances, double tau, Index support) {
    const double for_zeros = (tau + std::log(tolerances.leakage)) / 2;
    return support > 1 ? std::min(for_zeros, std::log1p(tolerances.ratio) / 2) : for_zeros;
}

/// eta - ln(1 + eta) without cancellation.
double excess_over_log(double eta) {
    if (eta > 1e-3) {
        return eta - std::log1p(eta);
    }
    return eta * eta * (1.0 / 2 - eta * (1.0 / 3 - eta * (1.0 / 4 - eta / 5)));
}

}  // namespace

BoundInput bound_input(const Problem& problem, double tau, bool margin_on_full_rows) {
    BoundInput input{.eta = std::numeric_limits<double>::infinity(),
                     .visible_pairs = static_cast<double>(problem.visible.pairs())};
    for (Index i = 0; i < problem.queries(); ++i) {
        const double offset = encoded_offset(problem, i, tau, margin_on_full_rows);
        double norm = 0;  // by hypot, which neither overflows nor underflows
        for (const double w : problem.log_weights.row_values(i)) {
            norm = std::hypot(norm, offset + w);
        }
        if (norm > 0) {
            const bool ratios_alone = !margin_on_full_rows && is_full_row(problem, i);
            const double error = ratios_alone
                                     ? std::log1p(problem.tolerances.ratio) / 2
                                     : tolerated_error(problem.tolerances, tau, problem.log_weights.row_nonzeros(i));
            input.eta = std::min(input.eta, error / norm);
        }
    }
    return input;
}

BoundInput bound_input(Index nonzeros, double log_variation, const Tolerances& tolerances, double tau,
                       double visible_pairs) {
    const double norm = std::sqrt(static_cast<double>(nonzeros)) * (tau + log_variation);
    return {.eta = tolerated_error(tolerances, tau, nonzeros) / norm, .visible_pairs = visible_pairs};
}

std::optional<Index> bound_query_dim(const BoundInput& input, double failure_probability) {
    if (!(input.eta > 0)) {
        return std::nullopt;
    }
    if (std::isinf(input.eta) || input.visible_pairs == 0) {
        return 1;  // no row is constrained
    }
    const double m = std::ceil((std::log(4 / failure_probability) + std::log(input.visible_pairs)) /
                               (excess_over_log(input.eta) / 2));
    constexpr double largest = 9007199254740992;
    return m <= largest ? std::optional(std::max<Index>(1, static_cast<Index>(m))) : std::nullopt;
}

}  // namespace attnspan::core
