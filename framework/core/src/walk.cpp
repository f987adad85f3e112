#include "walk.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "attnspan/encoding.hpp"
#include "attnspan/memory.hpp"
#include "parallel.hpp"
#include "single_precision.hpp"

namespace attnspan::core {
namespace {

Solution measured(const Verifier& verifier, Index query_dim, Index sample, Matrix<double> x1, Matrix<double> x2,
                  double logit_scale, const EmbeddingFamily& family) {
    Solution out{.query_dim = query_dim,
                 .sample = sample,
                 .x1 = std::move(x1),
                 .x2 = std::move(x2),
                 .logit_scale = logit_scale,
                 .measures = {},
                 .rows = {},
                 .facts = family.facts(query_dim)};
    out.measures = verifier.measure(
        {.x1 = std::as_const(out.x1).view(), .x2 = std::as_const(out.x2).view(), .scale = logit_scale}, &out.rows);
    return out;
}

/// What a construction gives must be finite; otherwise it is the one to blame.
void require_finite(const RowNorms& norms, Index query_dim, Index sample) {
    if (!std::isfinite(norms.x1_largest()) || !std::isfinite(norms.x2_largest())) {
        throw Error(ErrorKind::plugin, "construction: the embedding at m = " + std::to_string(query_dim) + ", sample " +
                                           std::to_string(sample) +
                                           " holds an entry that is not finite, or too large to square");
    }
}

/// Refuses `count` further columns of X1 (queries rows) and X2 (keys rows, also in single precision) that do not fit.
void require_columns(const Problem& problem, Index query_dim, Index count) {
    const auto queries = static_cast<double>(problem.queries());
    const auto keys = static_cast<double>(problem.keys());
    require_memory(
        (sizeof(double) * (queries + keys) + sizeof(float) * keys) * static_cast<double>(count),
        "an embedding of " + std::to_string(problem.queries() + problem.keys()) + " x " + std::to_string(query_dim));
}

/// A few rows with their unscaled logits over all keys, kept up to date as columns are added.
class Probes {
public:
    Probes(Index keys, std::vector<Index> rows)
        : rows_(std::move(rows)), logits_(keys, static_cast<Index>(rows_.size())) {}

    [[nodiscard]] Index count() const { return static_cast<Index>(rows_.size()); }
    [[nodiscard]] Index row(Index probe) const { return rows_[static_cast<std::size_t>(probe)]; }
    [[nodiscard]] std::span<const Index> rows() const { return rows_; }
    /// Keys x probes.
    [[nodiscard]] ConstMatrixView<double> products() const { return logits_.view(); }

    /// Brings every probe to dimension m; a smaller one than before starts over.
    void advance(const Backend& backend, ConstMatrixView<double> x1, ConstMatrixView<double> x2) {
        update(backend, x1, x2, x1.cols < dim_ ? 0 : dim_, 0);
        dim_ = x1.cols;
    }
    /// Adds rows at the current dimension; beyond `most` the ones added first make room for them.
    void add(const std::vector<Index>& rows, const Backend& backend, ConstMatrixView<double> x1,
             ConstMatrixView<double> x2) {
        std::vector<Index> added;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(added),
                     [&](Index row) { return std::find(rows_.begin(), rows_.end(), row) == rows_.end(); });
        const Index keep = std::min(count(), most - static_cast<Index>(added.size()));
        Matrix<double> logits(logits_.rows(), keep + static_cast<Index>(added.size()));
        std::copy_n(logits_.view().column(count() - keep), static_cast<std::size_t>(keep * logits.rows()),
                    logits.data());
        rows_.erase(rows_.begin(), rows_.end() - keep);
        rows_.insert(rows_.end(), added.begin(), added.end());
        logits_ = std::move(logits);
        update(backend, x1, x2, 0, keep);
    }

private:
    static constexpr Index most = 96;
    static constexpr Index keys_per_task = 2048;

    /// Logits of the probes from `begin` on += the columns [from, m); from = 0 starts at zero.
    void update(const Backend& backend, ConstMatrixView<double> x1, ConstMatrixView<double> x2, Index from,
                Index begin) {
        const Index end = count();
        Matrix<double> gathered(x1.cols - from, end - begin);
        for (Index c = from; c < x1.cols; ++c) {
            for (Index p = begin; p < end; ++p) {
                gathered(c - from, p - begin) = x1(row(p), c);
            }
        }
        const double keep = from == 0 ? 0.0 : 1.0;
        const Index tasks = (x2.rows + keys_per_task - 1) / keys_per_task;
        for_each_index(tasks, [&](Index task) {
            const Index k0 = task * keys_per_task;
            const Index k1 = std::min(k0 + keys_per_task, x2.rows);
            backend.multiply(1.0, Op::none, x2.block(k0, k1, from, x2.cols), Op::none, std::as_const(gathered).view(),
                             keep, logits_.view().block(k0, k1, begin, end));
        });
    }

