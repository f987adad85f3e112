#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnspan/types.hpp"

namespace attnspan::io {

/// 8 bits for each of red, green and blue (sRGB).
struct Colour {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    friend bool operator==(const Colour&, const Colour&) = default;
};

/// A picture of at most 256 colours, rows from top to bottom.
struct Image {
    /// All pixels have the first colour.
    Image(Index image_width, Index image_height, std::vector<Colour> colours);

    /// The position in the palette of the pixel's colour.
    [[nodiscard]] std::uint8_t& at(Index x, Index y) { return pixels[static_cast<std::size_t>(y * width + x)]; }
    [[nodiscard]] std::uint8_t at(Index x, Index y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }

    Index width;
    Index height;
    std::vector<Colour> palette;
    std::vector<std::uint8_t> pixels;
};

/// Keyword and text (Latin-1, a keyword of at most 79 characters), as PNG viewers show them.
using ImageTexts = std::vector<std::pair<std::string, std::string>>;

/// Writes a PNG file, whole or not at all; equal pictures give equal bytes. Both sides at least 1, 1 to 256 colours.
/// @throws Error(resource)
void write_png(const std::filesystem::path& path, const Image& image, const ImageTexts& texts = {});

}  // namespace attnspan::io
