#pragma once

#include <cstdint>

namespace attnspan {

/// Counts, dimensions and indices. Signed, so that differences are safe; rows are queries and columns are keys, both
/// from 0.
using Index = std::int64_t;

}  // namespace attnspan
