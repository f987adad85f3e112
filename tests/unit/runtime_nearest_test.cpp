#include <doctest/doctest.h>

#include <vector>

#include "attnspan/runtime/nearest.hpp"

using attnspan::runtime::nearest;

TEST_CASE("the nearest word is the one with the fewest edits, the first among equals") {
    const std::vector<std::string> known = {"bidirectional", "causal", "sliding-window", "prefix", "k", "m"};
    CHECK(nearest("causal", known) == "causal");
    CHECK(nearest("casual", known) == "causal");  // one swap
    CHECK(nearest("causl", known) == "causal");   // one deletion
    CHECK(nearest("caussal", known) == "causal");
    CHECK(nearest("sliding_window", known) == "sliding-window");
    CHECK(nearest("bidirektionl", known) == "bidirectional");
    CHECK(nearest("ab", std::vector<std::string>{"ac", "ad"}) == "ac");
    CHECK(nearest("abcd", std::vector<std::string>{"abxy", "abc"}) == "abc");
}

TEST_CASE("a word that resembles nothing has no nearest word") {
    const std::vector<std::string> known = {"bidirectional", "causal", "k"};
    CHECK_FALSE(nearest("orthogonal", known));
    CHECK_FALSE(nearest("m", known));  // one letter, and it differs
    CHECK_FALSE(nearest("", known));
    CHECK_FALSE(nearest("causal", {}));
}
