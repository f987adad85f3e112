#include "attnspan/core/verify.hpp"

#include <doctest/doctest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core_support.hpp"

using namespace core_test;
using core::Measures;
using core::Verifier;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Section 2.2 by its words, with the whole logit matrix in long double. Rows without support are skipped.
struct Reference {
    std::vector<double> log_ratio, log_leakage, total_variation, support_mass;
    double most_ratio = 0, most_leakage = -infinity, most_variation = 0, least_mass = 1, mean_variation = 0;

    Reference(const std::vector<std::vector<double>>& target, const VisibleRanges& visible, const Matrix<double>& x1,
              const Matrix<double>& x2, double scale) {
        Index constrained = 0;
        for (Index i = 0; i < x1.rows(); ++i) {
            const auto& a = target[static_cast<std::size_t>(i)];
            long double e_min = infinity, e_max = -infinity, s_min = infinity, z_max = -infinity, s_max = -infinity;
            long double weights = 0;
            std::vector<long double> s(a.size());
            for (Index j = visible[i].begin; j < visible[i].end; ++j) {
                const auto u = static_cast<std::size_t>(j);
                for (Index c = 0; c < x1.cols(); ++c) {
                    s[u] += static_cast<long double>(x1(i, c)) * x2(j, c);
                }
                s[u] *= scale;
                s_max = std::max(s_max, s[u]);
                if (a[u] > 0) {
                    const long double e = s[u] - std::log(static_cast<long double>(a[u]));
                    e_min = std::min(e_min, e);
                    e_max = std::max(e_max, e);
                    s_min = std::min(s_min, s[u]);
                    weights += a[u];
                } else {
                    z_max = std::max(z_max, s[u]);
                }
            }
            if (weights == 0) {
                continue;
            }
            long double total = 0, on_support = 0, variation = 0;
            for (Index j = visible[i].begin; j < visible[i].end; ++j) {
                total += std::exp(s[static_cast<std::size_t>(j)] - s_max);
            }
            for (Index j = visible[i].begin; j < visible[i].end; ++j) {
                const auto u = static_cast<std::size_t>(j);
                const long double p = std::exp(s[u] - s_max) / total;
                on_support += a[u] > 0 ? p : 0;
                variation += std::abs(p - a[u] / weights) / 2;
            }
            ++constrained;
            most_ratio = std::max(most_ratio, static_cast<double>(e_max - e_min));
            most_leakage = std::max(most_leakage, static_cast<double>(z_max - s_min));
            most_variation = std::max(most_variation, static_cast<double>(variation));
            least_mass = std::min(least_mass, static_cast<double>(on_support));
            mean_variation += static_cast<double>(variation);
        }
        mean_variation /= static_cast<double>(std::max<Index>(1, constrained));
    }
};

std::vector<std::vector<double>> random_target(Index queries, Index keys, const VisibleRanges& visible, int most,
                                               std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::vector<std::vector<double>> out(static_cast<std::size_t>(queries),
                                         std::vector<double>(static_cast<std::size_t>(keys)));
    for (Index i = 0; i < queries; ++i) {
        const Index count = std::uniform_int_distribution<Index>(0, most)(engine);
        for (Index t = 0; t < count && visible[i].size() > 0; ++t) {
            const Index j = std::uniform_int_distribution<Index>(visible[i].begin, visible[i].end - 1)(engine);
            out[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
                std::pow(10.0, std::uniform_real_distribution<double>(-3, 3)(engine));
        }
    }
    return out;
}

void check_against_reference(const std::vector<std::vector<double>>& target, const VisibleRanges& visible, Index m,
                             double scale, std::uint64_t seed) {
    const NaiveBackend backend;
    const core::Criterion limits = criterion(0.5, 0.5);
    const Problem problem = core::encode(sparse(target), visible, {.ratio = 0.5, .leakage = 0.5});
    const Matrix<double> x1 = random_matrix(problem.queries(), m, seed);
    const Matrix<double> x2 = random_matrix(problem.keys(), m, seed + 1);
    const Reference expected(target, visible, x1, x2, scale);
    const Measures got = Verifier(problem, backend, limits).measure({.x1 = x1.view(), .x2 = x2.view(), .scale = scale});
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-11 * std::max(1.0, std::abs(b)); };
    CHECK(near(got.log_ratio, expected.most_ratio));
    CHECK((got.log_leakage == expected.most_leakage || near(got.log_leakage, expected.most_leakage)));
    CHECK(near(got.total_variation_max, expected.most_variation));
    CHECK(near(got.total_variation_mean, expected.mean_variation));
    CHECK(near(got.support_mass_min, expected.least_mass));
}

}  // namespace

