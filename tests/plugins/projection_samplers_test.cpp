#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "projection_fixture.hpp"

namespace attnspan::test {
namespace {

bool same_bytes(ConstMatrixView<double> a, ConstMatrixView<double> b) {
    bool same = a.rows == b.rows && a.cols == b.cols;
    for (Index j = 0; same && j < a.cols; ++j) {
        same = std::equal(a.column(j), a.column(j) + a.rows, b.column(j));
    }
    return same;
}

double largest_difference(ConstMatrixView<double> a, ConstMatrixView<double> b) {
    double largest = 0;
    for (Index j = 0; j < a.cols; ++j) {
        for (Index i = 0; i < a.rows; ++i) {
            largest = std::max(largest, std::abs(a(i, j) - b(i, j)));
        }
    }
    return largest;
}

/// Largest entry of |f Y^T Y - I| or, transposed, of |f Y Y^T - I|.
double distance_from_identity(double f, Op op, ConstMatrixView<double> y) {
    const Index size = op == Op::none ? y.rows : y.cols;
    Matrix<double> gram(size, size);
    DefinitionBackend().multiply(f, op, y, op == Op::none ? Op::transpose : Op::none, y, 0, gram.view());
    Matrix<double> identity(size, size, 0.0);
    for (Index i = 0; i < size; ++i) {
        identity(i, i) = 1;
    }
    return largest_difference(gram.view(), identity.view());
}

/// Some rows of n entries with a pattern of zeros; an empty row among them.
SparseMatrix sparse_factor(Index n) {
    SparseMatrix d;
    d.cols = n;
    for (Index i = 0; i < 11; ++i) {
        for (Index j = i; i != 4 && j < n; j += 1 + i) {
            d.push(j, 1 / static_cast<double>(1 + i + j));
        }
        d.end_row();
    }
    return d;
}

Matrix<double> dense(const SparseMatrix& sparse) {
    Matrix<double> d(sparse.rows, sparse.cols, 0.0);
    for (Index i = 0; i < sparse.rows; ++i) {
        for (std::size_t t = 0; t < sparse.row_columns(i).size(); ++t) {
            d(i, sparse.row_columns(i)[t]) = sparse.row_values(i)[t];
        }
    }
    return d;
}

// One block of the orthogonal scheme, a block and a bit, several blocks; padded and unpadded for the structured one.
constexpr Index sizes[] = {1, 2, 5, 64, 65, 150, 256, 330};

}  // namespace

TEST_CASE("the columns for m are the first m of the columns for 2m, byte for byte, in one piece or in many") {
    for (const Scheme& scheme : nested_schemes()) {
        const LoadedScheme loaded(scheme);
        for (const Index n : sizes) {
            CAPTURE(scheme.text());
            CAPTURE(n);
            const auto whole = loaded.sampler(n, 0);
            REQUIRE(whole->nested());
            const Matrix<double> all = columns(*whole, n);
            CHECK(same_bytes(columns(*loaded.sampler(n, 0), n / 2).view(), all.view().columns(0, n / 2)));
            for (const Index piece : {Index{1}, Index{7}, Index{64}, Index{100}}) {
                const auto ascending = loaded.sampler(n, 0);
                const auto descending = loaded.sampler(n, 0);
                Matrix<double> up(n, n);
                Matrix<double> down(n, n);
                for (Index begin = 0; begin < n; begin += piece) {
                    const Index end = std::min(n, begin + piece);
                    ascending->columns({.query_dim = end, .begin = begin, .end = end}, up.view().columns(begin, end));
                    descending->columns({.query_dim = n, .begin = n - end, .end = n - begin},
                                        down.view().columns(n - end, n - begin));
                }
                CHECK(same_bytes(up.view(), all.view()));
                CHECK(same_bytes(down.view(), all.view()));
            }
        }
    }
}

TEST_CASE("equal streams give equal bytes and different samples differ everywhere") {
    for (const Scheme& scheme : nested_schemes()) {
        CAPTURE(scheme.text());
        const LoadedScheme loaded(scheme);
        const Matrix<double> first = columns(*loaded.sampler(150, 7), 100);
        CHECK(same_bytes(first.view(), columns(*loaded.sampler(150, 7), 100).view()));
        const Matrix<double> other = columns(*loaded.sampler(150, 8), 100);
        for (Index j = 0; j < first.cols(); ++j) {
            CHECK_FALSE(same_bytes(first.view().columns(j, j + 1), other.view().columns(j, j + 1)));
        }
    }
}

TEST_CASE("products with sparse and dense factors are those with the columns, and do not depend on the pieces") {
    const DefinitionBackend backend;
    for (const Scheme& scheme : schemes()) {
        const LoadedScheme loaded(scheme);
        for (const Index n : sizes) {
            CAPTURE(scheme.text());
            CAPTURE(n);
            const SparseMatrix d = sparse_factor(n);
            const Matrix<double> full = dense(d);
            const auto sampler = loaded.sampler(n, 2);
            Matrix<double> expected(d.rows, n);
            backend.multiply(1, Op::none, full.view(), Op::none, columns(*sampler, n).view(), 0, expected.view());

            Matrix<double> by_sparse(d.rows, n);
            Matrix<double> by_dense(d.rows, n);
            sampler->apply(d, {.query_dim = n, .begin = 0, .end = n}, by_sparse.view());
            sampler->apply(full.view(), backend, {.query_dim = n, .begin = 0, .end = n}, by_dense.view());
            CHECK(largest_difference(by_sparse.view(), expected.view()) < 1e-12);
            CHECK(largest_difference(by_dense.view(), expected.view()) < 1e-12);

            const auto pieces = loaded.sampler(n, 2);
            Matrix<double> sparse_pieces(d.rows, n);
            Matrix<double> dense_pieces(d.rows, n);
            for (Index begin = 0; begin < n; begin += 9) {
                const Index end = std::min(n, begin + 9);
                const ProjectionColumns c{.query_dim = n, .begin = begin, .end = end};
                pieces->apply(d, c, sparse_pieces.view().columns(begin, end));
                pieces->apply(full.view(), backend, c, dense_pieces.view().columns(begin, end));
            }
            CHECK(same_bytes(sparse_pieces.view(), by_sparse.view()));
            CHECK(same_bytes(dense_pieces.view(), by_dense.view()));
        }
    }
}

TEST_CASE("columns and a product asked for at once are the scaled ones asked for singly") {
    constexpr double scale = 0.75;
    const DefinitionBackend backend;
    for (const Scheme& scheme : schemes()) {
        const LoadedScheme loaded(scheme);
        for (const Index n : sizes) {
            CAPTURE(scheme.text());
            CAPTURE(n);
            const SparseMatrix d = sparse_factor(n);
            for (const Index begin : {Index{0}, n / 3}) {
                const ProjectionColumns c{.query_dim = n, .begin = begin, .end = n};
                Matrix<double> both_columns(n, c.count(), -1.0);  // what was there must not shine through
                Matrix<double> both_product(d.rows, c.count(), -1.0);
                loaded.sampler(n, 3)->columns_and_product(d, c, scale, both_columns.view(), both_product.view());
                Matrix<double> y(n, c.count());
                loaded.sampler(n, 3)->columns(c, y.view());
                std::transform(y.data(), y.data() + n * c.count(), y.data(), [](double x) { return scale * x; });
                CHECK(same_bytes(both_columns.view(), y.view()));
                Matrix<double> expected(d.rows, c.count());
                backend.multiply(1, Op::none, dense(d).view(), Op::none, std::as_const(y).view(), 0, expected.view());
                CHECK(largest_difference(both_product.view(), expected.view()) < 1e-12);
            }
        }
    }
}

TEST_CASE("orthogonal columns are orthonormal, and exact at m = n") {
    const LoadedScheme loaded({"orthogonal"});
    for (const Index n : sizes) {
        CAPTURE(n);
        const Matrix<double> q = columns(*loaded.sampler(n, 3), n);
        CHECK(distance_from_identity(1, Op::transpose, q.view()) < 1e-13);
        CHECK(distance_from_identity(1, Op::none, q.view()) < 1e-13);
        CHECK(loaded.sampler(n, 3)->scale(n) == 1);
        CHECK(loaded.traits(n).exact_from == n);
        CHECK(loaded.traits(n).largest_query_dim == n);
    }
}

TEST_CASE("orthogonal columns are those of the reflectors applied one by one") {
    constexpr Index n = 330;  // five blocks and a part of a sixth, more rows than a panel
    const core::PhiloxSource source;
    const RandomStream random = core::stream(source, 1, core::Purpose::embedding, 0, 4);
    std::vector<std::vector<double>> reflectors;  // in full length, with zeros in front
    for (Index j = 0; j < n; ++j) {
        std::vector<double> x(static_cast<std::size_t>(n));
        random.at(j).normals(0, std::span(x).subspan(static_cast<std::size_t>(j)));
        reflectors.push_back(x);
    }
    const Matrix<double> q = columns(*LoadedScheme({"orthogonal"}).sampler(n, 4), n);
    for (Index c = 0; c < n; ++c) {
        // -sgn(x_c0) H_0 ... H_c e_c with H = I - 2 v v^T / v^T v, v = x + sgn(x_0) |x| e_0.
        std::vector<double> column(static_cast<std::size_t>(n));
        const double lead = reflectors[static_cast<std::size_t>(c)][static_cast<std::size_t>(c)];
        column[static_cast<std::size_t>(c)] = lead > 0 ? -1 : 1;
        for (auto j = static_cast<std::size_t>(c) + 1; j-- > 0;) {
            std::vector<double> v = reflectors[j];
            const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
            v[j] += v[j] > 0 ? norm : -norm;
            const double factor = 2 * std::inner_product(v.begin(), v.end(), column.begin(), 0.0) /
                                  std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
            for (std::size_t i = 0; i < v.size(); ++i) {
                column[i] -= factor * v[i];
            }
        }
        const ConstMatrixView<double> expected{column.data(), n, 1, n};
        REQUIRE(largest_difference(q.view().columns(c, c + 1), expected) < 1e-13);
    }
}

TEST_CASE("structured columns are exact at m = N, also where rows are padded") {
    for (const Index blocks : {Index{1}, Index{2}, Index{3}}) {
        const LoadedScheme loaded({"structured", {{"blocks", blocks}}});
        for (const Index n : {Index{1}, Index{2}, Index{5}, Index{64}, Index{150}}) {
            CAPTURE(blocks);
            CAPTURE(n);
            const auto padded = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(n)));
            CHECK(loaded.traits(n).largest_query_dim == padded);
            CHECK(loaded.traits(n).exact_from == padded);
            const auto sampler = loaded.sampler(n, 5);
            const double scale = sampler->scale(padded);
            CHECK(distance_from_identity(scale * scale, Op::none, columns(*sampler, padded).view()) < 1e-13);
        }
    }
}

