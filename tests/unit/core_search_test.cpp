#include "attnspan/core/search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "attnspan/core/random.hpp"
#include "core_support.hpp"

using namespace core_test;
using core::SearchMethod;
using core::SearchPlan;

namespace {

/// Columns of X1 and X2 are Gaussian, X1 = B X2 with B = 3 I: the random projection of a permutation, without a plugin.
class GaussianFamily final : public EmbeddingFamily {
public:
    GaussianFamily(Index n, RandomStream random) : n_(n), random_(random) {}

private:
    [[nodiscard]] EmbedOutcome do_embed(MatrixView<double> x1, MatrixView<double> x2) override {
        do_columns(0, x1, x2);
        const double side = do_side_scale(x1.cols);
        for (Index c = 0; c < x1.cols; ++c) {
            for (Index i = 0; i < n_; ++i) {
                x1(i, c) *= side;
                x2(i, c) *= side;
            }
        }
        return {};
    }
    void do_columns(Index begin, MatrixView<double> x1, MatrixView<double> x2) override {
        for (Index c = 0; c < x1.cols; ++c) {
            random_.at(begin + c).normals(0, {x2.column(c), static_cast<std::size_t>(n_)});
            for (Index i = 0; i < n_; ++i) {
                x1(i, c) = 3 * x2(i, c);
            }
        }
    }
    [[nodiscard]] double do_side_scale(Index m) const override { return 1 / std::sqrt(static_cast<double>(m)); }
    [[nodiscard]] Facts do_facts(Index m) const override { return {{"asked_for", m}}; }

    Index n_;
    RandomStream random_;
};

class GaussianConstruction final : public PreparedConstruction {
public:
    GaussianConstruction(Index n, bool nested) : n_(n), nested_(nested) {}

private:
    [[nodiscard]] ConstructionTraits do_traits() const override {
        return {.nested = nested_, .largest_query_dim = 10 * n_, .default_stop = 4 * n_, .trivial_query_dim = n_};
    }
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> do_family(const RandomStream& random) const override {
        return std::make_unique<GaussianFamily>(n_, random);
    }
    Index n_;
    bool nested_;
};

/// Feasible from `from` on, and then exact: logits 3 I. Ends at `largest`, if it is given.
class ThresholdConstruction final : public PreparedConstruction {
public:
    ThresholdConstruction(Index n, Index from, std::optional<Index> largest = {})
        : n_(n), from_(from), largest_(largest) {}

private:
    class Family final : public EmbeddingFamily {
    public:
        Family(Index from) : from_(from) {}

    private:
        [[nodiscard]] EmbedOutcome do_embed(MatrixView<double> x1, MatrixView<double> x2) override {
            if (x1.cols < from_) {
                return {.feasible = false, .reason = "too small"};
            }
            for (Index c = 0; c < x1.cols; ++c) {
                for (Index i = 0; i < x1.rows; ++i) {
                    x1(i, c) = i == c ? 3 : 0;
                    x2(i, c) = i == c ? 1 : 0;
                }
            }
            return {};
        }
        Index from_;
    };
    [[nodiscard]] ConstructionTraits do_traits() const override {
        return {.nested = false, .largest_query_dim = largest_, .default_stop = largest_.value_or(2 * n_)};
    }
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> do_family(const RandomStream&) const override {
        return std::make_unique<Family>(from_);
    }
    Index n_;
    Index from_;
    std::optional<Index> largest_;
};

SparseMatrix identity(Index n) {
    SparseMatrix a;
    a.cols = n;
    for (Index i = 0; i < n; ++i) {
        a.push(i, 1.0);
        a.end_row();
    }
    return a;
}

struct Fixture {
    explicit Fixture(Index size = 40) : n(size) {}

    Index n;
    NaiveBackend backend;
    core::Criterion limits = criterion(0.5, 0.3);
    Problem problem = core::encode(identity(n), bidirectional(n, n), {.ratio = 0.5, .leakage = 0.3});
    core::PhiloxSource source;