    std::vector<Index> rows_;
    Matrix<double> logits_;
    Index dim_ = 0;
};

/// The constrained rows that are hardest to meet: the largest encoded norms, where logit errors are largest.
std::vector<Index> hardest_rows(const Problem& problem, const ConstructionTraits& traits, std::span<const Index> rows) {
    constexpr std::size_t count = 16;
    const double tau = traits.encoded_margin.value_or(1.0);
    std::vector<std::pair<double, Index>> by_norm;
    for (const Index i : rows) {
        const double offset = encoded_offset(problem, i, tau, traits.margin_on_full_rows);
        double squares = 0;
        for (const double w : problem.log_weights.row_values(i)) {
            squares += (offset + w) * (offset + w);
        }
        by_norm.emplace_back(-squares, i);
    }
    const std::size_t kept = std::min(count, by_norm.size());
    std::partial_sort(by_norm.begin(), by_norm.begin() + static_cast<std::ptrdiff_t>(kept), by_norm.end());
    std::vector<Index> out;
    for (std::size_t t = 0; t < kept; ++t) {
        out.push_back(by_norm[t].second);
    }
    return out;
}

class NestedWalk final : public Walk {
public:
    NestedWalk(const SearchProblem& what, const Verifier& verifier, Index sample)
        : what_(what),
          verifier_(verifier),
          sample_(sample),
          family_(what.construction.family(what.stream(sample, 0))),
          x1_(what.problem.queries(), 0),
          x2_(what.problem.keys(), 0),
          x2_single_(what.problem.keys(), 0),
          norms_(what.problem.queries(), what.problem.keys()),
          probes_(what.problem.keys(),
                  hardest_rows(what.problem, what.construction.traits(), verifier.constrained_rows())) {}

    Attempt test(Index query_dim) override {
        grow_to(query_dim);
        Attempt attempt{.query_dim = query_dim, .sample = sample_, .refuted_by = std::nullopt, .infeasible = {}};
        const double side = family_->side_scale(query_dim);
        const Logits logits{.x1 = x1_.view().columns(0, query_dim),
                            .x2 = x2_.view().columns(0, query_dim),
                            .scale = side * side,
                            .x2_single = x2_single_.view().columns(0, query_dim)};
        if (query_dim < normed_) {
            norms_ = RowNorms(what_.problem.queries(), what_.problem.keys());
            normed_ = 0;
        }
        norms_.add(x1_.view().columns(normed_, query_dim), x2_.view().columns(normed_, query_dim));
        normed_ = query_dim;
        require_finite(norms_, query_dim, sample_);
        probes_.advance(what_.backend, logits.x1, logits.x2);
        attempt.refuted_by = verifier_.refute_rows(logits, norms_, probes_.rows(), probes_.products());
        if (attempt.refuted_by) {
            return attempt;
        }
        std::vector<Index> riskiest;
        attempt.refuted_by = verifier_.refute(logits, norms_, &riskiest);
        if (attempt.refuted_by) {
            probes_.add(riskiest, what_.backend, logits.x1, logits.x2);
            return attempt;
        }
        // What is handed out is scaled entry by entry, which rounds once more: its own measures have the last word.
        passed_ = scaled_solution(query_dim);
        attempt.refuted_by = verifier_.judge(passed_->measures);
        if (attempt.refuted_by) {
            passed_.reset();
        }
        return attempt;
    }

    std::optional<Solution> solution(Index query_dim) override {
        if (passed_ && passed_->query_dim == query_dim) {
            return std::exchange(passed_, std::nullopt);
        }
        grow_to(query_dim);
        return scaled_solution(query_dim);
    }

private:
    Solution scaled_solution(Index query_dim) {
        const Fold fold(what_, query_dim);
        const double side = family_->side_scale(query_dim) * fold.side;
        const auto scaled = [&](MatrixView<double> from) {
            Matrix<double> to(from.rows, from.cols);
            for_each_index(from.cols, [&](Index j) {
                std::transform(from.column(j), from.column(j) + from.rows, to.view().column(j),
                               [side](double x) { return side * x; });
            });
            return to;
        };
        return measured(verifier_, query_dim, sample_, scaled(x1_.view().columns(0, query_dim)),
                        scaled(x2_.view().columns(0, query_dim)), fold.scale, *family_);
    }

    void grow_to(Index query_dim) {
        const Index have = x1_.cols();
        if (query_dim > have) {
            require_columns(what_.problem, query_dim, query_dim - have);
            x1_.resize_columns(query_dim);
            x2_.resize_columns(query_dim);
            x2_single_.resize_columns(query_dim);
            const MatrixView<double> x2 = x2_.view().columns(have, query_dim);
            embedding([&] { family_->columns(have, x1_.view().columns(have, query_dim), x2); });
            round_to_single(x2, x2_single_.view().columns(have, query_dim));
        }
    }

