#include <png.h>

#include <attnspan/io/png.hpp>

#include "io_support.hpp"

using namespace attnspan;

TEST_CASE("a picture reads back pixel by pixel, and equal pictures are equal bytes") {
    const test::TemporaryFolder folder;
    io::Image image(37, 5, {{255, 255, 255}, {1, 2, 3}, {200, 100, 50}});
    for (Index y = 0; y < image.height; ++y) {
        for (Index x = 0; x < image.width; ++x) {
            image.at(x, y) = static_cast<std::uint8_t>((x * x + y) % 3);
        }
    }
    io::write_png(folder / "a.png", image, {{"Title", "a"}, {"Description", "two words"}});
    io::write_png(folder / "b.png", image, {{"Title", "a"}, {"Description", "two words"}});
    CHECK(test::bytes_of(folder / "a.png") == test::bytes_of(folder / "b.png"));

    png_image read{};
    read.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_file(&read, (folder / "a.png").c_str()) != 0);
    CHECK(read.width == 37);
    CHECK(read.height == 5);
    read.format = PNG_FORMAT_RGB;
    std::vector<png_byte> bytes(PNG_IMAGE_SIZE(read));
    REQUIRE(png_image_finish_read(&read, nullptr, bytes.data(), 0, nullptr) != 0);
    for (std::size_t pixel = 0; pixel < image.pixels.size(); ++pixel) {
        const io::Colour& c = image.palette[image.pixels[pixel]];
        REQUIRE(io::Colour{bytes[3 * pixel], bytes[3 * pixel + 1], bytes[3 * pixel + 2]} == c);
    }
}

TEST_CASE("a picture that cannot be written is one message and leaves nothing") {
    const test::TemporaryFolder folder;
    const io::Image image(2, 2, {{0, 0, 0}});
    CHECK_THROWS_AS(io::write_png(folder / "missing" / "a.png", image), Error);
}
