#pragma once

#include "attnspan/sparse.hpp"

namespace attnspan::graph {

/// Both directions of every edge: of the two weights the larger one, an edge that is not there weighing 0.
[[nodiscard]] SparseMatrix symmetric(const SparseMatrix& directed);

enum class SelfLoops { keep, add, remove };

/// "add" gives each node without a self-loop one of weight 1, as graph convolution does (Kipf, Welling, arXiv
/// 1609.02907); "remove" takes all away.
[[nodiscard]] SparseMatrix with_self_loops(const SparseMatrix& graph, SelfLoops rule);

}  // namespace attnspan::graph