    [[nodiscard]] core::SearchProblem of(const Problem& what, const PreparedConstruction& construction,
                                         std::uint64_t seed = 1) const {
        return {.problem = what,
                .construction = construction,
                .backend = backend,
                .criterion = limits,
                .stream =
                    [this, seed](Index sample, Index m) {
                        return core::stream(source, seed, core::Purpose::embedding, 0,
                                            static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(m));
                    },
                .progress = {}};
    }

    core::SearchOutcome search(const SearchPlan& plan, const PreparedConstruction& construction,
                               std::uint64_t seed = 1) {
        const core::SearchProblem one = of(problem, construction, seed);
        return std::move(core::search(plan, {&one, 1}).front());
    }

    /// Whether (m, sample) passes, from the whole embedding.
    bool passes(const PreparedConstruction& construction, Index m, Index sample, bool resample,
                std::uint64_t seed = 1) {
        auto family = construction.family(core::stream(source, seed, core::Purpose::embedding, 0,
                                                       static_cast<std::uint64_t>(sample),
                                                       static_cast<std::uint64_t>(resample ? m : 0)));
        Matrix<double> x1(n, m);
        Matrix<double> x2(n, m);
        REQUIRE(family->embed(x1.view(), x2.view()).feasible);
        const core::Verifier verifier(problem, backend, limits);
        return core::passes(verifier.measure({.x1 = x1.view(), .x2 = x2.view()}), limits);
    }
};

SearchPlan grid(Index start, Index stop, Index step, Index samples) {
    return {.method = SearchMethod::grid, .start = start, .stop = stop, .step = step, .samples = samples};
}

std::vector<Index> dimensions(const SearchPlan& plan) {
    std::vector<Index> out;
    for (Index position = 0; position < plan.count(); ++position) {
        out.push_back(plan.dimension(position));
    }
    return out;
}

}  // namespace

TEST_CASE("a plan ends with stop whatever the step") {
    CHECK(dimensions(grid(4, 10, 3, 1)) == std::vector<Index>{4, 7, 10});
    CHECK(dimensions(grid(4, 11, 3, 1)) == std::vector<Index>{4, 7, 10, 11});
    CHECK(dimensions(grid(4, 4, 3, 1)) == std::vector<Index>{4});
    CHECK(dimensions(grid(1, 3, Index{1} << 62, 1)) == std::vector<Index>{1, 3});
}

TEST_CASE("the grid's answer is the least dimension, and there the least sample, that passes on its own") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        for (const bool nested : {true, false}) {
            for (const bool resample : {false, true}) {
                CAPTURE(seed);
                CAPTURE(nested);
                CAPTURE(resample);
                Fixture f;
                const GaussianConstruction construction(f.n, nested);
                SearchPlan plan = grid(5, 160, 5, 3);
                plan.resample = resample;
                const core::SearchOutcome got = f.search(plan, construction, seed);
                std::optional<std::pair<Index, Index>> expected;
                for (const Index m : dimensions(plan)) {
                    for (Index s = 0; s < plan.samples && !expected; ++s) {
                        if (f.passes(construction, m, s, resample, seed)) {
                            expected = {m, s};
                        }
                    }
                }
                REQUIRE(got.found.has_value() == expected.has_value());
                REQUIRE(expected);
                CHECK(got.found->query_dim == expected->first);
                CHECK(got.found->sample == expected->second);
                CHECK(core::passes(got.found->measures, f.limits));
                CHECK(std::get<Index>(got.found->facts.at(0).value) == expected->first);
                // Every smaller dimension was tried with every sample, and each record is true.
                std::set<std::pair<Index, Index>> tried;
                for (const core::Attempt& a : got.attempts) {
                    tried.insert({a.query_dim, a.sample});
                    CHECK(a.passed() == f.passes(construction, a.query_dim, a.sample, resample, seed));
                }
                for (const Index m : dimensions(plan)) {
                    for (Index s = 0; s < plan.samples && m < expected->first; ++s) {
                        CHECK(tried.contains({m, s}));
                    }
                }
            }
        }
    }
}

