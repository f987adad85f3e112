#include "block_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "row_scan.hpp"

namespace attnspan::core {
namespace {

constexpr Index tile_keys = 512;

/// Adds what the softmax of the row does: P against A divided by its row sum.
void add_softmax(std::span<const double> support, std::span<const double> log_weights, const RowState& state,
                 RowMeasures& out) {
    const double largest = std::max(state.zero_max, *std::max_element(support.begin(), support.end()));
    const double largest_weight = *std::max_element(log_weights.begin(), log_weights.end());
    double on_support = 0;
    double weights = 0;
    for (std::size_t t = 0; t < support.size(); ++t) {
        on_support += std::exp(support[t] - largest);
        weights += std::exp(log_weights[t] - largest_weight);
    }
    const double on_zeros = state.zero_key < 0 ? 0 : state.zero_sum * std::exp(state.zero_max - largest);
    const double total = on_support + on_zeros;
    double difference = on_zeros / total;
    for (std::size_t t = 0; t < support.size(); ++t) {
        difference +=
            std::abs(std::exp(support[t] - largest) / total - std::exp(log_weights[t] - largest_weight) / weights);
    }
    out.total_variation = difference / 2;
    out.support_mass = on_support / total;
}

/// The part of a row's support that lies in a tile: entries [first, last) of the row.
struct SupportPiece {
    std::size_t first;
    std::size_t last;
};

SupportPiece support_in(std::span<const Index> support, KeyRange tile) {
    const auto first = std::lower_bound(support.begin(), support.end(), tile.begin);
    const auto last = std::lower_bound(first, support.end(), tile.end);
    return {static_cast<std::size_t>(first - support.begin()), static_cast<std::size_t>(last - support.begin())};
}

KeyRange intersect(KeyRange a, KeyRange b) {
    const Index begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}

}  // namespace

template <class T>
void RowState::add(const T* tile, KeyRange keys, bool with_sum) {
    const T largest = maximum(tile, keys.size());
    if (largest > zero_max) {
        zero_sum *= std::exp(zero_max - largest);
        zero_max = largest;
        zero_key = keys.begin + position_of(tile, keys.size(), largest);
    }
    if constexpr (std::is_same_v<T, double>) {
        if (with_sum && zero_max > minus_infinity) {
            zero_sum += sum_exp(tile, keys.size(), zero_max);
        }
    }
}
template void RowState::add(const double*, KeyRange, bool);
template void RowState::add(const float*, KeyRange, bool);

RowMeasures RowState::limits(std::span<const double> support, std::span<const double> log_weights) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double least_error = infinity;
    double largest_error = -infinity;
    double least_logit = infinity;
    for (std::size_t t = 0; t < support.size(); ++t) {
        const double error = support[t] - log_weights[t];
        least_error = std::min(least_error, error);
        largest_error = std::max(largest_error, error);
        least_logit = std::min(least_logit, support[t]);
        largest_support = std::max(largest_support, std::abs(support[t]));
        finite = finite && std::isfinite(support[t]);
    }
    finite = finite && std::isfinite(zero_sum);
    return {.log_ratio = largest_error - least_error, .log_leakage = zero_max - least_logit, .leakage_key = zero_key};
}

template <class T>
void BlockScan<T>::measure(const Problem& problem, const Backend& backend, ConstMatrixView<double> x1,
                           ConstMatrixView<T> x2, T scale, std::span<const Index> queries, bool softmax,
                           std::span<RowMeasures> out) {
    const Index m = x1.cols;
    const auto count = static_cast<Index>(queries.size());
    KeyRange keys{problem.keys(), 0};
    Index entries = 0;
    for (const Index i : queries) {
        keys.begin = std::min(keys.begin, problem.visible[i].begin);
        keys.end = std::max(keys.end, problem.visible[i].end);
        entries += problem.log_weights.row_nonzeros(i);
    }
    // Aligned alike at every call: the last digits of a small product may depend on it.
    if (queries_.rows() != m || queries_.cols() < count) {
        queries_ = Matrix<T>(m, count);
    }
    if (tile_.cols() < count) {
        tile_ = Matrix<T>(tile_keys, count);
    }
    support_.resize(static_cast<std::size_t>(entries));
    rows_.assign(queries.size(), {});
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

    for (Index k0 = keys.begin; k0 < keys.end; k0 += tile_keys) {
        const KeyRange tile_range{k0, std::min(k0 + tile_keys, keys.end)};
        const MatrixView<T> tile = tile_.view().block(0, tile_range.size(), 0, count);
        backend.multiply(scale, Op::none, x2.row_block(tile_range.begin, tile_range.end), Op::none, gathered, T(0),
                         tile);
        double* support = support_.data();
        for (Index r = 0; r < count; ++r) {
            const Index i = queries[static_cast<std::size_t>(r)];
            const KeyRange seen = intersect(problem.visible[i], tile_range);
            const auto support_keys = problem.log_weights.row_columns(i);
            const SupportPiece piece = support_in(support_keys, tile_range);
            T* logits = tile.column(r);
            for (std::size_t t = piece.first; t < piece.last; ++t) {
                T& logit = logits[support_keys[t] - tile_range.begin];
                support[t] = logit;
                logit = -std::numeric_limits<T>::infinity();
            }
            rows_[static_cast<std::size_t>(r)].add(logits + (seen.begin - tile_range.begin), seen, softmax);
            support += support_keys.size();
        }
    }

    std::size_t begin = 0;
    for (std::size_t r = 0; r < queries.size(); ++r) {
        const auto weights = problem.log_weights.row_values(queries[r]);
        const std::span<const double> support = std::span(support_).subspan(begin, weights.size());
        begin += weights.size();
        out[r] = rows_[r].limits(support, weights);
        if (softmax) {
            add_softmax(support, weights, rows_[r], out[r]);
        }
    }
}

template class BlockScan<double>;
template class BlockScan<float>;

}  // namespace attnspan::core
