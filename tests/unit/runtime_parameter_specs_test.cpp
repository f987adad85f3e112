#include <doctest/doctest.h>

#include <limits>

#include "attnspan/runtime/parameter_specs.hpp"
#include "loader_support.hpp"

using namespace attnspan;
using namespace attnspan::parameter;
using attnspan::runtime::specs_problem;
using attnspan::runtime::value_problem;

TEST_CASE("a value is judged by type, range and choices") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const ParameterSpec open = real("x", "").above(0).at_most(1);
    CHECK(value_problem(open, 0.5).empty());
    CHECK(value_problem(open, 1.0).empty());
    CHECK(value_problem(open, 0.0) == "is 0, must be above 0");
    CHECK(value_problem(open, 1.5) == "is 1.5, must be at most 1");
    CHECK(value_problem(open, nan) == "is nan, must be finite");
    CHECK(value_problem(open, Index{1}) == "is an integer, not a number");
    CHECK(value_problem(integer("n", "").at_least(1), Index{0}) == "is 0, must be at least 1");
    CHECK(value_problem(integer("n", ""), true) == "is a boolean, not an integer");
    CHECK(value_problem(boolean("b", ""), {}) == "is nothing, not a boolean");
    CHECK(value_problem(path("p", ""), "a/b").empty());
    CHECK(value_problem(choice("c", {"grid", "bisect"}, ""), "bisect").empty());
    CHECK(value_problem(choice("c", {"grid", "bisect"}, ""), "walk") == "is \"walk\", must be one of grid, bisect");
    const ParameterSpec list = integers("l", "").at_least(0);
    CHECK(value_problem(list, std::vector<Index>{0, 3}).empty());
    CHECK(value_problem(list, std::vector<Index>{0, -3}) == "has an element that is -3, must be at least 0");
}

TEST_CASE("a sane declaration has no problem") {
    CHECK(specs_problem({}, true).empty());
    CHECK(specs_problem({integer("length", "").required().at_least(1), real("scale", "").defaults_to(1.0),
                         choice("how", {"a", "b"}, "").defaults_to("b"), path("file", ""), integer("keep.top", ""),
                         real("keep.above", ""), boolean("keep-all", "").defaults_to(false)},
                        false)
              .empty());
    CHECK(specs_problem({text("projection", "")}, false).empty());
}

TEST_CASE("a declaration that no configuration could satisfy is refused, naming the parameter") {
    struct Case {
        ParameterSpecs specs;
        const char* problem;
    };
    const std::vector<Case> cases = {
        {{text("a", ""), text("a", "")}, "parameter \"a\" is declared twice"},
        {{text("", "")}, "parameter \"\" has no name"},
        {{text("two words", "")}, "no name that TOML takes"},
        {{text("a..b", "")}, "no name that TOML takes"},
        {{text("plugin", "")}, "takes the key \"plugin\""},
        {{text("projection.r", "")}, "takes the key \"projection\""},
        {{text("keep", ""), integer("keep.top", "")}, "parameter \"keep\" is also the table of \"keep.*\""},
        {{integer("n", "").at_least(2).at_most(1)}, "empty range from 2 to 1"},
        {{real("x", "").above(1).at_most(1)}, "empty range from 1 to 1"},
        {{choice("c", {}, "")}, "is a choice without choices"},
        {{choice("c", {"a", "a"}, "")}, "has a choice twice among a, a"},
        {{{.name = "t", .type = ParameterType::text, .help = "", .choices = {"a"}}}, "has choices but is no choice"},
        {{integer("n", "").required().defaults_to(1)}, "is required and has a default"},
        {{real("x", "").defaults_to(1)}, "has a default that is an integer, not a number"},
        {{integer("n", "").at_least(1).defaults_to(0)}, "has a default that is 0, must be at least 1"},
        {{choice("c", {"a"}, "").defaults_to("b")}, "has a default that is \"b\", must be one of a"},
    };
    for (const Case& c : cases) {
        const std::string problem = specs_problem(c.specs, true);
        CHECK_MESSAGE(loader_test::contains(problem, c.problem), problem);
    }
}