TEST_CASE("measures equal their definition, computed in long double from the whole matrix") {
    std::uint64_t seed = 1;
    for (const Index n : {1, 2, 7, 130, 300}) {
        for (const int most : {1, 4, 16}) {
            for (const double scale : {1.0, 0.125, 3.0}) {
                ++seed;
                CAPTURE(n);
                CAPTURE(most);
                CAPTURE(scale);
                const VisibleRanges all = bidirectional(n, n);
                check_against_reference(random_target(n, n, all, most, seed), all, 5, scale, seed);
                const VisibleRanges below = causal(n);
                check_against_reference(random_target(n, n, below, most, seed), below, 5, scale, seed);
            }
        }
    }
}

TEST_CASE("measures equal their definition for rectangles, and for keys beyond one tile") {
    const VisibleRanges wide = bidirectional(3, 2500);
    check_against_reference(random_target(3, 2500, wide, 8, 5), wide, 4, 1.0, 5);
    const VisibleRanges tall = bidirectional(400, 3);
    check_against_reference(random_target(400, 3, tall, 2, 6), tall, 4, 1.0, 6);
    VisibleRanges window{.keys = 2100, .ranges = {}};
    for (Index i = 0; i < 200; ++i) {
        window.ranges.push_back({9 * i, std::min<Index>(9 * i + 60, 2100)});
    }
    check_against_reference(random_target(200, 2100, window, 8, 7), window, 4, 1.0, 7);
}

TEST_CASE("a row with one entry has ratio 0, a row without zeros leakage 0, and places are named") {
    const NaiveBackend backend;
    const core::Criterion limits = criterion(0.5, 0.5);
    const Problem one = core::encode(sparse({{0, 3}, {5, 0}}), bidirectional(2, 2), {});
    const Matrix<double> x1 = dense({{1, 2}, {3, 1}});
    const Matrix<double> x2 = dense({{1, 0}, {0, 1}});
    const Measures m = Verifier(one, backend, limits).measure({.x1 = x1.view(), .x2 = x2.view()});
    CHECK(m.log_ratio == 0);
    CHECK(m.ratio_row == 0);
    CHECK(m.log_leakage == doctest::Approx(-1));  // row 0: 1 against 2; row 1: 1 against 3
    CHECK(m.leakage_row == 0);
    CHECK(m.leakage_key == 0);

    const Problem full = core::encode(sparse({{1, 1}, {1, 1}}), bidirectional(2, 2), {});
    const Measures none = Verifier(full, backend, limits).measure({.x1 = x1.view(), .x2 = x2.view()});
    CHECK(none.log_leakage == -infinity);
    CHECK(!none.leakage_row);
    CHECK(none.log_ratio == doctest::Approx(2));
    CHECK(none.ratio_row == 1);
    CHECK(none.support_mass_min == doctest::Approx(1));
}

TEST_CASE("without any constrained row every measure is that of a perfect answer") {
    const NaiveBackend backend;
    const core::Criterion limits = criterion(0.0, 1e-9);
    const Problem empty = core::encode(sparse({{0, 0}, {0, 0}}), bidirectional(2, 2), {});
    const Matrix<double> x = random_matrix(2, 3, 1);
    const Measures m = Verifier(empty, backend, limits).measure({.x1 = x.view(), .x2 = x.view()});
    CHECK(m.log_ratio == 0);
    CHECK(m.log_leakage == -infinity);
    CHECK(m.total_variation_max == 0);
    CHECK(m.total_variation_mean == 0);
    CHECK(!m.ratio_row);
    CHECK(passes(m, limits));
}

TEST_CASE("entries from 1e-300 to 1e300 in one row are measured without overflow") {
    const NaiveBackend backend;
    const core::Criterion limits = criterion(0.5, 0.5);
    const Problem problem = core::encode(sparse({{1e-300, 1e300, 0}}), bidirectional(1, 3), {});
    const double range = std::log(1e300) - std::log(1e-300);
    const Matrix<double> x1 = dense({{1}});
    const Matrix<double> x2 = dense({{0}, {range}, {-1}});
    const Measures m = Verifier(problem, backend, limits).measure({.x1 = x1.view(), .x2 = x2.view()});
    CHECK(m.log_ratio < 1e-12);
    CHECK(m.log_leakage == doctest::Approx(-1));
    CHECK(m.total_variation_max < 1e-12);
}

