#pragma once

#include <string>
#include <string_view>

#include "attnspan/parameters.hpp"

namespace attnspan::runtime {

[[nodiscard]] bool declares(const ParameterSpecs& specs, std::string_view name);

/// Whether the value is of the spec's type.
[[nodiscard]] bool fits_type(const ParameterSpec& spec, const ParameterValue& value);

/// Why `value` is not one that `spec` allows (type, range, choices): "is an integer, not a number"; empty when it is.
/// An integer is no number here: whoever reads a configuration converts first.
[[nodiscard]] std::string value_problem(const ParameterSpec& spec, const ParameterValue& value);

/// A value that the spec allows: for numbers `wanted`, or what is near it inside the range; none for texts and paths,
/// whose meaning only the author knows.
[[nodiscard]] ParameterValue example_value(const ParameterSpec& spec, double wanted);

/// What is wrong with a plugin's declaration, naming the parameter; empty when nothing is. Names must be TOML bare keys
/// (dotted for inner tables), used once, neither a key and a table at the same time nor one of the host's (`plugin`,
/// and `projection` for a construction that uses one); ranges must not be empty, defaults must obey them.
[[nodiscard]] std::string specs_problem(const ParameterSpecs& specs, bool uses_projection);

}  // namespace attnspan::runtime
