#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "attnspan/construction.hpp"
#include "attnspan/error.hpp"

namespace attnspan {

/// tau of section 3.1: margin_scale * ln((1 + epsilon_1) / epsilon_2), the encoded logit of a row's smallest support
/// entry.
/// @throws Error(config) when it is not positive, that is when epsilon_2 >= 1 + epsilon_1
inline double encoded_margin(const Tolerances& tolerances, double margin_scale) {
    const double tau = margin_scale * (std::log1p(tolerances.ratio) - std::log(tolerances.leakage));
    if (!(tau > 0) || !std::isfinite(tau)) {
        const auto text = [](double value) {
            std::array<char, 32> digits{};
            return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
        };
        throw Error(ErrorKind::config,
                    "a leakage of " + text(tolerances.leakage) +
                        " leaves no margin; it must be below 1 + ratio = " + text(1 + tolerances.ratio),
                    tolerances.where);
    }
    return tau;
}

/// Whether every key that the row sees is support, so that there is no zero to keep away from.
[[nodiscard]] inline bool is_full_row(const Problem& problem, Index row) {
    return problem.log_weights.row_nonzeros(row) == problem.visible[row].size();
}

/// What a row's encoded logits are its log-weights plus (section 3.1): tau. With `margin_on_full_rows` off, full rows
/// are encoded by their ratios alone, with mean 0, which is the smallest norm that holds them (own).
[[nodiscard]] inline double encoded_offset(const Problem& problem, Index row, double tau, bool margin_on_full_rows) {
    if (margin_on_full_rows || !is_full_row(problem, row)) {
        return tau;
    }
    double sum = 0;
    for (const double w : problem.log_weights.row_values(row)) {
        sum += w;
    }
    return -sum / static_cast<double>(std::max<Index>(problem.log_weights.row_nonzeros(row), 1));
}

}  // namespace attnspan
