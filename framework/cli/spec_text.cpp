#include "spec_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attnspan/runtime/print.hpp"

namespace attnspan::cli {

std::string type_text(const ParameterSpec& spec) {
    switch (spec.type) {
        case ParameterType::boolean:
            return "boolean";
        case ParameterType::integer:
            return "integer";
        case ParameterType::real:
            return "number";
        case ParameterType::text:
            return "string";
        case ParameterType::choice:
            return fmt::format("{}", fmt::join(spec.choices, " | "));
        case ParameterType::path:
            return "path";
        case ParameterType::integers:
            return "list of integers";
    }
    return {};
}

std::string range_text(const ParameterSpec& spec) {
    std::string out;
    if (std::isfinite(spec.minimum)) {
        out = fmt::format("{} {}", spec.minimum_excluded ? ">" : ">=", spec.minimum);
    }
    if (std::isfinite(spec.maximum)) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", spec.maximum_excluded ? "<" : "<=", spec.maximum);
    }
    return out;
}

std::string default_text(const ParameterSpec& spec) {
    const std::string value = runtime::printed(spec.default_value);
    return spec.is_required ? "required" : value.empty() ? "none" : value;
}

}  // namespace attnspan::cli
