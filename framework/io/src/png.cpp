#include "attnspan/io/png.hpp"

#include <png.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <utility>

#include "attnspan/error.hpp"
#include "attnspan/io/atomic.hpp"

namespace attnspan::io {
namespace {

[[noreturn]] void refuse(png_structp, png_const_charp message) {
    throw Error(ErrorKind::resource, std::string("a picture could not be written: ") + message);
}
void ignore(png_structp, png_const_charp) {}

void write_bytes(png_structp png, png_bytep bytes, png_size_t count) {
    static_cast<std::ostream*>(png_get_io_ptr(png))
        ->write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(count));  // NOLINT: chars are bytes
}
void flush(png_structp) {}

/// libpng's two structures, destroyed together.
struct Writer {
    Writer() : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, refuse, ignore)) {
        info = png == nullptr ? nullptr : png_create_info_struct(png);
        if (info == nullptr) {
            png_destroy_write_struct(&png, nullptr);
            throw Error(ErrorKind::resource, "a picture could not be written: libpng does not start");
        }
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { png_destroy_write_struct(&png, &info); }

    png_structp png;
    png_infop info;
};

void put_texts(const Writer& writer, const ImageTexts& texts) {
    std::vector<png_text> entries;
    for (const auto& [key, text] : texts) {
        png_text entry{};
        entry.compression = PNG_TEXT_COMPRESSION_NONE;
        // libpng does not write through these.
        entry.key = const_cast<char*>(key.c_str());    // NOLINT(cppcoreguidelines-pro-type-const-cast)
        entry.text = const_cast<char*>(text.c_str());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        entry.text_length = text.size();
        entries.push_back(entry);
    }
    png_set_text(writer.png, writer.info, entries.data(), static_cast<int>(entries.size()));
}

}  // namespace

Image::Image(Index image_width, Index image_height, std::vector<Colour> colours)
    : width(image_width),
      height(image_height),
      palette(std::move(colours)),
      pixels(static_cast<std::size_t>(image_width * image_height), 0) {}

void write_png(const std::filesystem::path& path, const Image& image, const ImageTexts& texts) {
    std::vector<png_color> palette;
    std::transform(image.palette.begin(), image.palette.end(), std::back_inserter(palette),
                   [](const Colour& c) { return png_color{.red = c.red, .green = c.green, .blue = c.blue}; });
    write_file_atomically(path, [&](std::ostream& out) {
        const Writer writer;
        png_set_write_fn(writer.png, &out, write_bytes, flush);
        png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(image.width),
                     static_cast<png_uint_32>(image.height), 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_set_PLTE(writer.png, writer.info, palette.data(), static_cast<int>(palette.size()));
        png_set_sRGB(writer.png, writer.info, PNG_sRGB_INTENT_PERCEPTUAL);
        constexpr int quick = 3;
        png_set_compression_level(writer.png, quick);
        put_texts(writer, texts);
        png_write_info(writer.png, writer.info);
        for (Index y = 0; y < image.height; ++y) {
            png_write_row(writer.png, image.pixels.data() + y * image.width);
        }
        png_write_end(writer.png, nullptr);
    });
}

}  // namespace attnspan::io
