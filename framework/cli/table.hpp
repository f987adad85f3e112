#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "attnspan/core/describe.hpp"
#include "attnspan/core/measures.hpp"
#include "attnspan/fact.hpp"

namespace attnspan::cli {

/// Lines of aligned cells for people; the first row is the heading when `heading` is set.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows, bool heading);

/// A number as a person reads it: six significant digits.
[[nodiscard]] std::string text(double value);

/// The limits that a result is held to, where there are any.
struct Limits {
    std::optional<double> ratio;
    std::optional<double> leakage;
    std::optional<double> total_variation;
};

void print_measures(std::ostream& out, const core::Measures& measures, const Limits& limits);
void print_target(std::ostream& out, const core::TargetSummary& target);
void print_facts(std::ostream& out, const Facts& facts);

}  // namespace attnspan::cli
