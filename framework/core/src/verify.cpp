#include "attnspan/core/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "attnspan/core/arena.hpp"
#include "attnspan/error.hpp"
#include "block_scan.hpp"
#include "compensated_dot.hpp"
#include "parallel.hpp"
#include "row_scan.hpp"

namespace attnspan::core {
namespace {

constexpr Index block_queries = 256;
constexpr std::size_t most_risky = 32;
constexpr Index rows_per_task = 1024;
}  // namespace

RowNorms::RowNorms(Index queries, Index keys)
    : x1_(static_cast<std::size_t>(queries), 0.0), x2_(static_cast<std::size_t>(keys), 0.0) {}

RowNorms::RowNorms(const Logits& logits) : RowNorms(logits.x1.rows, logits.x2.rows) {
    add(logits.x1, logits.x2);
}

void RowNorms::add(ConstMatrixView<double> x1_columns, ConstMatrixView<double> x2_columns) {
    const ArenaParallel threads;
    const auto add = [&](ConstMatrixView<double> columns, double* squares) {
        threads.for_each_piece(columns.rows, rows_per_task, [&](Index begin, Index end) {
            for (Index j = 0; j < columns.cols; ++j) {
                add_squares(columns.column(j) + begin, end - begin, squares + begin);
            }
        });
    };
    add(x1_columns, x1_.data());
    add(x2_columns, x2_.data());
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

/// Room for blocks of rows; one per thread.
struct Verifier::Workspace {
    BlockScan<double> in_double;
    BlockScan<float> in_single;
};

/// How far a computed logit of a row may lie from the exact one, by the rounding of a product in `Unit` precision.
///
/// Any order of summation, with or without fused multiply-add, errs by at most gamma_m |x1|.|x2| (Higham, Accuracy and
/// Stability of Numerical Algorithms, section 3.1); converting both factors and the scale to the precision adds a few
/// more roundings, and accumulating over column blocks at most one for each column. The last term covers underflow.
class Verifier::RoundingBound {
public:
    RoundingBound(const Logits& logits, const RowNorms& norms)
        : norms_(norms),
          x2_largest_(norms.x2_largest()),
          scale_(std::abs(logits.scale)),
          terms_(2.0 * static_cast<double>(logits.x1.cols) + 16),
          one_(1 + norms.x1_largest() + x2_largest_) {}

    [[nodiscard]] double in_double(Index query) const { return of(query, 0x1p-53, 0x1p-1022); }
    [[nodiscard]] double in_single(Index query) const { return of(query, 0x1p-24, 0x1p-126); }
    /// Whether single precision can hold what is to be multiplied, far from overflow.
    [[nodiscard]] bool fits_single() const { return one_ < 1e15 && scale_ < 1e15 && one_ * one_ * scale_ < 1e30; }

private:
    [[nodiscard]] double of(Index query, double unit, double tiny) const {
        return terms_ * scale_ * (unit * norms_.x1(query) * x2_largest_ + tiny * one_);
    }

    const RowNorms& norms_;
    double x2_largest_;
    double scale_;
    double terms_;
    double one_;
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

bool Verifier::near_limit(Index query, const RowMeasures& m, double logit_error, double largest_support) const {
    double largest_weight = 0;
    for (const double w : problem_.log_weights.row_values(query)) {
        largest_weight = std::max(largest_weight, w);
    }
    const double slack = 2 * logit_error + 8 * 0x1p-53 * (largest_support + largest_weight);
    const bool has_ratio = problem_.log_weights.row_nonzeros(query) > 1;
    return (has_ratio && std::abs(m.log_ratio - criterion_.log_ratio) <= slack) ||
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
    const RowMeasures exact = state.limits(support, problem_.log_weights.row_values(query));
    measured.log_ratio = exact.log_ratio;
    measured.log_leakage = exact.log_leakage;
    measured.leakage_key = exact.leakage_key;
    return measured;
}

/// Ratio and leakage of one row from its finished logits over all keys. `row` is scratch afterwards.
RowMeasures Verifier::measure_row(const Logits& logits, const RoundingBound& bound, Index query,
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
    const RowMeasures out = state.limits(support, problem_.log_weights.row_values(query));
    const double error = bound.in_double(query);
    return near_limit(query, out, error, state.largest_support) ? decide_exactly(logits, query, out) : out;
}

std::optional<Refutation> Verifier::refute_rows(const Logits& logits, const RowNorms& norms,
                                                std::span<const Index> queries,
                                                ConstMatrixView<double> products) const {
    require_bounded(logits, norms);
    const RoundingBound bound(logits, norms);
    std::vector<std::optional<Refutation>> found(queries.size());
    for_each_index<std::vector<double>>(products.cols, [&](Index r, std::vector<double>& row) {
        const auto at = static_cast<std::size_t>(r);
        row.resize(static_cast<std::size_t>(products.rows));
        std::transform(products.column(r), products.column(r) + products.rows, row.begin(),
                       [&](double product) { return logits.scale * product; });
        found[at] = judge(queries[at], measure_row(logits, bound, queries[at], row));
    });
    std::optional<Refutation> worst;
    for (const std::optional<Refutation>& one : found) {
        if (one && (!worst || one->log_excess > worst->log_excess)) {
            worst = one;
        }
    }
    return worst;
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

void Verifier::measure_block(const Logits& logits, const RoundingBound& bound, std::span<const Index> queries,
                             bool softmax, Workspace& work, std::span<RowMeasures> out) const {
    work.in_double.measure(problem_, backend_, logits.x1, logits.x2, logits.scale, queries, softmax, out);
    for (std::size_t r = 0; r < queries.size(); ++r) {
        if (!work.in_double.state(r).finite) {
            throw Error(ErrorKind::plugin,
                        fmt::format("back end: a product of finite factors has a logit in row {} that is not finite",
                                    queries[r]));
        }
        const double error = bound.in_double(queries[r]);
        if (near_limit(queries[r], out[r], error, work.in_double.state(r).largest_support)) {
            out[r] = decide_exactly(logits, queries[r], out[r]);
        }
    }
}

void Verifier::screen_block(const Logits& logits, const RoundingBound& bound, std::span<const Index> queries,
                            Workspace& work, std::span<RowMeasures> out) const {
    if (logits.x2_single.data == nullptr || !bound.fits_single()) {
        measure_block(logits, bound, queries, false, work, out);
        return;
    }
    work.in_single.measure(problem_, backend_, logits.x1, logits.x2_single, static_cast<float>(logits.scale), queries,
                           false, out);
    // What single precision cannot decide is measured again, and so is the worst row, for an exact record.
    std::vector<Index> undecided;
    std::vector<std::size_t> places;
    std::size_t worst = 0;
    const auto excess = [&](std::size_t r) { return log_excess(out[r].log_ratio, out[r].log_leakage, criterion_); };
    for (std::size_t r = 0; r < queries.size(); ++r) {
        worst = excess(r) > excess(worst) ? r : worst;
        if (near_limit(queries[r], out[r], bound.in_single(queries[r]), work.in_single.state(r).largest_support)) {
            undecided.push_back(queries[r]);
            places.push_back(r);
        }
    }
    if (excess(worst) > 0 && std::find(places.begin(), places.end(), worst) == places.end()) {
        undecided.push_back(queries[worst]);
        places.push_back(worst);
    }
    std::vector<RowMeasures> decided(undecided.size());
    measure_block(logits, bound, undecided, false, work, decided);
    for (std::size_t t = 0; t < places.size(); ++t) {
        out[places[t]] = decided[t];
    }
}

Measures Verifier::measure(const Logits& logits, std::vector<RowMeasures>* rows) const {
    const RowNorms norms(logits);
    require_bounded(logits, norms);
    const RoundingBound bound(logits, norms);
    std::vector<RowMeasures> all(constrained_.size());
    const auto blocks = static_cast<Index>((constrained_.size() + block_queries - 1) / block_queries);
    for_each_index<Workspace>(blocks, [&](Index b, Workspace& work) {
        const auto first = static_cast<std::size_t>(b * block_queries);
        const std::size_t count = std::min(static_cast<std::size_t>(block_queries), constrained_.size() - first);
        measure_block(logits, bound, std::span(constrained_).subspan(first, count), true, work,
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
    if (all.empty()) {
        out.support_mass_min = 0;
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
    const RoundingBound bound(logits, norms);
    struct Block {
        std::optional<Refutation> worst;
        std::vector<std::pair<double, Index>> risks;  ///< minus excess, row: ascending is riskiest first
    };
    const auto count = static_cast<Index>((constrained_.size() + block_queries - 1) / block_queries);
    std::vector<Block> blocks(static_cast<std::size_t>(count));
    // Blocks behind a refuted one are skipped, blocks before it are not: the least refuted block is the same whichever
    // thread comes first.
    std::atomic<Index> refuted = count;
    for_each_index<Workspace>(count, [&](Index b, Workspace& work) {
        if (b > refuted.load(std::memory_order_relaxed)) {
            return;
        }
        const auto first = static_cast<std::size_t>(b * block_queries);
        const auto queries =
            std::span(constrained_)
                .subspan(first, std::min(static_cast<std::size_t>(block_queries), constrained_.size() - first));
        std::vector<RowMeasures> measures(queries.size());
        screen_block(logits, bound, queries, work, measures);
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
