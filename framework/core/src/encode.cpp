#include "attnspan/core/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attnspan/error.hpp"

namespace attnspan::core {

Index apply_rules(SparseMatrix& target, const VisibleRanges& visible, const TargetPolicy& policy,
                  const Location& where) {
    SparseMatrix kept;
    kept.cols = target.cols;
    for (Index i = 0; i < target.rows; ++i) {
        const KeyRange range = visible[i];
        for (std::size_t t = 0; t < target.row_columns(i).size(); ++t) {
            const Index j = target.row_columns(i)[t];
            const double weight = target.row_values(i)[t];
            if (range.contains(j)) {
                kept.push(j, weight);
            } else if (!policy.drop_invisible) {
                throw Error(
                    ErrorKind::data,
                    fmt::format("target: entry ({}, {}) = {} is at an invisible pair; the mode lets query {} see keys "
                                "[{}, {}). Choose a mode that shows it, or set invisible = \"drop\" where the "
                                "target offers it",
                                i, j, weight, i, range.begin, range.end),
                    where);
            }
        }
        kept.end_row();
        if (kept.row_nonzeros(i) == 0 && !policy.allow_empty_rows) {
            throw Error(
                ErrorKind::data,
                fmt::format("target: row {} has no visible entry > 0, and a softmax row cannot be all zero. Give it an "
                            "entry, or set empty_rows = \"allow\" where the target offers it",
                            i),
                where);
        }
    }
    const Index dropped = target.nonzeros() - kept.nonzeros();
    target = std::move(kept);
    return dropped;
}

Problem encode(const SparseMatrix& target, VisibleRanges visible, const Tolerances& tolerances) {
    Problem problem{.log_weights = target, .visible = std::move(visible), .tolerances = tolerances};
    SparseMatrix& b = problem.log_weights;
    for (Index i = 0; i < b.rows; ++i) {
        const auto begin = b.value.begin() + b.row_begin[static_cast<std::size_t>(i)];
        const auto end = begin + b.row_nonzeros(i);
        double least = std::numeric_limits<double>::infinity();
        for (auto w = begin; w != end; ++w) {
            *w = std::log(*w);
            least = std::min(least, *w);
        }
        for (auto w = begin; w != end; ++w) {
            *w -= least;
        }
    }
    return problem;
}

}  // namespace attnspan::core
