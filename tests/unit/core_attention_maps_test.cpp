#include "attnspan/core/attention_maps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core_support.hpp"

using namespace core_test;

namespace {

/// The whole of A (rows divided by their sums) and P, by their definitions; NaN where invisible.
struct Whole {
    Matrix<double> a;
    Matrix<double> p;

    Whole(const SparseMatrix& target, const VisibleRanges& visible, const Matrix<double>& x1, const Matrix<double>& x2,
          double scale)
        : a(target.rows, target.cols, std::nan("")), p(target.rows, target.cols, std::nan("")) {
        for (Index i = 0; i < target.rows; ++i) {
            double weights = 0;
            for (const double w : target.row_values(i)) {
                weights += w;
            }
            double total = 0;
            for (Index j = visible[i].begin; j < visible[i].end; ++j) {
                double logit = 0;
                for (Index c = 0; c < x1.cols(); ++c) {
                    logit += x1(i, c) * x2(j, c);
                }
                a(i, j) = 0;
                p(i, j) = std::exp(scale * logit);
                total += p(i, j);
            }
            for (Index j = visible[i].begin; j < visible[i].end; ++j) {
                p(i, j) /= total;
            }
            for (std::size_t t = 0; t < target.row_values(i).size(); ++t) {
                a(i, target.row_columns(i)[t]) = target.row_values(i)[t] / weights;
            }
        }
    }
};

void check_cells(const core::AttentionMaps& maps, const Whole& whole) {
    const Index rows = maps.target.rows();
    const Index cols = maps.target.cols();
    for (Index r = 0; r < rows; ++r) {
        for (Index c = 0; c < cols; ++c) {
            double a = -1;
            double p = -1;
            double difference = 0;
            for (Index i = r * maps.queries / rows; i < (r + 1) * maps.queries / rows; ++i) {
                for (Index j = c * maps.keys / cols; j < (c + 1) * maps.keys / cols; ++j) {
                    if (!std::isnan(whole.p(i, j))) {
                        a = std::max(a, whole.a(i, j));
                        p = std::max(p, whole.p(i, j));
                        const double d = whole.p(i, j) - whole.a(i, j);
                        difference = std::abs(d) > std::abs(difference) ? d : difference;
                    }
                }
            }
            CAPTURE(r);
            CAPTURE(c);
            if (a < 0) {
                REQUIRE(std::isnan(maps.target(r, c)));
                REQUIRE(std::isnan(maps.attention(r, c)));
                REQUIRE(std::isnan(maps.difference(r, c)));
            } else {
                REQUIRE(maps.target(r, c) == doctest::Approx(a).epsilon(1e-6));
                REQUIRE(maps.attention(r, c) == doctest::Approx(p).epsilon(1e-4));
                REQUIRE(std::abs(maps.difference(r, c) - difference) < 1e-5);
            }
        }
    }
}

/// Every third key of a row, with unequal weights; row 5 has none.
SparseMatrix striped(const VisibleRanges& visible) {
    SparseMatrix out;
    out.cols = visible.keys;
    for (Index i = 0; i < visible.queries(); ++i) {
        for (Index j = visible[i].begin; j < visible[i].end && i != 5; ++j) {
            if ((i + j) % 3 == 0) {
                out.push(j, 1 + static_cast<double>((i * j) % 7));
            }
        }
        out.end_row();
    }
    return out;
}

}  // namespace

TEST_CASE("every cell of the maps holds the largest of the entries it stands for") {
    const NaiveBackend backend;
    for (const auto& [query_count, key_count, cell_count] : {std::tuple<Index, Index, Index>{40, 40, 64},
                                                             {40, 40, 40},
                                                             {40, 40, 7},
                                                             {300, 300, 32},
                                                             {23, 1100, 50},
                                                             {700, 9, 16},
                                                             {1, 1, 1}}) {
        // Clang 14 lets no lambda, and so no CAPTURE, use a structured binding.
        const Index queries = query_count;
        const Index keys = key_count;
        const Index cells = cell_count;
        for (const bool is_causal : {false, true}) {
            if (is_causal && queries != keys) {
                continue;
            }
            CAPTURE(queries);
            CAPTURE(cells);
            CAPTURE(is_causal);
            const VisibleRanges visible = is_causal ? causal(keys) : bidirectional(queries, keys);
            const SparseMatrix target = striped(visible);
            const Problem problem = core::encode(target, visible, {.ratio = 0.5, .leakage = 0.5});
            const Matrix<double> x1 = random_matrix(queries, 6, 1);
            const Matrix<double> x2 = random_matrix(keys, 6, 2);
            const core::AttentionMaps maps =
                core::attention_maps(problem, target, {.x1 = x1.view(), .x2 = x2.view(), .scale = 0.5}, backend, cells);
            CHECK(maps.target.rows() == std::min(cells, queries));
            CHECK(maps.target.cols() == std::min(cells, keys));
            check_cells(maps, Whole(target, visible, x1, x2, 0.5));
        }
    }
}

TEST_CASE("maps of logits beyond single precision are made in double precision") {
    const NaiveBackend backend;
    const Index n = 12;
    const SparseMatrix target = striped(bidirectional(n, n));
    const Problem problem = core::encode(target, bidirectional(n, n), {.ratio = 0.5, .leakage = 0.5});
    const Matrix<double> x1 = random_matrix(n, 3, 1);
    const Matrix<double> x2 = random_matrix(n, 3, 2);
    Matrix<double> large(n, 3);
    std::transform(x1.data(), x1.data() + n * 3, large.data(), [](double x) { return 1e200 * x; });
    const core::AttentionMaps maps = core::attention_maps(
        problem, target, {.x1 = std::as_const(large).view(), .x2 = x2.view(), .scale = 1e-200}, backend, n);
    check_cells(maps, Whole(target, problem.visible, x1, x2, 1));
}
