#include "attnspan/experiment/heat_map.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "attnspan/experiment/colours.hpp"
#include "attnspan/experiment/terminal_map.hpp"

using namespace attnspan;
using experiment::HeatScale;
using runtime::HeatMaps;

namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

/// A causal 3 x 3 map: the last row has an entry of A that P misses by a half.
core::AttentionMaps example() {
    core::AttentionMaps maps{.queries = 3,
                             .keys = 3,
                             .target = Matrix<float>(3, 3, nothing),
                             .attention = Matrix<float>(3, 3, nothing),
                             .difference = Matrix<float>(3, 3, nothing)};
    for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j <= i; ++j) {
            maps.target(i, j) = i == j ? 1.0F : 0.0F;
            maps.attention(i, j) = i == j ? 0.5F : 0.25F;
            maps.difference(i, j) = maps.attention(i, j) - maps.target(i, j);
        }
    }
    return maps;
}

}  // namespace

TEST_CASE("the sequential colours grow lighter by even steps from first to last") {
    const int steps = 60;
    const double whole = experiment::lightness(experiment::sequential_colour(1)) -
                         experiment::lightness(experiment::sequential_colour(0));
    for (int i = 0; i < steps; ++i) {
        const double step = experiment::lightness(experiment::sequential_colour((i + 1.0) / steps)) -
                            experiment::lightness(experiment::sequential_colour(static_cast<double>(i) / steps));
        CHECK(step == doctest::Approx(whole / steps).epsilon(0.35));  // bytes round
    }
    CHECK(whole > 0.7);
}

TEST_CASE("the diverging colours are lightest at zero and as dark on both sides, blue below and red above") {
    for (const double t : {0.25, 0.5, 1.0}) {
        const io::Colour below = experiment::diverging_colour(-t);
        const io::Colour above = experiment::diverging_colour(t);
        CHECK(experiment::lightness(below) == doctest::Approx(experiment::lightness(above)).epsilon(0.02));
        CHECK(experiment::lightness(below) < experiment::lightness(experiment::diverging_colour(t / 2)));
        CHECK(below.blue > below.red);
        CHECK(above.red > above.blue);
    }
}

TEST_CASE("a logarithmic scale spans four decades below the largest entry, a linear one goes to zero") {
    const core::AttentionMaps maps = example();
    const HeatScale logarithmic(maps, HeatMaps::logarithmic);
    CHECK(logarithmic.position(1) == 1);
    CHECK(logarithmic.position(1e-2) == doctest::Approx(0.5));
    CHECK(logarithmic.position(1e-4) == doctest::Approx(0).epsilon(1e-9));
    CHECK(logarithmic.position(1e-9) == 0);
    CHECK(logarithmic.position(0) == 0);
    const HeatScale linear(maps, HeatMaps::linear);
    CHECK(linear.position(0.25) == 0.25);
    CHECK(linear.position(2) == 1);
}

TEST_CASE("the picture shows A, P and P - A from left to right, each cell a square") {
    const core::AttentionMaps maps = example();
    const HeatScale scale(maps, HeatMaps::linear);
    const Index pixels = 32;  // ten a cell
    const io::Image image = experiment::heat_maps_image(maps, scale, pixels);
    const auto colour = [&](Index panel, Index i, Index j, Index inside) {
        const Index gap = (image.width - 90) / 4;
        return image.at(gap + panel * (30 + gap) + 10 * j + inside, gap + 10 * i + inside);
    };
    for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 3; ++j) {
            for (const Index inside : {Index{0}, Index{9}}) {
                CHECK(colour(0, i, j, inside) == scale.weight(static_cast<double>(maps.target(i, j))));
                CHECK(colour(1, i, j, inside) == scale.weight(static_cast<double>(maps.attention(i, j))));
                CHECK(colour(2, i, j, inside) == scale.difference(static_cast<double>(maps.difference(i, j))));
            }
        }
    }
    CHECK(scale.weight(0) != scale.weight(std::nan("")));
    CHECK(image.palette.size() <= 256);
}

TEST_CASE("without colours a terminal shows denser characters for larger entries and blanks for invisible pairs") {
    const core::AttentionMaps maps = example();
    std::ostringstream out;
    experiment::draw_in_terminal(out, maps, HeatScale(maps, HeatMaps::linear), 80, experiment::TerminalColours::none);
    CHECK(out.str() ==
          "  A    P\n"
          "  @    +  \n"
          "  .@   -+ \n"
          "  ..@  --+\n"
          "  linear, from 0 to 1\n");
}

TEST_CASE("with colours two rows share a line, and the colours end with it") {
    const core::AttentionMaps maps = example();
    for (const auto& [colours, code] : {std::pair{experiment::TerminalColours::rgb, "38;2;"},
                                        std::pair{experiment::TerminalColours::indexed_256, "38;5;"}}) {
        std::ostringstream out;
        experiment::draw_in_terminal(out, maps, HeatScale(maps, HeatMaps::linear), 80, colours);
        const std::string text = out.str();
        CHECK(std::count(text.begin(), text.end(), '\n') == 4);  // heading, two lines, the scale
        CHECK(text.find(code) != std::string::npos);
        for (std::size_t at = text.find('\n', text.find('\n') + 1); text[at - 1] == 'm'; at = text.find('\n', at + 1)) {
            CHECK(text.substr(at - 4, 4) == "\x1b[0m");
        }
    }
}