TEST_CASE("the embedding that is handed out is the one that was verified") {
    Fixture f;
    const GaussianConstruction construction(f.n, true);
    const core::SearchOutcome got = f.search(grid(5, 160, 5, 2), construction);
    REQUIRE(got.found);
    const core::Verifier verifier(f.problem, f.backend, f.limits);
    const core::Measures again =
        verifier.measure({.x1 = std::as_const(got.found->x1).view(), .x2 = std::as_const(got.found->x2).view()});
    CHECK(again.log_leakage == got.found->measures.log_leakage);
    CHECK(got.found->x1.cols() == got.found->query_dim);
}

TEST_CASE("bisect finds a passing dimension whose lower neighbour on the grid was tried and fails") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Fixture f;
        const GaussianConstruction construction(f.n, true);
        SearchPlan plan = grid(3, 160, 3, 1);
        plan.method = SearchMethod::bisect;
        const core::SearchOutcome got = f.search(plan, construction, seed);
        REQUIRE(got.found);
        const auto dims = dimensions(plan);
        const auto at = std::find(dims.begin(), dims.end(), got.found->query_dim);
        REQUIRE(at != dims.end());
        CHECK(f.passes(construction, *at, 0, false, seed));
        if (at != dims.begin()) {
            const auto below = std::find_if(got.attempts.begin(), got.attempts.end(),
                                            [&](const core::Attempt& a) { return a.query_dim == *(at - 1); });
            REQUIRE(below != got.attempts.end());
            CHECK(!below->passed());
        }
        CHECK(got.attempts.size() <= 14);  // 54 dimensions: 6 to bracket, 5 to halve, and a little
    }
}

TEST_CASE("bisect finds the threshold of a monotone construction, wherever it lies") {
    for (Index from = 1; from <= 41; ++from) {
        Fixture f(20);
        const ThresholdConstruction construction(f.n, from);
        SearchPlan plan = grid(20, 40, 1, 1);
        plan.method = SearchMethod::bisect;
        const core::SearchOutcome got = f.search(plan, construction);
        CHECK(got.found.has_value() == (from <= 40));
        if (got.found) {
            CHECK(got.found->query_dim == std::max<Index>(20, from));
        }
    }
}

TEST_CASE("fixed tries one dimension with every sample and counts") {
    Fixture f;
    const GaussianConstruction construction(f.n, true);
    SearchPlan plan{.method = SearchMethod::fixed, .query_dim = 60, .samples = 20};
    const core::SearchOutcome got = f.search(plan, construction);
    Index expected = 0;
    for (Index s = 0; s < plan.samples; ++s) {
        expected += f.passes(construction, 60, s, false);
    }
    REQUIRE(got.pass_count);
    CHECK(got.pass_count->passed == expected);
    CHECK(got.pass_count->samples == 20);
    CHECK(got.attempts.size() == 20);
    CHECK(got.found.has_value() == (expected > 0));
    CHECK(expected > 0);
    CHECK(expected < 20);
}

