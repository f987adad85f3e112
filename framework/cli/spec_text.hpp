#pragma once

#include <string>

#include "attnspan/parameters.hpp"

namespace attnspan::cli {

/// "integer", or the choices of a choice with | between.
[[nodiscard]] std::string type_text(const ParameterSpec& spec);
/// ">= 1, <= 9"; empty without bounds.
[[nodiscard]] std::string range_text(const ParameterSpec& spec);
/// "required", "none", or the default as TOML.
[[nodiscard]] std::string default_text(const ParameterSpec& spec);

}  // namespace attnspan::cli
