#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "backend_fixtures.hpp"

using namespace attnspan;
using namespace attnspan::test;

namespace {

struct NamedMatrix {
    std::string name;
    Matrix<double> matrix;
};

Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
    return reference_product(Op::none, a.view(), Op::none, b.view());
}

/// m with column j multiplied by factors[j].
template <class Factors>
Matrix<double> scaled_columns(const Matrix<double>& m, const Factors& factors) {
    Matrix<double> scaled(m.rows(), static_cast<Index>(factors.size()));
    for (Index j = 0; j < scaled.cols(); ++j) {
        for (Index i = 0; i < m.rows(); ++i) {
            scaled(i, j) = m(i, j) * factors[static_cast<std::size_t>(j)];
        }
    }
    return scaled;
}

double largest_entry(const Matrix<double>& m) {
    return largest_difference(m.view(), Matrix<double>(m.rows(), m.cols(), 0.0).view());
}

/// What an error of a decomposition of `m` may be: 1e-12 relative to its size.
double tolerance(const Matrix<double>& m) {
    return 1e-12 * std::max<double>(1, static_cast<double>(std::max(m.rows(), m.cols()))) * largest_entry(m);
}

std::vector<NamedMatrix> rectangles() {
    std::vector<NamedMatrix> list;
    for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{
             {1, 1}, {1, 6}, {6, 1}, {2, 2}, {3, 5}, {5, 3}, {17, 17}, {40, 9}, {9, 40}, {130, 64}, {64, 130}}) {
        list.push_back({std::to_string(rows) + " x " + std::to_string(cols), random_matrix(rows, cols, 7)});
    }
    list.push_back({"zero", Matrix<double>(6, 4, 0.0)});
    list.push_back({"rank two", product(random_matrix(30, 2, 1), random_matrix(2, 20, 2))});
    // Equal and vanishing singular values, where Eigen's own divide and conquer fails; sparse targets are like this.
    for (const Index n : {25, 100, 200}) {
        list.push_back({"all ones " + std::to_string(n), Matrix<double>(n, n, 1.0)});
    }
    list.push_back({"identity", eye(32)});
    for (const Index n : {64, 256}) {
        std::mt19937 generator(5);
        list.push_back({"one entry per row " + std::to_string(n), Matrix<double>(n, n, 0.0)});
        for (Index i = 0; i < n; ++i) {
            list.back().matrix(i, static_cast<Index>(generator()) % n) = 3;
        }
    }
    list.push_back({"graded", random_matrix(60, 40, 8)});
    Matrix<double>& graded = list.back().matrix;
    for (Index j = 0; j < 40; ++j) {
        for (Index i = 0; i < 60; ++i) {
            graded(i, j) *= std::pow(10.0, -0.5 * static_cast<double>(j));
        }
    }
    list.push_back({"tiny", scaled_columns(random_matrix(8, 8, 4), std::vector<double>(8, 1e-150))});
    list.push_back({"huge", scaled_columns(random_matrix(8, 8, 4), std::vector<double>(8, 1e150))});
    return list;
}

std::vector<NamedMatrix> symmetric() {
    std::vector<NamedMatrix> list;
    for (const Index n : {1, 2, 3, 17, 64, 130}) {
        const Matrix<double> half = random_matrix(n, n, 9);
        list.push_back({"indefinite " + std::to_string(n), product(eye(n), half)});
        Matrix<double>& m = list.back().matrix;
        for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < j; ++i) {
                m(i, j) = m(j, i);
            }
        }
    }
    list.push_back({"zero", Matrix<double>(5, 5, 0.0)});
    list.push_back({"all ones", Matrix<double>(40, 40, 1.0)});
    list.push_back({"identity", eye(40)});
    return list;
}

}  // namespace

TEST_CASE("a singular value decomposition has orthogonal factors, descending values, and gives the matrix back") {
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        for (const NamedMatrix& example : rectangles()) {
            CAPTURE(example.name);
            const Matrix<double>& a = example.matrix;
            const Svd svd = backend.svd(a.view());
            const Index least = std::min(a.rows(), a.cols());
            REQUIRE(svd.u.rows() == a.rows());
            REQUIRE(svd.u.cols() == a.rows());
            REQUIRE(svd.v.rows() == a.cols());
            REQUIRE(svd.v.cols() == a.cols());
            REQUIRE(static_cast<Index>(svd.sigma.size()) == least);
            CHECK(std::is_sorted(svd.sigma.rbegin(), svd.sigma.rend()));
            CHECK(svd.sigma.back() >= 0);
            CHECK(orthogonality_error(svd.u) < 1e-12);
            CHECK(orthogonality_error(svd.v) < 1e-12);
            const Matrix<double> back =
                reference_product<double>(Op::none, scaled_columns(svd.u, svd.sigma).view(), Op::transpose,
                                          std::as_const(svd.v).view().columns(0, least));
            CHECK(largest_difference(back.view(), a.view()) <= tolerance(a));
        }
    }
}

