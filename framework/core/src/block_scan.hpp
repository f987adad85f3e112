#pragma once

#include <span>
#include <vector>

#include "attnspan/backend.hpp"
#include "attnspan/construction.hpp"
#include "attnspan/core/measures.hpp"
#include "attnspan/matrix.hpp"
#include "logit_tiles.hpp"

namespace attnspan::core {

/// What the logits of one row add up to. Keys come in ascending order, in as many pieces as one likes.
struct RowState {
    double zero_max = minus_infinity;
    Index zero_key = -1;
    double zero_sum = 0;         ///< sum of exp(logit - zero_max) over the zeros seen so far
    double largest_support = 0;  ///< largest absolute value of a support logit, once the row is finished
    bool finite = true;          ///< of the support logits and, where they were summed, the zeros

    /// Takes in the logits tile[0 ..) of keys [keys.begin, keys.end), all visible, support entries masked by -infinity.
    template <class T>
    void add(const T* tile, KeyRange keys, bool with_sum);

    /// Ratio and leakage of the finished row.
    [[nodiscard]] RowMeasures limits(std::span<const double> support, std::span<const double> log_weights);
};

/// Measures blocks of rows from the tiles of their logits. Holds the room it needs; one per thread.
template <class T>
class BlockScan {
public:
    /// The rows `queries` of scale x1 x2^T, x1 rounded to T first. With `softmax` also total variation and support mass
    /// (double precision only). `states` holds what each row added up to, until the next call.
    void measure(const Problem& problem, const Backend& backend, ConstMatrixView<double> x1, ConstMatrixView<T> x2,
                 T scale, std::span<const Index> queries, bool softmax, std::span<RowMeasures> out);

    [[nodiscard]] const RowState& state(std::size_t row) const { return rows_[row]; }

private:
    LogitTiles<T> tiles_;
    std::vector<RowState> rows_;
};

}  // namespace attnspan::core
