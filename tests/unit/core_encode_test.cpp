#include "attnspan/core/encode.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attnspan/core/bound.hpp"
#include "attnspan/core/describe.hpp"
#include "attnspan/encoding.hpp"
#include "core_support.hpp"

using namespace core_test;

TEST_CASE("log-weights are relative to the smallest entry of their row, over the whole range of doubles") {
    const Problem p = core::encode(sparse({{1, 2, 0}, {1e-300, 0, 1e300}, {0, 0, 7}}), bidirectional(3, 3), {});
    CHECK(p.log_weights.row_values(0)[0] == 0);
    CHECK(p.log_weights.row_values(0)[1] == doctest::Approx(std::log(2.0)));
    CHECK(p.log_weights.row_values(1)[1] == doctest::Approx(600 * std::log(10.0)));
    CHECK(p.log_weights.row_values(2)[0] == 0);
}

TEST_CASE("an entry at an invisible pair is refused by its place, or dropped and counted") {
    SparseMatrix a = sparse({{1, 2}, {3, 4}});
    CHECK_THROWS_WITH_AS(core::apply_rules(a, causal(2), {}), doctest::Contains("entry (0, 1) = 2"), Error);
    CHECK(core::apply_rules(a, causal(2), {.drop_invisible = true}) == 1);
    CHECK(a.nonzeros() == 3);
}

TEST_CASE("a row without visible entries is refused by its number, or allowed") {
    SparseMatrix a = sparse({{1, 0}, {0, 0}});
    CHECK_THROWS_WITH_AS(core::apply_rules(a, bidirectional(2, 2), {}), doctest::Contains("row 1 has no visible entry"),
                         Error);
    CHECK(core::apply_rules(a, bidirectional(2, 2), {.allow_empty_rows = true}) == 0);
    SparseMatrix above = sparse({{0, 1}, {1, 0}});
    CHECK_THROWS_WITH_AS(core::apply_rules(above, causal(2), {.drop_invisible = true}), doctest::Contains("row 0"),
                         Error);
}

TEST_CASE("the margin is the paper's times its scale, and must be positive") {
    CHECK(encoded_margin({.ratio = 0.5, .leakage = 0.1}, 1.0) == doctest::Approx(std::log(15.0)));
    CHECK(encoded_margin({.ratio = 0.5, .leakage = 0.1}, 3.0) == doctest::Approx(3 * std::log(15.0)));
    CHECK_THROWS_AS((void)encoded_margin({.ratio = 0.5, .leakage = 1.5}, 1.0), Error);
    CHECK_THROWS_AS((void)encoded_margin({.ratio = 0.5, .leakage = 2.0}, 1.0), Error);
}

TEST_CASE("a summary counts rows, columns, variation and empty rows") {
    const core::TargetSummary s = core::describe(sparse({{1, 4, 0}, {0, 0, 0}, {1e-300, 1e300, 1}}));
    CHECK(s.rows == 3);
    CHECK(s.cols == 3);
    CHECK(s.nonzeros == 5);
    CHECK(s.max_row_nonzeros == 3);
    CHECK(s.min_row_nonzeros == 0);
    CHECK(s.max_col_nonzeros == 2);
    CHECK(s.min_col_nonzeros == 1);
    CHECK(s.empty_rows == 1);
    CHECK(s.first_empty_row == 1);
    CHECK(std::isinf(s.variation));
    CHECK(s.log_variation == doctest::Approx(600 * std::log(10.0)));
    const core::TargetSummary tenth = core::describe(sparse({std::vector<double>(1000, 0.1)}));
    CHECK(tenth.sum == 100.0);  // plain summation gives 99.9999999999986
}

