#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "attnspan/core/random.hpp"
#include "fwht.hpp"

namespace attnspan::test {
namespace {

/// One butterfly at a time, distances ascending: the definition, and the order of additions that the fast one keeps.
template <class T>
void transform_plainly(std::vector<T>& x) {
    for (std::size_t stride = 1; stride < x.size(); stride *= 2) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if ((i & stride) == 0) {
                const T sum = x[i] + x[i + stride];
                x[i + stride] = x[i] - x[i + stride];
                x[i] = sum;
            }
        }
    }
}

template <class T>
std::vector<T> normals(std::size_t size) {
    const core::PhiloxSource source;
    std::vector<double> x(size);
    core::stream(source, 3, core::Purpose::embedding).normals(0, x);
    return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE_TEMPLATE("the fast transform gives the bytes of the plain one at every size", T, float, double) {
    for (std::size_t size = 1; size <= (std::size_t{1} << 17); size *= 2) {
        CAPTURE(size);
        std::vector<T> plain = normals<T>(size);
        std::vector<T> fast = plain;
        transform_plainly(plain);
        walsh_hadamard(fast);
        CHECK(fast == plain);
    }
}

TEST_CASE("the transform of a unit vector is a column of the Hadamard matrix") {
    for (const std::size_t p : {std::size_t{0}, std::size_t{1}, std::size_t{77}, std::size_t{4095}}) {
        std::vector<double> x(4096);
        x[p] = 1;
        walsh_hadamard(x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            REQUIRE(x[i] == (std::popcount(i & p) % 2 == 0 ? 1.0 : -1.0));
        }
    }
}

}  // namespace attnspan::test
