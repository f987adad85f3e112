#include "attnspan/experiment/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attnspan/experiment/colours.hpp"

namespace attnspan::experiment {
namespace {

constexpr Index gap = 12;
constexpr Index bar_height = 10;
constexpr int last_level = 120;  // twice the levels, paper and invisible pairs fit a palette
constexpr HeatScale::Index8 invisible = 1;
constexpr HeatScale::Index8 first_weight = 2;
constexpr HeatScale::Index8 first_difference = first_weight + last_level + 1;

double largest_of(const Matrix<float>& grid) {
    double largest = 0;
    for (Index c = 0; c < grid.cols(); ++c) {
        for (Index r = 0; r < grid.rows(); ++r) {
            largest = std::max(largest, std::isnan(grid(r, c)) ? 0.0 : static_cast<double>(grid(r, c)));
        }
    }
    return largest;
}

/// Draws the grid with its upper left corner at (left, top), each cell as a square of `zoom` pixels.
template <class ColourOf>
void draw(io::Image& image, Index left, Index top, const Matrix<float>& grid, Index zoom, const ColourOf& colour_of) {
    for (Index r = 0; r < grid.rows(); ++r) {
        for (Index c = 0; c < grid.cols(); ++c) {
            const HeatScale::Index8 colour = colour_of(static_cast<double>(grid(r, c)));
            for (Index y = 0; y < zoom; ++y) {
                for (Index x = 0; x < zoom; ++x) {
                    image.at(left + c * zoom + x, top + r * zoom + y) = colour;
                }
            }
        }
    }
}

}  // namespace

HeatScale::HeatScale(const core::AttentionMaps& maps, runtime::HeatMaps scale)
    : logarithmic_(scale == runtime::HeatMaps::logarithmic) {
    const double largest = std::max(largest_of(maps.target), largest_of(maps.attention));
    largest_ = largest > 0 ? largest : 1;
    palette_ = {{.red = 255, .green = 255, .blue = 255}, {.red = 150, .green = 150, .blue = 150}};
    for (int level = 0; level <= last_level; ++level) {
        palette_.push_back(sequential_colour(static_cast<double>(level) / last_level));
    }
    for (int level = 0; level <= last_level; ++level) {
        palette_.push_back(diverging_colour(2.0 * level / last_level - 1));
    }
}

HeatScale::Index8 HeatScale::weight_at(double position) {
    return static_cast<Index8>(first_weight + std::lround(position * last_level));
}

HeatScale::Index8 HeatScale::difference_at(double position) {
    return static_cast<Index8>(first_difference + std::lround((position + 1) / 2 * last_level));
}

double HeatScale::position(double value) const {
    const double relative = value / largest_;
    if (!logarithmic_) {
        return std::clamp(relative, 0.0, 1.0);
    }
    return relative > 0 ? std::clamp(1 + std::log10(relative) / decades, 0.0, 1.0) : 0.0;
}

HeatScale::Index8 HeatScale::weight(double value) const {
    return std::isnan(value) ? invisible : weight_at(position(value));
}

HeatScale::Index8 HeatScale::difference(double value) const {
    return std::isnan(value) ? invisible : difference_at(std::copysign(position(std::abs(value)), value));
}

std::string HeatScale::description() const {
    return logarithmic_ ? fmt::format("logarithmic, from {:.3g} or less to {:.3g}", largest_ * std::pow(10.0, -decades),
                                      largest_)
                        : fmt::format("linear, from 0 to {:.3g}", largest_);
}

io::Image heat_maps_image(const core::AttentionMaps& maps, const HeatScale& scale, Index pixels) {
    const Index zoom = std::max<Index>(1, pixels / std::max(maps.target.rows(), maps.target.cols()));
    const Index width = zoom * maps.target.cols();
    const Index height = zoom * maps.target.rows();
    io::Image image(3 * width + 4 * gap, height + bar_height + 3 * gap, scale.palette());
    const auto left = [&](Index panel) { return gap + panel * (width + gap); };
    const auto weight = [&](double value) { return scale.weight(value); };
    draw(image, left(0), gap, maps.target, zoom, weight);
    draw(image, left(1), gap, maps.attention, zoom, weight);
    draw(image, left(2), gap, maps.difference, zoom, [&](double value) { return scale.difference(value); });
    for (Index x = 0; x < width; ++x) {
        const double at = width > 1 ? static_cast<double>(x) / static_cast<double>(width - 1) : 1.0;
        for (Index y = height + 2 * gap; y < height + 2 * gap + bar_height; ++y) {
            image.at(left(0) + x, y) = image.at(left(1) + x, y) = HeatScale::weight_at(at);
            image.at(left(2) + x, y) = HeatScale::difference_at(2 * at - 1);
        }
    }
    return image;
}

}  // namespace attnspan::experiment
