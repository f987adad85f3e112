#include "attnspan/core/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "attnspan/error.hpp"
#include "walk.hpp"

namespace attnspan::core {
namespace {

/// The search for one problem. Walks through samples one after the other; each only looks below the best dimension
/// found so far, so that the answer is the least m and, at that m, the least sample.
class Searcher {
public:
    Searcher(const SearchPlan& plan, const SearchProblem& what)
        : plan_(plan),
          what_(what),
          verifier_(what.problem, what.backend, what.criterion),
          largest_(what.construction.traits().largest_query_dim.value_or(std::numeric_limits<Index>::max())),
          nested_(what.construction.traits().nested && !plan.resample) {}

    /// The least position of the plan, from `first` on, at which a sample passes; plan.count() when none does.
    Index least_from(Index first) {
        winner_.reset();
        Index limit = plan_.count();
        Index passed = 0;
        const bool fixed = plan_.method == SearchMethod::fixed;
        for (Index sample = 0; sample < plan_.samples && first < limit; ++sample) {
            auto walk = make_walk(sample);
            const Index least = least_passing(*walk, first, limit, sample);
            out_.embedding_seconds += walk->embedding_seconds();
            if (least == limit) {
                continue;
            }
            ++passed;
            if (!fixed) {
                limit = least;
            }
            if (!winner_ || !fixed) {
                winner_ = std::move(walk);
                won_ = {.position = least, .sample = sample};
            }
        }
        if (fixed) {
            out_.pass_count = pass_count(passed, plan_.samples);
        }
        const Index answer = winner_ ? won_.position : plan_.count();
        if (!out_.alone && winner_) {
            out_.alone = embedded_dimension(answer);
        }
        return answer;
    }

    /// After least_from found one at which all problems pass.
    SearchOutcome succeed() {
        out_.found = won_solution();
        return finish();
    }
    /// After some problem has none. What passes here, at a dimension where another does not, is the best there is.
    SearchOutcome fail() {
        out_.best = winner_ ? won_solution() : best_attempt();
        return finish();
    }

private:
    [[nodiscard]] std::unique_ptr<Walk> make_walk(Index sample) const {
        return nested_ ? nested_walk(what_, verifier_, sample) : fresh_walk(what_, verifier_, sample, plan_.resample);
    }

    SearchOutcome finish() {
        std::sort(out_.attempts.begin(), out_.attempts.end(), [](const Attempt& a, const Attempt& b) {
            return std::pair(a.query_dim, a.sample) < std::pair(b.query_dim, b.sample);
        });
        return std::move(out_);
    }

    /// Where this problem is embedded for a position of the plan: beyond the largest dimension that it has, zeros fill
    /// the columns, which change no logit.
    [[nodiscard]] Index embedded_dimension(Index position) const {
        return std::min(plan_.dimension(position), largest_);
    }

    /// The same logits at a larger dimension.
    [[nodiscard]] Solution padded(Solution out, Index query_dim) const {
        const Fold fold(what_, query_dim);
        const double factor = fold.side / Fold(what_, out.query_dim).side;
        for (Matrix<double>* x : {&out.x1, &out.x2}) {
            Matrix<double> wide(x->rows(), query_dim, 0.0);
            std::transform(x->data(), x->data() + x->rows() * x->cols(), wide.data(),
                           [factor](double entry) { return factor * entry; });
            *x = std::move(wide);
        }
        out.query_dim = query_dim;
        out.logit_scale = fold.scale;
        out.measures = verifier_.measure(
            {.x1 = std::as_const(out.x1).view(), .x2 = std::as_const(out.x2).view(), .scale = out.logit_scale},
            &out.rows);
        return out;
    }

    Solution won_solution() {
        const Index query_dim = embedded_dimension(won_.position);
        std::optional<Solution> won = winner_->solution(query_dim);
        if (!won || verifier_.judge(won->measures)) {
            throw Error(ErrorKind::plugin,
                        fmt::format("construction: the embedding at m = {}, sample {} passed and then did not; equal "
                                    "samples must give equal bytes",
                                    query_dim, won_.sample));
        }
        const Index common = plan_.dimension(won_.position);
        return query_dim < common ? padded(std::move(*won), common) : std::move(*won);
    }

    bool passes(Walk& walk, Index position, Index sample) {
        const Index query_dim = embedded_dimension(position);
        const auto [known, is_new] = tested_.try_emplace({query_dim, sample}, false);
        if (!is_new) {
            return known->second;
        }
        if (what_.progress) {
            const double within = static_cast<double>(position) / static_cast<double>(plan_.count());
            what_.progress({.query_dim = query_dim,
                            .sample = sample,
                            .done = (static_cast<double>(sample) + within) / static_cast<double>(plan_.samples)});
        }
        out_.attempts.push_back(walk.test(query_dim));
        return known->second = out_.attempts.back().passed();
    }

