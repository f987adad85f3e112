#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "attnspan/backend.hpp"
#include "attnspan/construction.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::core {

/// Blocks of rows of logits, made tile by tile. Holds the room it needs; one per thread.
template <class T>
class LogitTiles {
public:
    static constexpr Index tile_keys = 512;

    /// The rows `queries` of scale x1 x2^T, x1 rounded to T first. Calls visit(r, logits, keys) for every row r of the
    /// block and, in ascending order, every run of keys that it sees: logits[0 .. keys.size()) with the support entries
    /// masked by -infinity; what visit writes there is its own affair. These entries' logits stand in support() after.
    template <class Visit>
    void visit(const Problem& problem, const Backend& backend, ConstMatrixView<double> x1, ConstMatrixView<T> x2,
               T scale, std::span<const Index> queries, const Visit& visit);

    /// Logits at the block's support entries, row after row, until the next call.
    [[nodiscard]] std::span<const double> support() const { return support_; }

private:
    /// Rows of x1, rounded, as columns.
    MatrixView<T> gather(ConstMatrixView<double> x1, std::span<const Index> queries);

    Matrix<T> queries_;            // the block's rows of x1, m x block
    Matrix<T> tile_;               // logits, keys x block: a query's logits lie side by side
    std::vector<double> support_;  // logits at the block's support entries, row after row
};

template <class T>
MatrixView<T> LogitTiles<T>::gather(ConstMatrixView<double> x1, std::span<const Index> queries) {
    const Index m = x1.cols;
    const auto count = static_cast<Index>(queries.size());
    // Aligned alike at every call: the last digits of a small product may depend on it.
    if (queries_.rows() != m || queries_.cols() < count) {
        queries_ = Matrix<T>(m, count);
    }
    const MatrixView<T> gathered = queries_.view().columns(0, count);
    // A cache line of each query at a time.
    constexpr Index strip = 64 / sizeof(T);
    for (Index c0 = 0; c0 < m; c0 += strip) {
        const Index c1 = std::min(c0 + strip, m);
        for (Index r = 0; r < count; ++r) {
            const double* from = &x1(queries[static_cast<std::size_t>(r)], 0);
            for (Index c = c0; c < c1; ++c) {
                gathered(c, r) = static_cast<T>(from[c * x1.ld]);
            }
        }
    }
    return gathered;
}

template <class T>
template <class Visit>
void LogitTiles<T>::visit(const Problem& problem, const Backend& backend, ConstMatrixView<double> x1,
                          ConstMatrixView<T> x2, T scale, std::span<const Index> queries, const Visit& visit) {
    const auto count = static_cast<Index>(queries.size());
    KeyRange keys{problem.keys(), 0};
    Index entries = 0;
    for (const Index i : queries) {
        keys.begin = std::min(keys.begin, problem.visible[i].begin);
        keys.end = std::max(keys.end, problem.visible[i].end);
        entries += problem.log_weights.row_nonzeros(i);
    }
    if (tile_.cols() < count) {
        tile_ = Matrix<T>(tile_keys, count);
    }
    support_.resize(static_cast<std::size_t>(entries));
    const MatrixView<T> gathered = gather(x1, queries);

    for (Index k0 = keys.begin; k0 < keys.end; k0 += tile_keys) {
        const KeyRange tile_range{k0, std::min(k0 + tile_keys, keys.end)};
        const MatrixView<T> tile = tile_.view().block(0, tile_range.size(), 0, count);
        backend.multiply(scale, Op::none, x2.row_block(tile_range.begin, tile_range.end), Op::none, gathered, T(0),
                         tile);
        double* support = support_.data();
        for (Index r = 0; r < count; ++r) {
            const Index i = queries[static_cast<std::size_t>(r)];
            const KeyRange& visible = problem.visible[i];
            const Index begin = std::max(visible.begin, tile_range.begin);
            const KeyRange seen{begin, std::max(begin, std::min(visible.end, tile_range.end))};
            const auto support_keys = problem.log_weights.row_columns(i);
            const auto first = std::lower_bound(support_keys.begin(), support_keys.end(), tile_range.begin);
            const auto last = std::lower_bound(first, support_keys.end(), tile_range.end);
            T* logits = tile.column(r);
            for (auto key = first; key != last; ++key) {
                T& logit = logits[*key - tile_range.begin];
                support[key - support_keys.begin()] = logit;
                logit = -std::numeric_limits<T>::infinity();
            }
            visit(r, logits + (seen.begin - tile_range.begin), seen);
            support += support_keys.size();
        }
    }
}

}  // namespace attnspan::core
