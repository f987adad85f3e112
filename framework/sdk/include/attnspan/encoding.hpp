#pragma once

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

}  // namespace attnspan
