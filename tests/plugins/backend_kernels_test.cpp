#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "backend_fixtures.hpp"
#include "dense/kernels.hpp"

using namespace attnspan;
using namespace attnspan::test;

TEST_CASE("the kernels chosen are the best of those this processor supports") {
    const auto supported = dense::supported_kernels();
    REQUIRE_FALSE(supported.empty());
    CHECK(&dense::kernels() == supported.front());
#if defined(__x86_64__)
    CHECK(std::string(supported.back()->instruction_set) == "sse2");
    CHECK((supported.size() == 3) == bool(__builtin_cpu_supports("avx512bw")));
#endif
}

TEST_CASE("every instruction set gives the same answers to rounding") {
    const Matrix<double> a = random_matrix(70, 45, 1);
    const Matrix<double> b = random_matrix(70, 33, 2);
    const Matrix<double> square = random_matrix(45, 45, 3);
    for (const dense::Kernels* k : dense::supported_kernels()) {
        CAPTURE(k->instruction_set);
        Matrix<double> c(45, 33);
        k->multiply_f64(1, Op::transpose, a.view(), Op::none, b.view(), 0, c.view());
        CHECK(largest_difference(c.view(), reference_product(Op::transpose, a.view(), Op::none, b.view()).view()) <
              1e-13);
        const Svd svd = k->svd(a.view());
        CHECK(orthogonality_error(svd.u) < 1e-13);
        CHECK(orthogonality_error(svd.v) < 1e-13);
        const Svd first = dense::kernels().svd(a.view());
        for (std::size_t i = 0; i < svd.sigma.size(); ++i) {
            CHECK(svd.sigma[i] == doctest::Approx(first.sigma[i]).epsilon(1e-13));
        }
        const Matrix<double> x = k->solve(square.view(), c.view());
        CHECK(largest_difference(reference_product(Op::none, square.view(), Op::none, x.view()).view(), c.view()) <
              1e-11);
    }
}