    /// The least position in [first, limit) whose dimension passes, or `limit`.
    Index least_passing(Walk& walk, Index first, Index limit, Index sample) {
        if (plan_.method != SearchMethod::bisect) {
            Index position = first;
            while (position < limit && !passes(walk, position, sample)) {
                ++position;
            }
            return position;
        }
        // Bracket by growing strides, then halve: everything below `low` counts as failing, `high` passes or is the
        // limit.
        Index low = first;
        Index high = limit;
        for (Index stride = 1; low < limit; stride *= 2) {
            const Index next = std::min(low + stride, limit) - 1;
            if (passes(walk, next, sample)) {
                high = next;
                break;
            }
            low = next + 1;
        }
        while (low < high) {
            const Index middle = low + (high - low) / 2;
            if (passes(walk, middle, sample)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return high;
    }

    /// Measures the attempts in the order of what is known to refute them, as long as one could still be the best.
    std::optional<Solution> best_attempt() {
        const auto at_least = [](const Attempt* a) {
            return a->refuted_by->condition == Condition::total_variation ? minus_infinity : a->refuted_by->log_excess;
        };
        std::vector<const Attempt*> candidates;
        for (const Attempt& a : out_.attempts) {
            if (a.refuted_by) {
                candidates.push_back(&a);
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(),
                         [&](const Attempt* a, const Attempt* b) { return at_least(a) < at_least(b); });
        std::optional<Solution> best;
        double least = std::numeric_limits<double>::infinity();
        std::unique_ptr<Walk> walk;
        Index walk_sample = -1;
        for (const Attempt* a : candidates) {
            if (at_least(a) >= least) {
                break;
            }
            if (walk_sample != a->sample) {
                walk.reset();
                walk = make_walk(a->sample);
                walk_sample = a->sample;
            }
            std::optional<Solution> one = walk->solution(a->query_dim);
            if (!one) {
                continue;
            }
            const double excess = log_excess(one->measures.log_ratio, one->measures.log_leakage, what_.criterion);
            if (excess < least) {
                least = excess;
                best = std::move(one);
            }
        }
        return best;
    }

    const SearchPlan& plan_;
    const SearchProblem& what_;
    Verifier verifier_;
    Index largest_;
    bool nested_;
    struct {
        Index position = 0;
        Index sample = 0;
    } won_;
    std::map<std::pair<Index, Index>, bool> tested_;  ///< (dimension, sample): passed
    std::unique_ptr<Walk> winner_;                    ///< of what least_from found last
    SearchOutcome out_;
};

}  // namespace

Index SearchPlan::count() const {
    // Whole steps before stop, and stop itself.
    return method == SearchMethod::fixed ? 1 : (stop - start) / step + ((stop - start) % step == 0 ? 1 : 2);
}

Index SearchPlan::dimension(Index position) const {
    if (method == SearchMethod::fixed) {
        return query_dim;
    }
    return position + 1 == count() ? stop : start + position * step;
}

std::optional<PlanProblem> problem_of(const SearchPlan& plan, std::span<const ConstructionTraits> traits) {
    const bool fixed = plan.method == SearchMethod::fixed;
    const Index last = fixed ? plan.query_dim : plan.stop;
    Index largest = traits.empty() ? last : 1;
    for (const ConstructionTraits& t : traits) {
        largest = std::max(largest, t.largest_query_dim.value_or(last));
    }
    if (last > largest) {
        return PlanProblem{fixed ? "query_dim" : "stop",
                           fmt::format("{} is beyond {}, the largest query dimension that this construction has for "
                                       "the target",
                                       last, largest)};
    }
    if (!fixed && plan.start > plan.stop) {
        return PlanProblem{"start",
                           fmt::format("{} lies beyond stop = {}; no dimension is left to try", plan.start, plan.stop)};
    }
    return std::nullopt;
}

std::vector<SearchOutcome> search(const SearchPlan& plan, std::span<const SearchProblem> problems) {
    std::vector<ConstructionTraits> traits;
    for (const SearchProblem& what : problems) {
        traits.push_back(what.construction.traits());
    }
    if (const auto problem = problem_of(plan, traits)) {
        throw Error(ErrorKind::config, fmt::format("search.{}: {}", problem->key, problem->reason));
    }
    std::vector<std::unique_ptr<Searcher>> searchers;
    std::vector<Index> positions;
    for (const SearchProblem& what : problems) {
        searchers.push_back(std::make_unique<Searcher>(plan, what));
        positions.push_back(searchers.back()->least_from(0));
    }
    // What passes at some m need not pass at a larger one: whoever is behind looks again from where the last one is.
    Index last = positions.empty() ? 0 : *std::max_element(positions.begin(), positions.end());
    for (std::size_t t = 0; t < searchers.size() && last < plan.count();) {
        if (positions[t] < last) {
            positions[t] = searchers[t]->least_from(last);
        }
        const bool moved = positions[t] > last;
        last = positions[t];
        t = moved ? 0 : t + 1;
    }
    std::vector<SearchOutcome> out;
    out.reserve(searchers.size());
    for (const auto& searcher : searchers) {
        out.push_back(last < plan.count() ? searcher->succeed() : searcher->fail());
    }
    return out;
}

PassCount pass_count(Index passed, Index samples, double confidence) {
    using boost::math::binomial_distribution;
    const auto n = static_cast<double>(samples);
    const auto k = static_cast<double>(passed);
    const double tail = (1 - confidence) / 2;
    return {.passed = passed,
            .samples = samples,
            .lower = binomial_distribution<double>::find_lower_bound_on_p(n, k, tail),
            .upper = binomial_distribution<double>::find_upper_bound_on_p(n, k, tail)};
}

}  // namespace attnspan::core
