#pragma once

#include <string>

#include "attnspan/parameters.hpp"

namespace attnspan::runtime {

/// A TOML basic string. What is not UTF-8, which TOML cannot hold, is replaced.
[[nodiscard]] std::string quoted(const std::string& text);

/// A value as TOML; empty for none.
[[nodiscard]] std::string printed(const ParameterValue& value);

}  // namespace attnspan::runtime
