#pragma once

#include "attnspan/parameters.hpp"

namespace attnspan::targets {

/// The key `length` of a target that makes its own tokens.
inline ParameterSpec length_parameter() {
    return parameter::integer("length", "number of queries and of keys").required().at_least(1);
}

}  // namespace attnspan::targets
