#pragma once

#include <string>

#include "attnspan/parameters.hpp"

namespace attnspan::runtime {

/// A value as TOML; empty for none.
[[nodiscard]] std::string printed(const ParameterValue& value);

}  // namespace attnspan::runtime