TEST_CASE("a refutation names the worst row of the first block that has one, whatever the number of threads") {
    const NaiveBackend backend;
    const core::Criterion limits = criterion(0.5, 0.5);
    const Index n = 700;
    const VisibleRanges all = bidirectional(n, n);
    const Problem problem = core::encode(sparse(random_target(n, n, all, 3, 11)), all, {});
    const Matrix<double> x1 = random_matrix(n, 6, 12);
    const Matrix<double> x2 = random_matrix(n, 6, 13);
    const core::Logits logits{.x1 = x1.view(), .x2 = x2.view()};
    const Verifier verifier(problem, backend, limits);
    tbb::task_arena one(1);
    const auto expected = one.execute([&] { return verifier.refute(logits, core::RowNorms(logits)); });
    REQUIRE(expected);
    std::vector<core::RowMeasures> rows;
    (void)verifier.measure(logits, &rows);
    const auto& row = rows[static_cast<std::size_t>(expected->row)];
    CHECK(core::log_excess(row.log_ratio, row.log_leakage, limits) == doctest::Approx(expected->log_excess));
    for (int repeat = 0; repeat < 20; ++repeat) {
        const tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
        tbb::task_arena several(4);
        const auto got = several.execute([&] { return verifier.refute(logits, core::RowNorms(logits)); });
        REQUIRE(got);
        CHECK(got->row == expected->row);
        CHECK(got->log_excess == expected->log_excess);
    }
}

TEST_CASE("a value within rounding of its limit is decided alike whatever order a back end sums in") {
    const NaiveBackend forwards;
    const NaiveBackend backwards(true);
    int differ = 0;
    int passed = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Index m = 40;
        const Matrix<double> x1 = random_matrix(1, m, 3 * seed);
        const Matrix<double> x2 = random_matrix(3, m, 3 * seed + 1);
        const Problem problem = core::encode(sparse({{1, 2, 0}}), bidirectional(1, 3), {});
        const core::Logits logits{.x1 = x1.view(), .x2 = x2.view()};
        // The limit is what one of the orders finds, moved by at most two units in the last place.
        const Measures found = Verifier(problem, forwards, criterion(1e300, 1e300)).measure(logits);
        const Measures other = Verifier(problem, backwards, criterion(1e300, 1e300)).measure(logits);
        differ += found.log_ratio != other.log_ratio || found.log_leakage != other.log_leakage;
        core::Criterion limits{.log_ratio = found.log_ratio, .log_leakage = 1e300, .total_variation = std::nullopt};
        for (const double nudge : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
            limits.log_ratio = found.log_ratio + nudge * std::abs(found.log_ratio) * 0x1p-52;
            const Verifier a(problem, forwards, limits);
            const Verifier b(problem, backwards, limits);
            const Measures measured_a = a.measure(logits);
            const Measures measured_b = b.measure(logits);
            CHECK(measured_a.log_ratio == measured_b.log_ratio);
            CHECK(passes(measured_a, limits) == passes(measured_b, limits));
            CHECK(a.refute(logits, core::RowNorms(logits)).has_value() == !passes(measured_a, limits));
            CHECK(b.refute(logits, core::RowNorms(logits)).has_value() == !passes(measured_b, limits));
            passed += passes(measured_a, limits);
        }
    }
    // The test looks where it says: the two orders do differ, and both verdicts occur.
    CHECK(differ > 100);
    CHECK(passed > 300);
    CHECK(passed < 1200);
}

TEST_CASE("inputs that are not finite, or overflow, are refused") {
    const NaiveBackend backend;
    const core::Criterion limits = criterion(0.5, 0.5);
    const Problem problem = core::encode(sparse({{1, 0}, {0, 1}}), bidirectional(2, 2), {});
    for (const double bad : {infinity, -infinity, std::nan(""), 1e200}) {
        Matrix<double> x1 = random_matrix(2, 3, 1);
        const Matrix<double> x2 = random_matrix(2, 3, 2);
        x1(1, 2) = bad;
        CHECK_THROWS_WITH_AS((void)Verifier(problem, backend, limits).measure({.x1 = x1.view(), .x2 = x2.view()}),
                             doctest::Contains("not finite"), Error);
        CHECK_THROWS_WITH_AS((void)Verifier(problem, backend, limits).measure({.x1 = x2.view(), .x2 = x1.view()}),
                             doctest::Contains("not finite"), Error);
    }
}

