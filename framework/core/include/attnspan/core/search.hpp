#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnspan/core/verify.hpp"

namespace attnspan::core {

enum class SearchMethod { grid, bisect, fixed };

/// What to try. Source: section 3.5.
struct SearchPlan {
    SearchMethod method = SearchMethod::grid;
    Index start = 1;  ///< of the query dimension; grid and bisect
    Index stop = 1;   ///< always tried, last
    Index step = 1;
    Index query_dim = 1;  ///< fixed only
    Index samples = 1;    ///< Q
    bool resample = false;

    /// How many dimensions grid and bisect choose from (fixed: query_dim alone).
    [[nodiscard]] Index count() const;
    /// The one at a position, 0 <= position < count(); they ascend.
    [[nodiscard]] Index dimension(Index position) const;
};

/// One tested (m, sample).
struct Attempt {
    Index query_dim = 0;
    Index sample = 0;
    std::optional<Refutation> refuted_by;  ///< the first refutation found; its excess is a lower bound on the attempt's
    std::string infeasible;                ///< why the construction has no embedding here; empty otherwise

    [[nodiscard]] bool passed() const { return !refuted_by && infeasible.empty(); }
};

/// The embedding of one (m, sample) and its measures.
struct Solution {
    Index query_dim = 0;
    Index sample = 0;
    Matrix<double> x1;       ///< queries x m, scaled: the logits are logit_scale x1 x2^T
    Matrix<double> x2;       ///< keys x m
    double logit_scale = 1;  ///< 1/sqrt(m) for a head that divides by it, else 1
    Measures measures;
    std::vector<RowMeasures> rows;  ///< one per query
    Facts facts;                    ///< what the construction adds
};

/// How many samples passed at a fixed dimension, with a two-sided 95% interval (Clopper and Pearson) on the
/// probability.
struct PassCount {
    Index passed = 0;
    Index samples = 0;
    double lower = 0;
    double upper = 1;
};

/// What a search found for one problem.
struct SearchOutcome {
    std::optional<Solution> found;        ///< at the least m at which every problem passes: the least passing sample
    std::optional<Solution> best;         ///< nothing found: the attempt with the least excess, if any was feasible
    std::optional<Index> alone;           ///< the least m at which this problem passes, whatever the others do
    std::vector<Attempt> attempts;        ///< ordered by dimension, then sample
    std::optional<PassCount> pass_count;  ///< fixed only
    double embedding_seconds = 0;         ///< of the search's time, what the construction took to make X1 and X2
};

/// Where a search is. Called on the searching thread.
struct SearchProgress {
    Index query_dim = 0;
    Index sample = 0;
    double done = 0;  ///< rough fraction of the work, in [0, 1]
};

/// One problem that a search works on. All by reference, alive during the search.
struct SearchProblem {
    const Problem& problem;
    const PreparedConstruction& construction;
    const Backend& backend;
    const Criterion& criterion;
    /// The stream of a sample; `query_dim` is 0 when one draw serves every dimension.
    std::function<RandomStream(Index sample, Index query_dim)> stream;
    std::function<void(const SearchProgress&)> progress;  ///< may be empty
    /// Solutions are for a head that divides its logits by sqrt(m): X1 and X2 hold m^(1/4) times what they would, and
    /// are judged so.
    bool divided_by_sqrt_dim = false;
};

/// Why constructions with these traits, one for each problem, cannot follow a plan: it goes beyond what any of them
/// has.
struct PlanProblem {
    std::string key;  ///< of the plan: "stop", "start" or "query_dim"
    std::string reason;
};
[[nodiscard]] std::optional<PlanProblem> problem_of(const SearchPlan& plan, std::span<const ConstructionTraits> traits);

/// Finds the least dimension of the plan at which every problem has a sample that passes; each problem chooses its own.
/// A problem whose construction ends before m is embedded at its end, and zero columns are added, which change no
/// logit. Samples of a nested construction are grown column by column, so that an ascending walk costs little more than
/// one embedding at its end; with `resample` (or a construction that is not nested) each (m, sample) is embedded anew.
/// @return one outcome per problem, in their order
/// @throws Error(config) for a plan a construction does not allow, Error(resource) when an embedding does not fit
[[nodiscard]] std::vector<SearchOutcome> search(const SearchPlan& plan, std::span<const SearchProblem> problems);

/// Two-sided Clopper-Pearson interval for `passed` of `samples`, samples >= 1.
[[nodiscard]] PassCount pass_count(Index passed, Index samples, double confidence = 0.95);

}  // namespace attnspan::core
