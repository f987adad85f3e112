#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "backend_fixtures.hpp"

using namespace attnspan;
using namespace attnspan::test;

namespace {

constexpr std::array<Op, 2> ops{Op::none, Op::transpose};

/// A random matrix whose view has unused rows above and below, so that its leading dimension exceeds its rows.
template <class T>
struct Embedded {
    Matrix<T> all;
    MatrixView<T> view;

    Embedded(Index rows, Index cols, unsigned seed)
        : all(random_matrix<T>(rows + 5, cols, seed)), view(all.view().row_block(2, rows + 2)) {}
};

/// c = alpha op(a) op(b) + beta c against the definition; an inner product of n terms below 1 in size errs by at most
/// about n * epsilon * (|alpha| n + |beta|) (Higham 2002, section 3.5).
template <class T>
void check_product(const Backend& backend, Op op_a, Op op_b, Index rows, Index inner, Index cols, T alpha, T beta) {
    CAPTURE(rows);
    CAPTURE(inner);
    CAPTURE(cols);
    CAPTURE(alpha);
    CAPTURE(beta);
    const Embedded<T> a(op_a == Op::none ? rows : inner, op_a == Op::none ? inner : rows, 1);
    const Embedded<T> b(op_b == Op::none ? inner : cols, op_b == Op::none ? cols : inner, 2);
    Embedded<T> c(rows, cols, 3);
    const Embedded<T> old(rows, cols, 3);
    if (beta == T(0)) {
        for (Index j = 0; j < cols; ++j) {
            std::fill_n(c.view.column(j), rows, std::numeric_limits<T>::quiet_NaN());
        }
    }
    Matrix<double> expected = reference_product<T>(op_a, a.view, op_b, b.view);
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            expected(i, j) = static_cast<double>(alpha) * expected(i, j) +
                             (beta == T(0) ? 0.0 : static_cast<double>(beta) * static_cast<double>(old.view(i, j)));
        }
    }

    backend.multiply(alpha, op_a, a.view, op_b, b.view, beta, c.view);

    const double n = static_cast<double>(inner) + 2;
    const double bound = n * static_cast<double>(std::numeric_limits<T>::epsilon()) *
                         (std::abs(static_cast<double>(alpha)) * n + std::abs(static_cast<double>(beta)));
    CHECK(largest_difference(c.view, expected.view()) <= bound);
    bool surroundings_untouched = true;
    for (Index j = 0; j < cols; ++j) {
        for (const Index i : {Index{0}, Index{1}, rows + 2, rows + 3, rows + 4}) {
            surroundings_untouched = surroundings_untouched && c.all(i, j) == old.all(i, j);
        }
    }
    CHECK(surroundings_untouched);
}

template <class T>
void check_every_product(const Backend& backend) {
    for (const Op op_a : ops) {
        for (const Op op_b : ops) {
            CAPTURE(op_a == Op::none);
            CAPTURE(op_b == Op::none);
            for (const Index n : {0, 1, 2, 3, 5, 17, 64, 130}) {
                check_product<T>(backend, op_a, op_b, n, n, n, T(1), T(0));
                check_product<T>(backend, op_a, op_b, n, 7, 3, T(-0.75), T(1));
                check_product<T>(backend, op_a, op_b, 4, n, 9, T(2), T(0.5));
                check_product<T>(backend, op_a, op_b, 33, 2, n, T(1), T(-1));
                check_product<T>(backend, op_a, op_b, n, 300, 1, T(0), T(2));
                check_product<T>(backend, op_a, op_b, 1, 300, n, T(1), T(0));
            }
        }
    }
}

}  // namespace

TEST_CASE("products agree with their definition for every operation, scale, stride and shape") {
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        check_every_product<double>(backend);
        check_every_product<float>(backend);
    }
}

TEST_CASE("products on four threads at once give the bytes of one thread alone") {
    const Matrix<double> a = random_matrix(300, 97, 1);
    const Matrix<double> b = random_matrix(128, 97, 2);
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        Matrix<double> alone(300, 128);
        backend.multiply(1.0, Op::none, a.view(), Op::transpose, b.view(), 0.0, alone.view());
        std::array<bool, 4> equal{};
        std::vector<std::thread> threads;
        for (bool& mine : equal) {
            threads.emplace_back([&] {
                mine = true;
                Matrix<double> c(300, 128);
                for (int round = 0; round < 20; ++round) {
                    backend.multiply(1.0, Op::none, a.view(), Op::transpose, b.view(), 0.0, c.view());
                    mine = mine && std::memcmp(c.data(), alone.data(), sizeof(double) * 300 * 128) == 0;
                }
            });
        }
        // A factorisation meanwhile may use more threads; the products must not.
        const Svd meanwhile = load_backend(tested.name == "eigen" ? PLUGIN_EIGEN : PLUGIN_ARMADILLO, 2)->svd(a.view());
        for (std::thread& thread : threads) {
            thread.join();
        }
        CHECK(meanwhile.sigma.size() == 97);
        CHECK(std::count(equal.begin(), equal.end(), true) == 4);
    }
}

TEST_CASE("shapes that do not fit are refused by name") {
    const Matrix<double> a(3, 4, 1.0);
    Matrix<double> c(3, 3);
    for (const NamedBackend& tested : both_backends()) {
        CAPTURE(tested.name);
        const Backend& backend = *tested.backend;
        CHECK_THROWS_WITH_AS(backend.multiply(1.0, Op::none, a.view(), Op::none, a.view(), 0.0, c.view()),
                             "product: 3 x 4 times 3 x 4 into 3 x 3", Error);
        CHECK_THROWS_WITH_AS((void)backend.symmetric_eigen(a.view()),
                             "symmetric eigenvalue decomposition: the matrix is 3 x 4, not square", Error);
        CHECK_THROWS_WITH_AS((void)backend.solve(c.view(), Matrix<double>(4, 1, 0.0).view()),
                             "linear solve: 3 x 3 against a right side of 4 x 1", Error);
    }
}

TEST_CASE("a back end names its library, its instruction set and its threads") {
    const auto backends = both_backends();
    const BackendInfo eigen = backends[0].backend->info();
    CHECK(eigen.library.starts_with("Eigen 3."));
    CHECK(eigen.threads == 1);
    const BackendInfo armadillo = backends[1].backend->info();
    CHECK(armadillo.library.starts_with("Armadillo "));
    CHECK(armadillo.library.find(" with OpenBLAS 0.") != std::string::npos);
    CHECK_FALSE(armadillo.instruction_set.empty());
    CHECK(armadillo.threads == 2);
}

TEST_CASE("a size beyond 32 bits is refused before OpenBLAS sees it") {
    const double one = 1;
    double c = 0;
    const ConstMatrixView<double> wide{&one, 1, 1, Index{1} << 31};
    CHECK_THROWS_WITH_AS(
        both_backends()[1].backend->multiply(1.0, Op::none, wide, Op::none, wide, 0.0, MatrixView<double>{&c, 1, 1, 1}),
        doctest::Contains("2147483648 exceeds the 32-bit integers"), Error);
}