TEST_CASE("an empty matrix has no singular values and orthogonal factors") {
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 4}, {4, 0}}) {
            const Svd svd = backend.svd(Matrix<double>(rows, cols).view());
            CHECK(svd.sigma.empty());
            CHECK(svd.u.rows() == rows);
            CHECK(svd.v.rows() == cols);
            CHECK(orthogonality_error(svd.u) == 0);
            CHECK(orthogonality_error(svd.v) == 0);
            const Qr qr = backend.qr(Matrix<double>(rows, cols).view());
            CHECK(qr.q.rows() == rows);
            CHECK(qr.q.cols() == 0);
            CHECK(qr.r.rows() == 0);
            CHECK(qr.r.cols() == cols);
        }
        CHECK(backend.symmetric_eigen({}).values.empty());
        CHECK(backend.solve({}, Matrix<double>(0, 3).view()).cols() == 3);
        CHECK(backend.solve(eye(3).view(), Matrix<double>(3, 0).view()).rows() == 3);
    }
}

TEST_CASE("the singular values of a matrix of known spectrum are that spectrum") {
    // The second-difference matrix tridiag(-1, 2, -1): 2 - 2 cos(pi j / (n + 1)), j = 1 ... n.
    const Index n = 60;
    Matrix<double> a(n, n, 0.0);
    for (Index i = 0; i < n; ++i) {
        a(i, i) = 2;
        if (i > 0) {
            a(i, i - 1) = a(i - 1, i) = -1;
        }
    }
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        const Svd svd = backend.svd(a.view());
        const SymmetricEigen eigen = backend.symmetric_eigen(a.view());
        for (Index j = 1; j <= n; ++j) {
            const double expected =
                2 - 2 * std::cos(std::acos(-1.0) * static_cast<double>(j) / static_cast<double>(n + 1));
            CHECK(std::abs(eigen.values[static_cast<std::size_t>(j - 1)] - expected) < 1e-13);
            CHECK(std::abs(svd.sigma[static_cast<std::size_t>(n - j)] - expected) < 1e-13);
        }
    }
}

TEST_CASE("a symmetric eigenvalue decomposition is orthogonal, ascending, and gives the matrix back") {
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        for (const NamedMatrix& example : symmetric()) {
            CAPTURE(example.name);
            const Matrix<double>& a = example.matrix;
            const SymmetricEigen eigen = backend.symmetric_eigen(a.view());
            REQUIRE(static_cast<Index>(eigen.values.size()) == a.rows());
            CHECK(std::is_sorted(eigen.values.begin(), eigen.values.end()));
            CHECK(orthogonality_error(eigen.vectors) < 1e-12);
            const Matrix<double> back = reference_product<double>(
                Op::none, scaled_columns(eigen.vectors, eigen.values).view(), Op::transpose, eigen.vectors.view());
            CHECK(largest_difference(back.view(), a.view()) <= tolerance(a));
        }
    }
}

TEST_CASE("only the lower triangle of a symmetric matrix is read") {
    Matrix<double> a = random_matrix(20, 20, 3);
    Matrix<double> mirrored = random_matrix(20, 20, 3);
    for (Index j = 0; j < 20; ++j) {
        for (Index i = 0; i < j; ++i) {
            a(i, j) = 1000;
            mirrored(i, j) = mirrored(j, i);
        }
    }
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        CHECK(backend.symmetric_eigen(a.view()).values == backend.symmetric_eigen(mirrored.view()).values);
    }
}

TEST_CASE("a QR decomposition has orthonormal columns, a triangle, and gives the matrix back") {
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        for (const NamedMatrix& example : rectangles()) {
            CAPTURE(example.name);
            const Matrix<double>& a = example.matrix;
            const Qr qr = backend.qr(a.view());
            REQUIRE(qr.q.cols() == std::min(a.rows(), a.cols()));
            CHECK(orthogonality_error(qr.q) < 1e-12);
            CHECK(largest_difference(product(qr.q, qr.r).view(), a.view()) <= tolerance(a));
            bool triangular = true;
            for (Index j = 0; j < qr.r.cols(); ++j) {
                for (Index i = j + 1; i < qr.r.rows(); ++i) {
                    triangular = triangular && qr.r(i, j) == 0;
                }
            }
            CHECK(triangular);
        }
    }
}

