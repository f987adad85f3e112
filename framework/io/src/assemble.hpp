#pragma once

#include <functional>
#include <vector>

#include "attnspan/io/matrix_market.hpp"
#include "attnspan/types.hpp"

namespace attnspan::io::detail {

/// An entry of a matrix, and where it stands in the file it is from.
struct Entry {
    Index row;
    Index col;
    double weight;
    Index place;  ///< a line, or a position in an array
};

/// What to do about an entry that stands at the same row and column as an earlier one. Both throw.
struct DuplicateErrors {
    std::function<void(const Entry& earlier, const Entry& later)> repeated;
    std::function<void(const Entry& later)> overflow;  ///< the sum is not finite
};

/// Sorts the entries, drops zeros and adds duplicates in the order of their places. Counts explicit zeros and
/// duplicates. Rows and columns are in range, weights finite and >= 0.
[[nodiscard]] ReadWeights assemble(std::vector<Entry> entries, Index rows, Index cols, Duplicates duplicates,
                                   const DuplicateErrors& errors);

}  // namespace attnspan::io::detail
