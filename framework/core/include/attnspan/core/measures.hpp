#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "attnspan/types.hpp"

namespace attnspan::core {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// The measures of one row, in logarithms. Source: section 2.2.
struct RowMeasures {
    double log_ratio = 0;                 ///< spread of e over the support; 0 with one entry
    double log_leakage = minus_infinity;  ///< largest zero logit - smallest support logit; -inf without zeros
    Index leakage_key = -1;               ///< the zero key that leaks most; -1 without zeros
    double total_variation = 0;
    double support_mass = 1;
};

/// The measures over all constrained rows and the rows (and key) where each is attained; the lowest row among equals. A
/// row without support is unconstrained. Without any constrained row every measure is 0 and has no place.
struct Measures {
    double log_ratio = 0;
    double log_leakage = minus_infinity;
    double total_variation_max = 0;
    double total_variation_mean = 0;
    double support_mass_min = 1;
    std::optional<Index> ratio_row{};
    std::optional<Index> leakage_row{};
    std::optional<Index> leakage_key{};
    std::optional<Index> total_variation_row{};
    std::optional<Index> support_mass_row{};
};

/// What a result must keep to. In logarithms, because comparisons are made there.
struct Criterion {
    double log_ratio = 0;                     ///< ln(1 + epsilon_1)
    double log_leakage = 0;                   ///< ln(epsilon_2)
    std::optional<double> total_variation{};  ///< t
};

enum class Condition { ratio, leakage, total_variation };

/// By how much the worse of ratio and leakage exceeds its limit, in logarithms; <= 0 means both are kept. What "best
/// attempt" minimises (section 3.5).
[[nodiscard]] inline double log_excess(double log_ratio, double log_leakage, const Criterion& criterion) {
    const double ratio = log_ratio - criterion.log_ratio;
    const double leakage = log_leakage - criterion.log_leakage;
    return ratio > leakage ? ratio : leakage;
}

[[nodiscard]] inline bool passes(const Measures& m, const Criterion& criterion) {
    return m.log_ratio <= criterion.log_ratio && m.log_leakage <= criterion.log_leakage &&
           (!criterion.total_variation || m.total_variation_max <= *criterion.total_variation);
}

}  // namespace attnspan::core