TEST_CASE("gaussian columns are the normals of the stream, one sequence each") {
    const core::PhiloxSource source;
    const RandomStream random = core::stream(source, 1, core::Purpose::embedding, 0, 6);
    const LoadedScheme loaded({"gaussian"});
    const Matrix<double> y = columns(*loaded.sampler(10, 6), 40);
    for (Index c = 0; c < y.cols(); ++c) {
        Matrix<double> expected(10, 1);
        random.at(c).normals(0, {expected.data(), 10});
        CHECK(same_bytes(y.view().columns(c, c + 1), expected.view()));
    }
    CHECK(loaded.sampler(10, 6)->scale(16) == 0.25);
    CHECK(loaded.traits(10).default_stop == 40);
    CHECK_FALSE(loaded.traits(10).largest_query_dim.has_value());
    CHECK_FALSE(loaded.traits(10).exact_from.has_value());
}

TEST_CASE("sparse samples have s signs in every row, in distinct columns, and are drawn anew for each m") {
    for (const Index nonzeros : {Index{1}, Index{4}, Index{40}}) {
        const LoadedScheme loaded({"sparse", {{"nonzeros", nonzeros}}});
        const auto sampler = loaded.sampler(330, 8);
        CHECK_FALSE(sampler->nested());
        for (const Index m : {Index{1}, Index{4}, Index{7}, Index{39}, Index{100}, Index{5000}}) {
            CAPTURE(nonzeros);
            CAPTURE(m);
            const Matrix<double> y = columns(*sampler, m);
            CHECK(same_bytes(y.view(), columns(*loaded.sampler(330, 8), m).view()));
            CHECK_FALSE(same_bytes(y.view(), columns(*loaded.sampler(330, 9), m).view()));
            const Index expected = std::min(nonzeros, m);
            CHECK(sampler->scale(m) == 1 / std::sqrt(static_cast<double>(expected)));
            for (Index i = 0; i < y.rows(); ++i) {
                Index signs = 0;
                for (Index j = 0; j < m; ++j) {
                    signs += std::abs(y(i, j)) == 1;
                    REQUIRE((y(i, j) == 0 || std::abs(y(i, j)) == 1));
                }
                REQUIRE(signs == expected);
            }
        }
        // Nothing of the sample for m is left in the one for m + 1: of 330 rows with one column each, all would agree.
        const Matrix<double> first = columns(*sampler, 100);
        const Matrix<double> second = columns(*sampler, 101);
        CHECK_FALSE(same_bytes(first.view(), second.view().columns(0, 100)));
    }
    CHECK(LoadedScheme({"sparse", {{"nonzeros", Index{1}}}}).traits(10).default_stop == 40);
}

