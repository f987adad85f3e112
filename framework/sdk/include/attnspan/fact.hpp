#pragma once

#include <string>
#include <variant>
#include <vector>

#include "attnspan/types.hpp"

namespace attnspan {

/// Something a plugin wants to stand in the result: a name in the words of the field (snake_case) and a value.
/// Non-finite numbers are written as null with a status.
struct Fact {
    std::string name;
    std::variant<bool, Index, double, std::string> value;
};

using Facts = std::vector<Fact>;

}  // namespace attnspan
