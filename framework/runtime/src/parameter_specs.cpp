#include "attnspan/runtime/parameter_specs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>

namespace attnspan::runtime {
namespace {

/// In the order of the alternatives of ParameterValue.
constexpr const char* value_words[] = {"nothing",  "a boolean", "an integer",
                                       "a number", "a text",    "a list of integers"};

/// Which alternative of ParameterValue holds values of a type.
std::size_t alternative(ParameterType type) {
    switch (type) {
        case ParameterType::boolean:
            return 1;
        case ParameterType::integer:
            return 2;
        case ParameterType::real:
            return 3;
        case ParameterType::integers:
            return 5;
        default:
            return 4;
    }
}

std::string range_problem(const ParameterSpec& spec, double value) {
    if (!std::isfinite(value)) {
        return fmt::format("is {}, must be finite", value);
    }
    const bool high_enough = spec.minimum_excluded ? value > spec.minimum : value >= spec.minimum;
    if (!high_enough) {
        return fmt::format("is {}, must be {} {}", value, spec.minimum_excluded ? "above" : "at least", spec.minimum);
    }
    const bool low_enough = spec.maximum_excluded ? value < spec.maximum : value <= spec.maximum;
    return low_enough
               ? ""
               : fmt::format("is {}, must be {} {}", value, spec.maximum_excluded ? "below" : "at most", spec.maximum);
}

/// Dotted TOML bare keys.
bool is_key(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    return !name.empty() && name.front() != '.' && name.back() != '.' && name.find("..") == std::string_view::npos &&
           std::ranges::all_of(name, [&](char c) { return is_letter(c) || c == '.'; });
}

std::string spec_problem(const ParameterSpec& spec) {
    if (!(spec.minimum <= spec.maximum) ||
        ((spec.minimum_excluded || spec.maximum_excluded) && spec.minimum == spec.maximum)) {
        return fmt::format("has the empty range from {} to {}", spec.minimum, spec.maximum);
    }
    if ((spec.type == ParameterType::choice) == spec.choices.empty()) {
        return spec.choices.empty() ? "is a choice without choices" : "has choices but is no choice";
    }
    if (std::set<std::string>(spec.choices.begin(), spec.choices.end()).size() != spec.choices.size()) {
        return fmt::format("has a choice twice among {}", fmt::join(spec.choices, ", "));
    }
    if (std::holds_alternative<std::monostate>(spec.default_value)) {
        return "";
    }
    if (spec.is_required) {
        return "is required and has a default";
    }
    const std::string problem = value_problem(spec, spec.default_value);
    return problem.empty() ? "" : "has a default that " + problem;
}

}  // namespace

bool fits_type(const ParameterSpec& spec, const ParameterValue& value) {
    return value.index() == alternative(spec.type);
}

ParameterValue example_value(const ParameterSpec& spec, double wanted) {
    // Off the ends, which may be excluded, where the range has room.
    double number = wanted > spec.minimum ? wanted : spec.minimum + 1;
    if (number >= spec.maximum && spec.type == ParameterType::real) {
        number = std::isfinite(spec.minimum) ? spec.minimum + (spec.maximum - spec.minimum) / 2 : spec.maximum - 1;
    } else if (number >= spec.maximum) {
        number = spec.maximum_excluded ? spec.maximum - 1 : spec.maximum;
    }
    switch (spec.type) {
        case ParameterType::boolean:
            return false;
        case ParameterType::integer:
            return static_cast<Index>(number);
        case ParameterType::real:
            return number;
        case ParameterType::choice:
            return spec.choices.front();
        case ParameterType::integers:
            return std::vector<Index>{static_cast<Index>(number)};
        case ParameterType::text:
        case ParameterType::path:
            break;
    }
    return {};
}

std::string value_problem(const ParameterSpec& spec, const ParameterValue& value) {
    if (!fits_type(spec, value)) {
        return fmt::format("is {}, not {}", value_words[value.index()], value_words[alternative(spec.type)]);
    }
    switch (spec.type) {
        case ParameterType::integer:
            return range_problem(spec, static_cast<double>(std::get<Index>(value)));
        case ParameterType::real:
            return range_problem(spec, std::get<double>(value));
        case ParameterType::integers:
            for (const Index element : std::get<std::vector<Index>>(value)) {
                if (std::string problem = range_problem(spec, static_cast<double>(element)); !problem.empty()) {
                    return "has an element that " + problem;
                }
            }
            return "";
        case ParameterType::choice:
            if (const auto& text = std::get<std::string>(value);
                std::ranges::find(spec.choices, text) == spec.choices.end()) {
                return fmt::format("is \"{}\", must be one of {}", text, fmt::join(spec.choices, ", "));
            }
            return "";
        default:
            return "";
    }
}

std::string specs_problem(const ParameterSpecs& specs, bool uses_projection) {
    std::set<std::string> keys;
    // What has been used as a table so far; the host's own keys can be neither.
    std::set<std::string> tables;
    for (const ParameterSpec& spec : specs) {
        if (!is_key(spec.name)) {
            return fmt::format("parameter \"{}\" has no name that TOML takes as a bare key", spec.name);
        }
        const std::string root = spec.name.substr(0, spec.name.find('.'));
        if (root == "plugin" || (uses_projection && root == "projection")) {
            return fmt::format(R"(parameter "{}" takes the key "{}", which is the program's own)", spec.name, root);
        }
        if (!keys.insert(spec.name).second) {
            return fmt::format(R"(parameter "{}" is declared twice)", spec.name);
        }
        for (std::size_t dot = spec.name.find('.'); dot != std::string::npos; dot = spec.name.find('.', dot + 1)) {
            tables.insert(spec.name.substr(0, dot));
        }
        if (const std::string problem = spec_problem(spec); !problem.empty()) {
            return fmt::format("parameter \"{}\" {}", spec.name, problem);
        }
    }
    for (const std::string& table : tables) {
        if (keys.contains(table)) {
            return fmt::format(R"(parameter "{0}" is also the table of "{0}.*")", table);
        }
    }
    return "";
}

bool declares(const ParameterSpecs& specs, std::string_view name) {
    return std::any_of(specs.begin(), specs.end(), [&](const ParameterSpec& spec) { return spec.name == name; });
}

}  // namespace attnspan::runtime