TEST_CASE("the bound equals its formula, from numbers and from a matching target") {
    // Worked by hand from section 3.6: L = 512, k = 1, epsilons 0.5 and 0.1, margin_scale = 3 gives 710.
    const Tolerances t{.ratio = 0.5, .leakage = 0.1};
    const double tau = encoded_margin(t, 3.0);
    CHECK(core::bound_query_dim(core::bound_input(1, 0.0, t, tau, 512.0 * 512.0), 0.01) == 710);

    const double tau2 = encoded_margin({.ratio = 0.5, .leakage = 0.5}, 1.0);
    const Tolerances half{.ratio = 0.5, .leakage = 0.5};
    // Every row with k = 2 entries at the ends of [1, gamma]: the worst case has norm sqrt(2) (tau + ln 2), a row less.
    const double norm = std::sqrt(tau2 * tau2 + (tau2 + std::log(2.0)) * (tau2 + std::log(2.0)));
    const double delta = std::min((tau2 + std::log(0.5)) / 2, std::log(1.5) / 2);
    const Problem p = core::encode(sparse({{1, 2, 0}, {0, 1, 2}, {2, 0, 1}}), bidirectional(3, 3), half);
    const core::BoundInput input = core::bound_input(p, tau2);
    CHECK(input.eta == doctest::Approx(delta / norm));
    CHECK(input.visible_pairs == 9);
    const double m = std::log(4 * 9 / 0.01) / (0.5 * (input.eta - std::log1p(input.eta)));
    CHECK(core::bound_query_dim(input, 0.01) == static_cast<Index>(std::ceil(m)));
}

TEST_CASE("the bound has no value without room for an error, and survives tiny tolerances") {
    const Tolerances exact{.ratio = 0.0, .leakage = 0.5};
    CHECK(!core::bound_query_dim(core::bound_input(2, 0.0, exact, encoded_margin(exact, 1.0), 100), 0.01));
    const Tolerances tiny{.ratio = 1e-6, .leakage = 0.5};
    const core::BoundInput input = core::bound_input(2, 0.0, tiny, encoded_margin(tiny, 1.0), 100);
    const auto m = core::bound_query_dim(input, 0.01);
    REQUIRE(m);
    // eta - ln(1 + eta) = eta^2 / 2 (1 - 2 eta / 3 + ...) for small eta
    const double expected = std::log(4 * 100 / 0.01) / (0.25 * input.eta * input.eta * (1 - 2 * input.eta / 3));
    CHECK(static_cast<double>(*m) == doctest::Approx(expected).epsilon(1e-9));
    const Tolerances hopeless{.ratio = 1e-12, .leakage = 0.5};
    CHECK(!core::bound_query_dim(core::bound_input(2, 0.0, hopeless, encoded_margin(hopeless, 1.0), 100), 0.01));
}

TEST_CASE("a full row encoded by its ratios alone has mean 0 and half the ratio's tolerance") {
    const Tolerances t{.ratio = 0.5, .leakage = 0.5};
    const double tau = encoded_margin(t, 1.0);
    const Problem p = core::encode(sparse({{1, 2, 4}, {1, 2, 0}, {1, 1, 1}}), bidirectional(3, 3), t);
    CHECK(is_full_row(p, 0));
    CHECK(!is_full_row(p, 1));
    CHECK(encoded_offset(p, 0, tau, true) == tau);
    CHECK(encoded_offset(p, 0, tau, false) == doctest::Approx(-std::log(2.0)));
    CHECK(encoded_offset(p, 1, tau, false) == tau);
    CHECK(encoded_offset(p, 2, tau, false) == 0);
    // Row 0 is (-ln 2, 0, ln 2); row 2 vanishes and constrains nothing; row 1 keeps its margin.
    const double first = std::log(1.5) / 2 / (std::sqrt(2.0) * std::log(2.0));
    const double second = std::log(1.5) / 2 / std::hypot(tau, tau + std::log(2.0));
    CHECK(core::bound_input(p, tau, false).eta == doctest::Approx(std::min(first, second)));
    // Under a causal mask the first row sees one key, and is full.
    const Problem causal_one = core::encode(sparse({{1, 0}, {1, 0}}), causal(2), t);
    CHECK(encoded_offset(causal_one, 0, tau, false) == 0);
    CHECK(encoded_offset(causal_one, 1, tau, false) == tau);
}