TEST_CASE("nothing found: the best attempt is the one with the least excess of all") {
    Fixture f;
    f.limits = criterion(0.5, 1e-3);  // beyond reach: the exact logits leak exp(-3)
    const GaussianConstruction construction(f.n, true);
    const SearchPlan plan = grid(10, 60, 10, 3);
    const core::SearchOutcome got = f.search(plan, construction);
    CHECK(!got.found);
    REQUIRE(got.best);
    CHECK(got.attempts.size() == 18);
    double least = 1e300;
    std::pair<Index, Index> expected;
    const core::Verifier verifier(f.problem, f.backend, f.limits);
    for (const Index m : dimensions(plan)) {
        for (Index s = 0; s < 3; ++s) {
            auto family = construction.family(
                core::stream(f.source, 1, core::Purpose::embedding, 0, static_cast<std::uint64_t>(s), 0));
            Matrix<double> x1(f.n, m);
            Matrix<double> x2(f.n, m);
            REQUIRE(family->embed(x1.view(), x2.view()).feasible);
            const core::Measures one = verifier.measure({.x1 = x1.view(), .x2 = x2.view()});
            const double excess = core::log_excess(one.log_ratio, one.log_leakage, f.limits);
            if (excess < least) {
                least = excess;
                expected = {m, s};
            }
        }
    }
    CHECK(got.best->query_dim == expected.first);
    CHECK(got.best->sample == expected.second);
}

TEST_CASE("infeasible dimensions are recorded with their reason, and all infeasible is an answer") {
    Fixture f(20);
    const ThresholdConstruction construction(f.n, 100);
    const core::SearchOutcome got = f.search(grid(20, 40, 10, 2), construction);
    CHECK(!got.found);
    CHECK(!got.best);
    REQUIRE(got.attempts.size() == 6);
    CHECK(got.attempts[0].infeasible == "too small");
}

TEST_CASE("a limit on the total variation is kept too") {
    Fixture f;
    const GaussianConstruction construction(f.n, true);
    const SearchPlan plan = grid(5, 160, 5, 1);
    const auto free = f.search(plan, construction);
    REQUIRE(free.found);
    f.limits.total_variation = free.found->measures.total_variation_max / 1.05;
    const auto limited = f.search(plan, construction);
    REQUIRE(limited.found);
    CHECK(limited.found->query_dim > free.found->query_dim);
    CHECK(limited.found->measures.total_variation_max <= *f.limits.total_variation);
    const auto refused = std::find_if(limited.attempts.begin(), limited.attempts.end(),
                                      [&](const core::Attempt& a) { return a.query_dim == free.found->query_dim; });
    REQUIRE(refused != limited.attempts.end());
    REQUIRE(refused->refuted_by);
    CHECK(refused->refuted_by->condition == core::Condition::total_variation);
}

TEST_CASE("a plan beyond the construction's largest dimension is refused") {
    Fixture f;
    const GaussianConstruction construction(f.n, true);
    CHECK_THROWS_WITH_AS((void)f.search(grid(5, 401, 5, 1), construction), doctest::Contains("search.stop: 401"),
                         Error);
    CHECK_THROWS_WITH_AS((void)f.search({.method = SearchMethod::fixed, .query_dim = 500}, construction),
                         doctest::Contains("search.query_dim: 500"), Error);
    CHECK_THROWS_WITH_AS((void)f.search(grid(50, 40, 5, 1), construction), doctest::Contains("search.start: 50"),
                         Error);
}

TEST_CASE("the interval is that of Clopper and Pearson") {
    // Published: 0 of 10 gives [0, 0.3085]; 5 of 10 gives [0.1871, 0.8129].
    CHECK(core::pass_count(0, 10).lower == 0);
    CHECK(core::pass_count(0, 10).upper == doctest::Approx(0.30850).epsilon(1e-4));
    CHECK(core::pass_count(5, 10).lower == doctest::Approx(0.18709).epsilon(1e-4));
    CHECK(core::pass_count(5, 10).upper == doctest::Approx(0.81291).epsilon(1e-4));
    CHECK(core::pass_count(10, 10).upper == 1);
}

