#include "attnspan/experiment/terminal_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>

namespace attnspan::experiment {
namespace {

/// A grid of at most `side` x `side` cells, each the largest of those it covers.
Matrix<float> reduced(const Matrix<float>& grid, Index side) {
    const Index rows = std::min(side, grid.rows());
    const Index cols = std::min(side, grid.cols());
    Matrix<float> out(rows, cols, std::numeric_limits<float>::quiet_NaN());
    for (Index c = 0; c < grid.cols(); ++c) {
        for (Index r = 0; r < grid.rows(); ++r) {
            float& cell = out(r * rows / grid.rows(), c * cols / grid.cols());
            if (!(cell >= grid(r, c))) {
                cell = grid(r, c);
            }
        }
    }
    return out;
}

/// The nearest colour of the 6 x 6 x 6 cube of 256-colour terminals.
int cube_index(io::Colour c) {
    const auto level = [](std::uint8_t byte) { return byte < 48 ? 0 : byte < 115 ? 1 : (byte - 35) / 40; };
    return 16 + 36 * level(c.red) + 6 * level(c.green) + level(c.blue);
}

std::string paint(io::Colour colour, bool background, TerminalColours colours) {
    const int layer = background ? 48 : 38;
    if (colours == TerminalColours::rgb) {
        return fmt::format("\x1b[{};2;{};{};{}m", layer, colour.red, colour.green, colour.blue);
    }
    return fmt::format("\x1b[{};5;{}m", layer, cube_index(colour));
}

std::string coloured_line(const Matrix<float>& grid, Index row, const HeatScale& scale, TerminalColours colours) {
    constexpr std::string_view upper_half = "\u2580";
    std::string out;
    for (Index c = 0; c < grid.cols(); ++c) {
        const auto colour = [&](Index r) { return scale.palette()[scale.weight(static_cast<double>(grid(r, c)))]; };
        out += paint(colour(row), false, colours);
        if (row + 1 < grid.rows()) {
            out += paint(colour(row + 1), true, colours);
        }
        out += upper_half;
    }
    return out + "\x1b[0m";
}

std::string plain_line(const Matrix<float>& grid, Index row, const HeatScale& scale) {
    constexpr std::string_view ramp = ".:-=+*#%@";
    std::string out;
    for (Index c = 0; c < grid.cols(); ++c) {
        const auto value = static_cast<double>(grid(row, c));
        const double position = std::isnan(value) ? 0.0 : scale.position(value);
        const auto last = static_cast<double>(ramp.size() - 1);
        out += std::isnan(value) ? ' ' : ramp[static_cast<std::size_t>(std::lround(position * last))];
    }
    return out;
}

}  // namespace

void draw_in_terminal(std::ostream& out, const core::AttentionMaps& maps, const HeatScale& scale, Index columns,
                      TerminalColours colours) {
    constexpr Index margin = 2;
    constexpr Index largest_side = 64;
    const Index side = std::clamp<Index>((columns - 3 * margin) / 2, 1, largest_side);
    const Matrix<float> a = reduced(maps.target, side);
    const Matrix<float> p = reduced(maps.attention, side);
    const bool plain = colours == TerminalColours::none;
    const std::string space(margin, ' ');
    out << space << fmt::format("{:<{}}{}P\n", "A", a.cols(), space);
    for (Index r = 0; r < a.rows(); r += plain ? 1 : 2) {
        out << space << (plain ? plain_line(a, r, scale) : coloured_line(a, r, scale, colours)) << space
            << (plain ? plain_line(p, r, scale) : coloured_line(p, r, scale, colours)) << '\n';
    }
    out << space << scale.description() << '\n';
}

}  // namespace attnspan::experiment