TEST_CASE("a linear solve solves, also through a pivot that is zero at first") {
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        for (const Index n : {1, 2, 17, 130}) {
            Matrix<double> a = random_matrix(n, n, 5);
            a(0, 0) = n == 1 ? 3 : 0;
            const Matrix<double> b = random_matrix(n, 4, 6);
            const Matrix<double> x = backend.solve(a.view(), b.view());
            CHECK(largest_difference(product(a, x).view(), b.view()) <
                  1e-12 * static_cast<double>(n) * (1 + largest_entry(x)));
        }
    }
}

TEST_CASE("a singular matrix is refused as bad data") {
    const auto refused = [](const Backend& backend, const Matrix<double>& a) {
        try {
            (void)backend.solve(a.view(), Matrix<double>(a.rows(), 1, 1.0).view());
        } catch (const Error& e) {
            return e.kind() == ErrorKind::data && std::string(e.what()).find("singular") != std::string::npos;
        }
        return false;
    };
    Matrix<double> hilbert(14, 14);  // condition number about 1e18 (Higham 2002, section 28.1)
    for (Index j = 0; j < 14; ++j) {
        for (Index i = 0; i < 14; ++i) {
            hilbert(i, j) = 1 / static_cast<double>(i + j + 1);
        }
    }
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        CHECK(refused(backend, Matrix<double>(1, 1, 0.0)));
        CHECK(refused(backend, Matrix<double>(3, 3, 0.0)));
        CHECK(refused(backend, Matrix<double>(5, 5, 1.0)));
        CHECK(refused(backend, product(random_matrix(20, 19, 1), random_matrix(19, 20, 2))));
        CHECK(refused(backend, hilbert));
    }
}

TEST_CASE("an entry that is not finite is refused with its place before any library sees it") {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Matrix<double> a = random_matrix(4, 4, 1);
        a(2, 1) = bad;
        const Matrix<double> good = eye(4);
        for (const NamedBackend& tested : both_backends()) {
            CAPTURE(tested.name);
            const Backend& backend = *tested.backend;
            const auto place = doctest::Contains("entry (2, 1) of the 4 x 4 matrix is not finite");
            CHECK_THROWS_WITH_AS((void)backend.svd(a.view()), place, Error);
            CHECK_THROWS_WITH_AS((void)backend.symmetric_eigen(a.view()), place, Error);
            CHECK_THROWS_WITH_AS((void)backend.qr(a.view()), place, Error);
            CHECK_THROWS_WITH_AS((void)backend.solve(a.view(), good.view()), place, Error);
            CHECK_THROWS_WITH_AS((void)backend.solve(good.view(), a.view()), place, Error);
        }
    }
}

// Also the check of OpenBLAS itself: older versions compute wrong results on some processors younger than they are.
TEST_CASE("the two back ends agree on what is unique") {
    const auto backends = both_backends();
    const Backend& eigen = *backends[0].backend;
    const Backend& armadillo = *backends[1].backend;
    const Matrix<double> a = random_matrix(300, 300, 11);
    const double scale = 1e-12 * eigen.svd(a.view()).sigma.front();

    Matrix<double> products[2]{Matrix<double>(300, 300), Matrix<double>(300, 300)};
    eigen.multiply(1.0, Op::none, a.view(), Op::transpose, a.view(), 0.0, products[0].view());
    armadillo.multiply(1.0, Op::none, a.view(), Op::transpose, a.view(), 0.0, products[1].view());
    CHECK(largest_difference(products[0].view(), products[1].view()) < 1e-12);

    const auto agree = [](const std::vector<double>& x, const std::vector<double>& y, double within) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [&](double p, double q) { return std::abs(p - q) <= within; });
    };
    CHECK(agree(eigen.svd(a.view()).sigma, armadillo.svd(a.view()).sigma, scale));
    CHECK(agree(eigen.symmetric_eigen(a.view()).values, armadillo.symmetric_eigen(a.view()).values, scale));

    // The diagonal of R is unique up to signs.
    const Qr qr[2]{eigen.qr(a.view()), armadillo.qr(a.view())};
    std::vector<double> diagonal[2];
    for (std::size_t side = 0; side < 2; ++side) {
        for (Index i = 0; i < 300; ++i) {
            diagonal[side].push_back(std::abs(qr[side].r(i, i)));
        }
    }
    CHECK(agree(diagonal[0], diagonal[1], scale));

    const Matrix<double> b = random_matrix(300, 3, 12);
    const Matrix<double> x[2]{eigen.solve(a.view(), b.view()), armadillo.solve(a.view(), b.view())};
    CHECK(largest_difference(x[0].view(), x[1].view()) < 1e-9 * largest_entry(x[0]));
}
