#include "attnspan/core/verify.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "attnspan/error.hpp"
#include "compensated_dot.hpp"
#include "row_scan.hpp"

namespace attnspan::core {
namespace {

constexpr Index block_queries = 128;
constexpr Index tile_keys = 1024;
constexpr std::size_t most_risky = 32;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What the tiles of one row add up to. Keys come in ascending order.
struct RowState {
    double zero_max = minus_infinity;
    Index zero_key = -1;
    double zero_sum = 0;  ///< sum of exp(logit - zero_max) over the zeros seen so far

    /// Takes in the logits tile[0 ..) of keys [keys.begin, keys.end), all visible, support entries masked by -infinity.
    void add(const double* tile, KeyRange keys, bool with_sum) {
        const double largest = maximum(tile, keys.size());
        if (largest > zero_max) {
            zero_sum *= std::exp(zero_max - largest);
            zero_max = largest;
            zero_key = keys.begin + position_of(tile, keys.size(), largest);
        }
        if (with_sum && zero_max > minus_infinity) {
            zero_sum += sum_exp(tile, keys.size(), zero_max);
        }
    }
};

/// Ratio and leakage of a row from its support logits and its largest zero.
RowMeasures limits_of(std::span<const double> support, std::span<const double> log_weights, const RowState& state) {
    double least_error = infinity;
    double largest_error = -infinity;
    double least_logit = infinity;
    for (std::size_t t = 0; t < support.size(); ++t) {
        const double error = support[t] - log_weights[t];
        least_error = std::min(least_error, error);
        largest_error = std::max(largest_error, error);
        least_logit = std::min(least_logit, support[t]);
    }
    return {.log_ratio = largest_error - least_error,
            .log_leakage = state.zero_max - least_logit,
            .leakage_key = state.zero_key};
}

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

RowNorms::RowNorms(Index queries, Index keys)
    : x1_(static_cast<std::size_t>(queries), 0.0), x2_(static_cast<std::size_t>(keys), 0.0) {}

RowNorms::RowNorms(const Logits& logits) : RowNorms(logits.x1.rows, logits.x2.rows) {
    add(logits.x1, logits.x2);
}

void RowNorms::add(ConstMatrixView<double> x1_columns, ConstMatrixView<double> x2_columns) {
    for (Index j = 0; j < x1_columns.cols; ++j) {
        add_squares(x1_columns.column(j), x1_columns.rows, x1_.data());
        add_squares(x2_columns.column(j), x2_columns.rows, x2_.data());
    }
}

double RowNorms::largest(const std::vector<double>& squares) {
    double most = 0;
    for (const double s : squares) {
        if (!(s <= most)) {  // NaN comes through
            most = s;
        }
        if (std::isnan(most)) {
            break;
        }
    }
    return std::sqrt(most);
}

/// Room for one block of rows; one per thread.
struct Verifier::Workspace {
    std::vector<double> queries;  ///< the block's rows of x1, m x block
    std::vector<double> tile;     ///< logits, keys x block: a query's logits lie side by side
    std::vector<double> support;  ///< logits at the block's support entries, row after row
    std::vector<RowState> rows;
};

Verifier::Verifier(const Problem& problem, const Backend& backend, const Criterion& criterion)
    : problem_(problem), backend_(backend), criterion_(criterion) {
    for (Index i = 0; i < problem.queries(); ++i) {
        if (problem.log_weights.row_nonzeros(i) > 0) {
            constrained_.push_back(i);
        }
    }
}

void Verifier::require_bounded(const Logits& logits, const RowNorms& norms) {
    // By Cauchy and Schwarz no logit is larger than this.
    const double largest = std::abs(logits.scale) * norms.x1_largest() * norms.x2_largest();
    if (!std::isfinite(largest)) {
        throw Error(
            ErrorKind::data,
            fmt::format("logits: they are not finite (largest row norms {:.3g} on the query side and {:.3g} on the key "
                        "side, scale {:.3g}); every entry must be finite and the products below 1e308",
                        norms.x1_largest(), norms.x2_largest(), logits.scale));
    }
}

bool Verifier::near_limit(const Logits& logits, const RowNorms& norms, Index query, const RowMeasures& m,
                          double largest_support) const {
    // Any order of summation, with or without fused multiply-add, errs by at most gamma_m |x1|.|x2| (Higham, Accuracy
    // and Stability of Numerical Algorithms, section 3.1); accumulating over column blocks adds at most one rounding a
    // column.
    constexpr double unit = 0x1p-53;
    const double terms = 2.0 * static_cast<double>(logits.x1.cols) + 16;
    const double logit_error = terms * unit * std::abs(logits.scale) * norms.x1(query) * norms.x2_largest();
    double largest_weight = 0;
    for (const double w : problem_.log_weights.row_values(query)) {
        largest_weight = std::max(largest_weight, w);
    }
    const double slack = 2 * logit_error + 8 * unit * (std::abs(largest_support) + largest_weight);
    return std::abs(m.log_ratio - criterion_.log_ratio) <= slack ||
           std::abs(m.log_leakage - criterion_.log_leakage) <= slack;
}

RowMeasures Verifier::decide_exactly(const Logits& logits, Index query, RowMeasures measured) const {
    const KeyRange visible = problem_.visible[query];
    std::vector<CompensatedDot> dots(static_cast<std::size_t>(visible.size()));
    for (Index c = 0; c < logits.x1.cols; ++c) {
        const double a = logits.x1(query, c);
        const double* b = logits.x2.column(c) + visible.begin;
        for (CompensatedDot& dot : dots) {
            dot.add(a, *b++);
        }
    }
    std::vector<double> row(dots.size());
    std::transform(dots.begin(), dots.end(), row.begin(),
                   [&](const CompensatedDot& dot) { return logits.scale * dot.value(); });
    const auto keys = problem_.log_weights.row_columns(query);
    std::vector<double> support(keys.size());
    for (std::size_t t = 0; t < keys.size(); ++t) {
        double& logit = row[static_cast<std::size_t>(keys[t] - visible.begin)];
        support[t] = logit;
        logit = minus_infinity;
    }
    RowState state;
    state.add(row.data(), visible, false);
    const RowMeasures exact = limits_of(support, problem_.log_weights.row_values(query), state);
    measured.log_ratio = exact.log_ratio;
    measured.log_leakage = exact.log_leakage;
    measured.leakage_key = exact.leakage_key;
    return measured;
}

RowMeasures Verifier::measure_row(const Logits& logits, const RowNorms& norms, Index query,
                                  std::span<double> row) const {
    const KeyRange visible = problem_.visible[query];
    const auto keys = problem_.log_weights.row_columns(query);
    std::vector<double> support(keys.size());
    for (std::size_t t = 0; t < keys.size(); ++t) {
        double& logit = row[static_cast<std::size_t>(keys[t])];
        support[t] = logit;
        logit = minus_infinity;
    }
    RowState state;
    state.add(row.data() + visible.begin, visible, false);
    const RowMeasures out = limits_of(support, problem_.log_weights.row_values(query), state);
    const double largest = *std::max_element(support.begin(), support.end());
    return near_limit(logits, norms, query, out, largest) ? decide_exactly(logits, query, out) : out;
}

std::optional<Refutation> Verifier::judge(Index query, const RowMeasures& m) const {
    const double excess = log_excess(m.log_ratio, m.log_leakage, criterion_);
    if (excess <= 0) {
        return std::nullopt;
    }
    if (m.log_ratio - criterion_.log_ratio == excess) {
        return Refutation{.condition = Condition::ratio, .row = query, .key = std::nullopt, .log_excess = excess};
    }
    return Refutation{.condition = Condition::leakage, .row = query, .key = m.leakage_key, .log_excess = excess};
}

std::optional<Refutation> Verifier::judge(const Measures& m) const {
    const double excess = log_excess(m.log_ratio, m.log_leakage, criterion_);
    if (excess > 0) {
        const bool by_ratio = m.log_ratio - criterion_.log_ratio == excess;
        return Refutation{.condition = by_ratio ? Condition::ratio : Condition::leakage,
                          .row = (by_ratio ? m.ratio_row : m.leakage_row).value_or(0),
                          .key = by_ratio ? std::nullopt : m.leakage_key,
                          .log_excess = excess};
    }
    if (criterion_.total_variation && m.total_variation_max > *criterion_.total_variation) {
        return Refutation{.condition = Condition::total_variation,
                          .row = m.total_variation_row.value_or(0),
                          .key = std::nullopt,
                          .log_excess = m.total_variation_max - *criterion_.total_variation};
    }
    return std::nullopt;
}

void Verifier::measure_block(const Logits& logits, const RowNorms& norms, std::span<const Index> queries, Depth depth,
                             Workspace& work, std::span<RowMeasures> out) const {
    const Index m = logits.x1.cols;
    const auto count = static_cast<Index>(queries.size());
    KeyRange keys{problem_.keys(), 0};
    Index entries = 0;
    for (const Index i : queries) {
        keys.begin = std::min(keys.begin, problem_.visible[i].begin);
        keys.end = std::max(keys.end, problem_.visible[i].end);
        entries += problem_.log_weights.row_nonzeros(i);
    }
    work.queries.resize(static_cast<std::size_t>(m * count));
    work.tile.resize(static_cast<std::size_t>(tile_keys * count));
    work.support.resize(static_cast<std::size_t>(entries));
    work.rows.assign(queries.size(), {});
    const MatrixView<double> gathered{work.queries.data(), m, count, m};
    for (Index c = 0; c < m; ++c) {
        for (Index r = 0; r < count; ++r) {
            gathered(c, r) = logits.x1(queries[static_cast<std::size_t>(r)], c);
        }
    }

    for (Index k0 = keys.begin; k0 < keys.end; k0 += tile_keys) {
        const KeyRange tile_range{k0, std::min(k0 + tile_keys, keys.end)};
        const MatrixView<double> tile{work.tile.data(), tile_range.size(), count, tile_range.size()};
        backend_.multiply(logits.scale, Op::none, logits.x2.row_block(tile_range.begin, tile_range.end), Op::none,
                          gathered, 0.0, tile);
        double* support = work.support.data();
        for (Index r = 0; r < count; ++r) {
            const Index i = queries[static_cast<std::size_t>(r)];
            const KeyRange seen = intersect(problem_.visible[i], tile_range);
            const auto support_keys = problem_.log_weights.row_columns(i);
            const SupportPiece piece = support_in(support_keys, tile_range);
            double* logit = tile.column(r) - tile_range.begin;
            for (std::size_t t = piece.first; t < piece.last; ++t) {
                support[t] = logit[support_keys[t]];
                logit[support_keys[t]] = minus_infinity;
            }
            work.rows[static_cast<std::size_t>(r)].add(logit + seen.begin, seen, depth == Depth::softmax);
            support += support_keys.size();
        }
    }

    std::size_t begin = 0;
    for (std::size_t r = 0; r < queries.size(); ++r) {
        const auto weights = problem_.log_weights.row_values(queries[r]);
        const std::span<const double> support = std::span(work.support).subspan(begin, weights.size());
        begin += weights.size();
        out[r] = limits_of(support, weights, work.rows[r]);
        if (depth == Depth::softmax) {
            add_softmax(support, weights, work.rows[r], out[r]);
        }
        if (near_limit(logits, norms, queries[r], out[r], *std::max_element(support.begin(), support.end()))) {
            out[r] = decide_exactly(logits, queries[r], out[r]);
        }
    }
}

Measures Verifier::measure(const Logits& logits, std::vector<RowMeasures>* rows) const {
    const RowNorms norms(logits);
    require_bounded(logits, norms);
    std::vector<RowMeasures> all(constrained_.size());
    tbb::enumerable_thread_specific<Workspace> workspaces;
    const auto blocks = static_cast<Index>((constrained_.size() + block_queries - 1) / block_queries);
    tbb::parallel_for(Index{0}, blocks, [&](Index b) {
        const auto first = static_cast<std::size_t>(b * block_queries);
        const std::size_t count = std::min(static_cast<std::size_t>(block_queries), constrained_.size() - first);
        measure_block(logits, norms, std::span(constrained_).subspan(first, count), Depth::softmax, workspaces.local(),
                      std::span(all).subspan(first, count));
    });

    Measures out;
    double total_variation = 0;
    for (std::size_t t = 0; t < all.size(); ++t) {
        const RowMeasures& m = all[t];
        const Index i = constrained_[t];
        if (!out.ratio_row || m.log_ratio > out.log_ratio) {
            out.log_ratio = m.log_ratio;
            out.ratio_row = i;
        }
        if (m.leakage_key >= 0 && (!out.leakage_row || m.log_leakage > out.log_leakage)) {
            out.log_leakage = m.log_leakage;
            out.leakage_row = i;
            out.leakage_key = m.leakage_key;
        }
        if (!out.total_variation_row || m.total_variation > out.total_variation_max) {
            out.total_variation_max = m.total_variation;
            out.total_variation_row = i;
        }
        if (!out.support_mass_row || m.support_mass < out.support_mass_min) {
            out.support_mass_min = m.support_mass;
            out.support_mass_row = i;
        }
        total_variation += m.total_variation;
    }
    out.total_variation_mean = all.empty() ? 0 : total_variation / static_cast<double>(all.size());
    if (rows != nullptr) {
        rows->assign(static_cast<std::size_t>(problem_.queries()), {});
        for (std::size_t t = 0; t < all.size(); ++t) {
            (*rows)[static_cast<std::size_t>(constrained_[t])] = all[t];
        }
    }
    return out;
}

std::optional<Refutation> Verifier::refute(const Logits& logits, const RowNorms& norms,
                                           std::vector<Index>* riskiest) const {
    require_bounded(logits, norms);
    struct Block {
        std::optional<Refutation> worst;
        std::vector<std::pair<double, Index>> risks;  ///< minus excess, row: ascending is riskiest first
    };
    const auto count = static_cast<Index>((constrained_.size() + block_queries - 1) / block_queries);
    std::vector<Block> blocks(static_cast<std::size_t>(count));
    tbb::enumerable_thread_specific<Workspace> workspaces;
    // Blocks behind a refuted one are skipped, blocks before it are not: the least refuted block is the same whichever
    // thread comes first.
    std::atomic<Index> refuted = count;
    tbb::parallel_for(Index{0}, count, [&](Index b) {
        if (b > refuted.load(std::memory_order_relaxed)) {
            return;
        }
        const auto first = static_cast<std::size_t>(b * block_queries);
        const auto queries =
            std::span(constrained_)
                .subspan(first, std::min(static_cast<std::size_t>(block_queries), constrained_.size() - first));
        std::vector<RowMeasures> measures(queries.size());
        measure_block(logits, norms, queries, Depth::limits, workspaces.local(), measures);
        Block& block = blocks[static_cast<std::size_t>(b)];
        for (std::size_t r = 0; r < queries.size(); ++r) {
            const std::optional<Refutation> one = judge(queries[r], measures[r]);
            if (one && (!block.worst || one->log_excess > block.worst->log_excess)) {
                block.worst = one;
            }
            block.risks.emplace_back(-log_excess(measures[r].log_ratio, measures[r].log_leakage, criterion_),
                                     queries[r]);
        }
        const std::size_t kept = std::min(most_risky, block.risks.size());
        std::partial_sort(block.risks.begin(), block.risks.begin() + static_cast<std::ptrdiff_t>(kept),
                          block.risks.end());
        block.risks.resize(kept);
        Index before = refuted.load(std::memory_order_relaxed);
        while (block.worst && b < before && !refuted.compare_exchange_weak(before, b, std::memory_order_relaxed)) {
        }
    });
    const Index least = refuted.load();
    if (riskiest != nullptr) {
        std::vector<std::pair<double, Index>> all;
        for (Index b = 0; b < std::min(least + 1, count); ++b) {
            const auto& risks = blocks[static_cast<std::size_t>(b)].risks;
            all.insert(all.end(), risks.begin(), risks.end());
        }
        std::sort(all.begin(), all.end());
        all.resize(std::min(most_risky, all.size()));
        riskiest->clear();
        std::transform(all.begin(), all.end(), std::back_inserter(*riskiest),
                       [](const auto& risk) { return risk.second; });
    }
    return least < count ? blocks[static_cast<std::size_t>(least)].worst : std::nullopt;
}

}  // namespace attnspan::core