namespace {

/// Good at its first embedding, useless from the second on: it breaks the promise of equal bytes.
class FickleConstruction final : public PreparedConstruction {
    class Family final : public EmbeddingFamily {
        [[nodiscard]] EmbedOutcome do_embed(MatrixView<double> x1, MatrixView<double> x2) override {
            const double size = x1.cols >= 20 && calls_++ == 0 ? 3 : 0;
            for (Index c = 0; c < x1.cols; ++c) {
                for (Index i = 0; i < x1.rows; ++i) {
                    x1(i, c) = i == c ? size : 0;
                    x2(i, c) = i == c ? 1 : 0;
                }
            }
            return {};
        }
        Index calls_ = 0;
    };
    [[nodiscard]] ConstructionTraits do_traits() const override { return {.nested = false, .default_stop = 30}; }
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> do_family(const RandomStream&) const override {
        return std::make_unique<Family>();
    }
};

class MistakenTraits final : public PreparedConstruction {
public:
    explicit MistakenTraits(ConstructionTraits traits) : traits_(traits) {}

private:
    [[nodiscard]] ConstructionTraits do_traits() const override { return traits_; }
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> do_family(const RandomStream&) const override { return nullptr; }
    ConstructionTraits traits_;
};

}  // namespace

TEST_CASE("an embedding that passes and then does not is the construction's mistake, not a result") {
    Fixture f(20);
    const FickleConstruction fickle;
    // On a grid the embedding that was tested is the one that is handed out; bisection comes back to it later.
    CHECK(f.search(grid(20, 21, 1, 1), fickle).found);
    SearchPlan plan = grid(18, 24, 1, 1);
    plan.method = SearchMethod::bisect;
    CHECK_THROWS_WITH_AS((void)f.search(plan, fickle), doctest::Contains("equal bytes"), Error);
}

TEST_CASE("traits that cannot be, and a missing family, are refused") {
    Fixture f(4);
    const auto refused = [&](const ConstructionTraits& traits, const char* why) {
        CHECK_THROWS_WITH_AS((void)f.search(grid(1, 2, 1, 1), MistakenTraits(traits)), doctest::Contains(why), Error);
    };
    refused({.default_stop = 0}, "ends at m = 0");
    refused({.largest_query_dim = 3, .default_stop = 4}, "ends at m = 4 of at most 3");
    refused({.default_stop = 4, .encoded_margin = std::nan("")}, "margin");
    refused({.default_stop = 4}, "no family");
    refused({.nested = true, .default_stop = 4}, "no family");
}

TEST_CASE("several problems are met at the least dimension at which each has a passing sample") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        for (const bool nested : {true, false}) {
            CAPTURE(seed);
            CAPTURE(nested);
            const Fixture f;
            const Fixture smaller(25);
            const GaussianConstruction construction(f.n, nested);
            const GaussianConstruction other(smaller.n, nested);
            const ThresholdConstruction late(smaller.n, 35);
            const std::vector<core::SearchProblem> problems{f.of(f.problem, construction, seed),
                                                            smaller.of(smaller.problem, other, seed + 50),
                                                            smaller.of(smaller.problem, late)};
            const SearchPlan plan = grid(5, 50, 5, 2);
            const std::vector<core::SearchOutcome> got = core::search(plan, problems);
            // Each on its own at every dimension, by a search that tries this one alone.
            const auto passes = [&](const core::SearchProblem& problem, Index m) {
                const core::SearchOutcome one = std::move(core::search(grid(m, m, 1, 2), {&problem, 1}).front());
                return one.found.has_value();
            };
            std::optional<Index> expected;
            std::vector<std::optional<Index>> alone(problems.size());
            for (const Index m : dimensions(plan)) {
                bool all = true;
                for (std::size_t t = 0; t < problems.size(); ++t) {
                    const bool one = passes(problems[t], m);
                    all = all && one;
                    alone[t] = one && !alone[t] ? std::optional(m) : alone[t];
                }
                expected = all && !expected ? std::optional(m) : expected;
            }
            for (std::size_t t = 0; t < problems.size(); ++t) {
                CHECK(got[t].alone == alone[t]);
                REQUIRE(got[t].found.has_value() == expected.has_value());
                if (expected) {
                    CHECK(got[t].found->query_dim == *expected);
                    CHECK(core::passes(got[t].found->measures, problems[t].criterion));
                } else {
                    CHECK(got[t].best.has_value());
                }
                std::set<std::pair<Index, Index>> tried;
                for (const core::Attempt& a : got[t].attempts) {
                    CHECK(tried.insert({a.query_dim, a.sample}).second);
                }
            }
        }
    }
}

