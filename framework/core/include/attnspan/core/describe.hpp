#pragma once

#include <optional>

#include "attnspan/sparse.hpp"

namespace attnspan::core {

/// Facts about a target that hold whatever is done with it.
struct TargetSummary {
    Index rows = 0;
    Index cols = 0;
    Index nonzeros = 0;
    double sum = 0;  ///< compensated, so that it does not depend on the order of entries to double precision
    Index min_row_nonzeros = 0;
    Index max_row_nonzeros = 0;  ///< k
    Index min_col_nonzeros = 0;
    Index max_col_nonzeros = 0;
    double variation = 1;      ///< gamma: max over rows of largest / smallest entry; infinite when that overflows
    double log_variation = 0;  ///< its logarithm, always finite
    Index empty_rows = 0;
    std::optional<Index> first_empty_row{};
};

[[nodiscard]] TargetSummary describe(const SparseMatrix& target);

}  // namespace attnspan::core
