#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attnspan/core/attention_maps.hpp"
#include "attnspan/io/png.hpp"
#include "attnspan/runtime/config.hpp"

namespace attnspan::experiment {

/// From entries of A, P and P - A to colours of one palette; one scale for all three, so that equal colours mean equal
/// numbers.
class HeatScale {
public:
    /// For maps whose largest entry has the last colour. Logarithmic scales end `decades` below it.
    HeatScale(const core::AttentionMaps& maps, runtime::HeatMaps scale);

    using Index8 = std::uint8_t;
    /// Where the palette has the colour of an entry of A or P, or of P - A; NaN (invisible) has a colour of its own.
    [[nodiscard]] Index8 weight(double value) const;
    [[nodiscard]] Index8 difference(double value) const;
    /// The same for a position in [0, 1] or, of differences, in [-1, 1].
    [[nodiscard]] static Index8 weight_at(double position);
    [[nodiscard]] static Index8 difference_at(double position);
    /// Begins with white, for the paper.
    [[nodiscard]] const std::vector<io::Colour>& palette() const { return palette_; }
    /// Where a value >= 0 stands on the scale, from 0 to 1.
    [[nodiscard]] double position(double value) const;
    [[nodiscard]] double largest() const { return largest_; }
    /// What the colours mean, in a sentence.
    [[nodiscard]] std::string description() const;

    static constexpr double decades = 4;

private:
    std::vector<io::Colour> palette_;  ///< paper, invisible, weights, differences
    double largest_ = 1;
    bool logarithmic_;
};

/// A, P and P - A side by side, in this order, with a colour bar below each (A, P: from 0 to the largest entry; P - A:
/// from minus to plus that). Small maps are enlarged by whole factors up to `pixels` a side.
[[nodiscard]] io::Image heat_maps_image(const core::AttentionMaps& maps, const HeatScale& scale, Index pixels);

}  // namespace attnspan::experiment