TEST_CASE("screening in single precision gives the verdict of double precision, however near the limit") {
    const NaiveBackend backend;
    const Index n = 50;
    const Index m = 12;
    const VisibleRanges all = bidirectional(n, n);
    int single_alone_errs = 0;
    int passed = 0;
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Problem problem = core::encode(sparse(random_target(n, n, all, 3, seed)), all, {});
        const Matrix<double> x1 = random_matrix(n, m, 2 * seed);
        const Matrix<double> x2 = random_matrix(n, m, 2 * seed + 1);
        const auto rounded = [](const Matrix<double>& x) {
            Matrix<float> out(x.rows(), x.cols());
            std::transform(x.data(), x.data() + x.rows() * x.cols(), out.data(),
                           [](double v) { return static_cast<float>(v); });
            return out;
        };
        const auto widened = [](const Matrix<float>& x) {
            Matrix<double> out(x.rows(), x.cols());
            std::copy(x.data(), x.data() + x.rows() * x.cols(), out.data());
            return out;
        };
        const Matrix<float> s1 = rounded(x1);
        const Matrix<float> s2 = rounded(x2);
        const Matrix<double> w1 = widened(s1);
        const Matrix<double> w2 = widened(s2);
        const core::Logits plain{.x1 = x1.view(), .x2 = x2.view()};
        const core::Logits screened{.x1 = x1.view(), .x2 = x2.view(), .scale = 1, .x2_single = s2.view()};
        const core::RowNorms norms(plain);
        const Measures found = Verifier(problem, backend, criterion(1e300, 1e300)).measure(plain);
        for (const double nudge : {0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3}) {
            for (const double sign : {-1.0, 1.0}) {
                for (const bool by_ratio : {false, true}) {
                    const core::Criterion limits{
                        .log_ratio = by_ratio ? found.log_ratio * (1 + sign * nudge) : 1e300,
                        .log_leakage = by_ratio ? 1e300 : found.log_leakage * (1 + sign * nudge),
                        .total_variation = std::nullopt};
                    const Verifier verifier(problem, backend, limits);
                    const bool expected = verifier.refute(plain, norms).has_value();
                    const auto got = verifier.refute(screened, norms);
                    REQUIRE(got.has_value() == expected);
                    (expected ? failed : passed) += 1;
                    const Measures alone = verifier.measure({.x1 = w1.view(), .x2 = w2.view()});
                    single_alone_errs += passes(alone, limits) == expected;
                }
            }
        }
    }
    // The test looks where it says: rounding to single precision alone would have erred often.
    CHECK(single_alone_errs > 200);
    CHECK(passed > 500);
    CHECK(failed > 500);
}

TEST_CASE("a back end whose products are not finite is refused, not taken for a perfect answer") {
    class Broken final : public Backend {
        [[nodiscard]] BackendInfo do_info() const override { return {}; }
        void do_multiply(double, Op, ConstMatrixView<double>, Op, ConstMatrixView<double>, double,
                         MatrixView<double> c) const override {
            for (Index j = 0; j < c.cols; ++j) {
                std::fill_n(c.column(j), c.rows, std::nan(""));
            }
        }
        void do_multiply(float, Op, ConstMatrixView<float>, Op, ConstMatrixView<float>, float,
                         MatrixView<float>) const override {}
        [[nodiscard]] Svd do_svd(ConstMatrixView<double>) const override { return {}; }
        [[nodiscard]] SymmetricEigen do_symmetric_eigen(ConstMatrixView<double>) const override { return {}; }
        [[nodiscard]] Qr do_qr(ConstMatrixView<double>) const override { return {}; }
        [[nodiscard]] Matrix<double> do_solve(ConstMatrixView<double>, ConstMatrixView<double>) const override {
            return {};
        }
    };
    const Broken backend;
    const core::Criterion limits = criterion(0.5, 0.5);
    const Problem problem = core::encode(sparse({{1, 0}, {0, 1}}), bidirectional(2, 2), {});
    const Matrix<double> x = random_matrix(2, 3, 1);
    CHECK_THROWS_WITH_AS((void)Verifier(problem, backend, limits).measure({.x1 = x.view(), .x2 = x.view()}),
                         doctest::Contains("not finite"), Error);
    // Answers of the wrong shape are refused before anyone reads them.
    const ConstMatrixView<double> square = x.view().columns(0, 2);
    CHECK_THROWS_WITH_AS((void)backend.symmetric_eigen(square), doctest::Contains("instead of 2 x 2"), Error);
    CHECK_THROWS_AS((void)backend.svd(square), Error);
    CHECK_THROWS_AS((void)backend.qr(square), Error);
    CHECK_THROWS_AS((void)backend.solve(square, square), Error);
}
