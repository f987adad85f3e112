#pragma once

#include "attnspan/io/png.hpp"

namespace attnspan::experiment {

/// Perceptually uniform colours, made as even steps of lightness in OKLab, inside sRGB. Source: Bjorn Ottosson, "A
/// perceptual color space for image processing" (2020).

/// From dark violet (0) over teal to pale yellow (1); grows lighter all the way, so that it survives grey printing and
/// colour blindness. Outside [0, 1] the nearer end.
[[nodiscard]] io::Colour sequential_colour(double t);

/// From blue (-1) over near white (0) to red (1). Outside [-1, 1] the nearer end.
[[nodiscard]] io::Colour diverging_colour(double t);

/// OKLab lightness of a colour, from 0 (black) to 1 (white).
[[nodiscard]] double lightness(io::Colour colour);

}  // namespace attnspan::experiment
