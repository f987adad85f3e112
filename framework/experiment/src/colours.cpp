#include "attnspan/experiment/colours.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace attnspan::experiment {
namespace {

struct Lab {
    double lightness;
    double a;
    double b;
};

using Linear = std::array<double, 3>;  // red, green, blue, proportional to light

Linear linear_of(const Lab& c) {
    const auto cube = [](double x) { return x * x * x; };
    const double l = cube(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b);
    const double m = cube(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b);
    const double s = cube(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool is_shown(const Linear& c) {
    return std::all_of(c.begin(), c.end(), [](double x) { return x >= 0 && x <= 1; });
}

io::Colour encoded(const Linear& c) {
    const auto byte = [](double x) {
        const double in_gamut = std::clamp(x, 0.0, 1.0);
        const double srgb = in_gamut <= 0.0031308 ? 12.92 * in_gamut : 1.055 * std::pow(in_gamut, 1 / 2.4) - 0.055;
        return static_cast<std::uint8_t>(std::lround(255 * srgb));
    };
    return {.red = byte(c[0]), .green = byte(c[1]), .blue = byte(c[2])};
}

/// The colour of this lightness and hue (degrees), with this chroma or as much of it as a screen can show.
io::Colour colour(double lightness, double chroma, double hue) {
    const double angle = hue * std::numbers::pi / 180;
    const auto with = [&](double c) { return linear_of({lightness, c * std::cos(angle), c * std::sin(angle)}); };
    double shown = 0;
    double beyond = chroma;
    for (int step = 0; step < 20 && !is_shown(with(beyond)); ++step) {
        const double middle = (shown + beyond) / 2;
        if (is_shown(with(middle))) {
            shown = middle;
        } else {
            beyond = middle;
        }
    }
    return encoded(with(is_shown(with(beyond)) ? beyond : shown));
}

}  // namespace

io::Colour sequential_colour(double t) {
    const double at = std::clamp(t, 0.0, 1.0);
    return colour(0.20 + 0.75 * at, 0.11, 300 - 190 * at);
}

io::Colour diverging_colour(double t) {
    const double at = std::clamp(t, -1.0, 1.0);
    return colour(0.97 - 0.55 * std::abs(at), 0.20 * std::abs(at), at < 0 ? 255 : 28);
}

double lightness(io::Colour c) {
    const auto linear = [](std::uint8_t byte) {
        const double srgb = byte / 255.0;
        return srgb <= 0.04045 ? srgb / 12.92 : std::pow((srgb + 0.055) / 1.055, 2.4);
    };
    const double r = linear(c.red);
    const double g = linear(c.green);
    const double b = linear(c.blue);
    const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

}  // namespace attnspan::experiment