    const SearchProblem& what_;
    const Verifier& verifier_;
    Index sample_;
    std::unique_ptr<EmbeddingFamily> family_;
    Matrix<double> x1_;
    Matrix<double> x2_;
    Matrix<float> x2_single_;
    RowNorms norms_;  ///< of the first normed_ columns
    Index normed_ = 0;
    Probes probes_;
    std::optional<Solution> passed_;  ///< of the last dimension that passed
};

class FreshWalk final : public Walk {
public:
    FreshWalk(const SearchProblem& what, const Verifier& verifier, Index sample, bool resample)
        : what_(what),
          verifier_(verifier),
          sample_(sample),
          resample_(resample),
          x1_(what.problem.queries(), 0),
          x2_(what.problem.keys(), 0),
          x2_single_(what.problem.keys(), 0),
          hardest_(hardest_rows(what.problem, what.construction.traits(), verifier.constrained_rows())) {}

    Attempt test(Index query_dim) override {
        Attempt attempt{.query_dim = query_dim, .sample = sample_, .refuted_by = std::nullopt, .infeasible = {}};
        attempt.infeasible = embed(query_dim);
        if (attempt.infeasible.empty()) {
            const Logits logits{.x1 = x1_.view(),
                                .x2 = x2_.view(),
                                .scale = Fold(what_, query_dim).scale,
                                .x2_single = x2_single_.view()};
            const RowNorms norms(logits);
            require_finite(norms, query_dim, sample_);
            // Few rows refute most dimensions.
            Probes probes(what_.problem.keys(), hardest_);
            probes.advance(what_.backend, logits.x1, logits.x2);
            attempt.refuted_by = verifier_.refute_rows(logits, norms, probes.rows(), probes.products());
            if (!attempt.refuted_by) {
                round_to_single(logits.x2, x2_single_.view());
                attempt.refuted_by = verifier_.refute(logits, norms);
            }
            if (!attempt.refuted_by && what_.criterion.total_variation) {
                attempt.refuted_by = verifier_.judge(verifier_.measure(logits));
            }
        }
        return attempt;
    }

    std::optional<Solution> solution(Index query_dim) override {
        if (!embed(query_dim).empty()) {
            return std::nullopt;
        }
        embedded_ = 0;  // the matrices move out
        Matrix<double> x1 = std::exchange(x1_, Matrix<double>(x1_.rows(), 0));
        Matrix<double> x2 = std::exchange(x2_, Matrix<double>(x2_.rows(), 0));
        return measured(verifier_, query_dim, sample_, std::move(x1), std::move(x2), Fold(what_, query_dim).scale,
                        *family_);
    }

private:
    /// @return why not, or nothing
    std::string embed(Index query_dim) {
        if (embedded_ == query_dim) {
            return {};
        }
        embedded_ = 0;
        if (resample_ || !family_) {
            family_ = what_.construction.family(what_.stream(sample_, resample_ ? query_dim : 0));
        }
        // The matrices keep what memory they have: most of the next embedding is written over this one.
        if (query_dim > x1_.cols()) {
            require_columns(what_.problem, query_dim, query_dim - x1_.cols());
        }
        x1_.resize_columns(query_dim);
        x2_.resize_columns(query_dim);
        x2_single_.resize_columns(query_dim);
        EmbedOutcome outcome = embedding([&] { return family_->embed(x1_.view(), x2_.view()); });
        if (!outcome.feasible) {
            return outcome.reason.empty() ? "the construction gives no reason" : std::move(outcome.reason);
        }
        if (const Fold fold(what_, query_dim); fold.side != 1) {
            for (const MatrixView<double> x : {x1_.view(), x2_.view()}) {
                for_each_index(x.cols, [&](Index j) {
                    std::transform(x.column(j), x.column(j) + x.rows, x.column(j),
                                   [&](double entry) { return fold.side * entry; });
                });
            }
        }
        embedded_ = query_dim;
        return {};
    }

    const SearchProblem& what_;
    const Verifier& verifier_;
    Index sample_;
    bool resample_;
    std::unique_ptr<EmbeddingFamily> family_;
    Matrix<double> x1_;
    Matrix<double> x2_;
    Matrix<float> x2_single_;
    std::vector<Index> hardest_;
    Index embedded_ = 0;
};

}  // namespace

std::unique_ptr<Walk> nested_walk(const SearchProblem& what, const Verifier& verifier, Index sample) {
    return std::make_unique<NestedWalk>(what, verifier, sample);
}

std::unique_ptr<Walk> fresh_walk(const SearchProblem& what, const Verifier& verifier, Index sample, bool resample) {
    return std::make_unique<FreshWalk>(what, verifier, sample, resample);
}

}  // namespace attnspan::core