TEST_CASE("every column of a sparse sample is chosen as often as any other, in every step of the choice") {
    // s = 3 of m = 5: each column is in a row with probability 3/5, each pair of columns with 3/10. 40000 rows; normal
    // quantile 4.9 for a false alarm of 1e-6 each.
    constexpr Index n = 40000;
    const LoadedScheme loaded({"sparse", {{"nonzeros", Index{3}}}});
    const auto sampler = loaded.sampler(n, 1);
    const Matrix<double> y = columns(*sampler, 5);
    const auto off = [](Index count, double p) {
        return std::abs(static_cast<double>(count) - n * p) / std::sqrt(n * p * (1 - p));
    };
    for (Index a = 0; a < 5; ++a) {
        for (Index b = a; b < 5; ++b) {
            Index both = 0;
            for (Index i = 0; i < n; ++i) {
                both += y(i, a) != 0 && y(i, b) != 0;
            }
            CHECK(off(both, a == b ? 0.6 : 0.3) < 4.9);
        }
        Index positive = 0;
        for (Index i = 0; i < n; ++i) {
            positive += y(i, a) > 0;
        }
        CHECK(off(positive, 0.3) < 4.9);
    }
}

TEST_CASE("each scheme says whether the chi-square tail of the bound holds") {
    CHECK(LoadedScheme({"gaussian"}).traits(8).chi_square_tail);
    CHECK(LoadedScheme({"orthogonal"}).traits(8).chi_square_tail);
    CHECK_FALSE(LoadedScheme({"structured", {{"blocks", Index{1}}}}).traits(8).chi_square_tail);
    CHECK_FALSE(LoadedScheme({"sparse", {{"nonzeros", Index{4}}}}).traits(8).chi_square_tail);
}

}  // namespace attnspan::test
