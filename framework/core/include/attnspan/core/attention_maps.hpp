#pragma once

#include "attnspan/backend.hpp"
#include "attnspan/construction.hpp"
#include "attnspan/core/verify.hpp"
#include "attnspan/matrix.hpp"
#include "attnspan/sparse.hpp"

namespace attnspan::core {

/// Attention matrices reduced to a grid that a person can look at. Cell (r, c) stands for the queries [r Q / rows,
/// (r + 1) Q / rows) and the keys [c K / cols, (c + 1) K / cols), Q and K being how many there are. It holds what is
/// largest among its visible pairs, so that a single entry stays visible at any length, and NaN where it has none.
struct AttentionMaps {
    Index queries = 0;
    Index keys = 0;
    Matrix<float> target;      ///< A with each row divided by its sum; 0 in rows without support
    Matrix<float> attention;   ///< P
    Matrix<float> difference;  ///< P - A, largest in absolute value, with its sign
};

/// The maps of an embedding, at most `cells` x `cells`. `target` is the matrix that `problem` encodes. Logits are
/// computed in single precision where they fit, tile by tile, on all threads of the caller's task arena: the maps are
/// for the eye, right to about 1e-5 of an entry. Memory: the maps and a few MiB per thread.
[[nodiscard]] AttentionMaps attention_maps(const Problem& problem, const SparseMatrix& target, const Logits& logits,
                                           const Backend& backend, Index cells);

}  // namespace attnspan::core
