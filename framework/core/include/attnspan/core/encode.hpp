#pragma once

#include "attnspan/construction.hpp"
#include "attnspan/error.hpp"
#include "attnspan/sparse.hpp"
#include "attnspan/target.hpp"
#include "attnspan/visible.hpp"

namespace attnspan::core {

/// Applies the rules of section 2.2 to a target in place: entries at invisible pairs and rows without visible entries.
/// `where` is where the target comes from, for messages.
/// @return how many invisible entries were removed
/// @throws Error(data) naming the first offending entry or row and how to allow it
Index apply_rules(SparseMatrix& target, const VisibleRanges& visible, const TargetPolicy& policy,
                  const Location& where = {});

/// The problem that constructions and the verification start from: log-weights relative to each row's smallest entry,
/// computed as a difference of logarithms so that entries from 1e-300 to 1e300 may stand in one row.
/// `target` obeys the rules (apply_rules). Source: section 3.1 without tau.
[[nodiscard]] Problem encode(const SparseMatrix& target, VisibleRanges visible, const Tolerances& tolerances);

}  // namespace attnspan::core
