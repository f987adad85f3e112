#include "block_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "row_scan.hpp"

namespace attnspan::core {
namespace {

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
    rows_.assign(queries.size(), {});
    tiles_.visit(problem, backend, x1, x2, scale, queries, [&](Index r, const T* logits, KeyRange keys) {
        rows_[static_cast<std::size_t>(r)].add(logits, keys, softmax);
    });
    std::size_t begin = 0;
    for (std::size_t r = 0; r < queries.size(); ++r) {
        const auto weights = problem.log_weights.row_values(queries[r]);
        const std::span<const double> support = tiles_.support().subspan(begin, weights.size());
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