TEST_CASE("a problem whose construction ends before the others' is embedded at its end, with zero columns behind") {
    for (const bool divided : {false, true}) {
        CAPTURE(divided);
        const Fixture f;
        const Fixture small(6);
        const ThresholdConstruction construction(f.n, 23);
        const ThresholdConstruction ends(small.n, 6, 6);
        std::vector<core::SearchProblem> problems{f.of(f.problem, construction), small.of(small.problem, ends)};
        for (core::SearchProblem& problem : problems) {
            problem.divided_by_sqrt_dim = divided;
        }
        const std::vector<core::SearchOutcome> got = core::search(grid(4, 40, 4, 1), problems);
        CHECK(got[0].alone == 40);  // the identity of 40 needs all of them
        CHECK(got[1].alone == 6);
        for (const core::Attempt& a : got[1].attempts) {
            CHECK(a.query_dim <= 6);
        }
        REQUIRE(got[1].found);
        const core::Solution& found = *got[1].found;
        CHECK(found.query_dim == 40);
        CHECK(found.x1.cols() == 40);
        CHECK(found.logit_scale == doctest::Approx(divided ? 1 / std::sqrt(40.0) : 1));
        for (Index i = 0; i < small.n; ++i) {
            for (Index j = 0; j < small.n; ++j) {
                double logit = 0;
                for (Index c = 0; c < 40; ++c) {
                    logit += found.logit_scale * found.x1(i, c) * found.x2(j, c);
                }
                CHECK(logit == doctest::Approx(i == j ? 3.0 : 0.0));
            }
        }
        CHECK(core::passes(found.measures, small.limits));
    }
    const Fixture f(6);
    const ThresholdConstruction ends(6, 6, 6);
    const std::vector<core::SearchProblem> both{f.of(f.problem, ends), f.of(f.problem, ends)};
    CHECK_THROWS_WITH_AS((void)core::search(grid(4, 8, 4, 1), both), doctest::Contains("search.stop: 8 is beyond 6"),
                         Error);
}

TEST_CASE("a solution for a head that divides by sqrt(m) has the same logits behind that division") {
    for (const bool nested : {true, false}) {
        CAPTURE(nested);
        const Fixture f;
        const GaussianConstruction construction(f.n, nested);
        core::SearchProblem plain = f.of(f.problem, construction);
        core::SearchProblem divided = f.of(f.problem, construction);
        divided.divided_by_sqrt_dim = true;
        const SearchPlan plan = grid(5, 160, 5, 2);
        const core::SearchOutcome expected = std::move(core::search(plan, {&plain, 1}).front());
        const core::SearchOutcome got = std::move(core::search(plan, {&divided, 1}).front());
        REQUIRE(expected.found);
        REQUIRE(got.found);
        const Index m = got.found->query_dim;
        CHECK(m == expected.found->query_dim);
        CHECK(got.found->logit_scale == doctest::Approx(1 / std::sqrt(static_cast<double>(m))));
        const double factor = std::pow(static_cast<double>(m), 0.25);
        for (Index i = 0; i < f.n; ++i) {
            for (Index c = 0; c < m; ++c) {
                REQUIRE(got.found->x1(i, c) == doctest::Approx(factor * expected.found->x1(i, c)));
                REQUIRE(got.found->x2(i, c) == doctest::Approx(factor * expected.found->x2(i, c)));
            }
        }
        CHECK(got.found->measures.log_leakage == doctest::Approx(expected.found->measures.log_leakage));
    }
}
