#include "attnspan/io/array_file.hpp"

#include <algorithm>
#include <filesystem>

#include "attnspan/io/file.hpp"
#include "attnspan/io/npz.hpp"
#include "attnspan/io/safetensors.hpp"
#include "detail.hpp"

namespace attnspan::io {
namespace {

/// FILE, or FILE:NAME. A file of that very name comes first.
struct Place {
    std::string file;
    std::optional<std::string> name;

    explicit Place(const std::string& text) : file(text) {
        std::error_code ignored;
        const std::size_t colon = text.rfind(':');
        if (colon != std::string::npos && !std::filesystem::exists(text, ignored)) {
            file = text.substr(0, colon);
            name = text.substr(colon + 1);
        }
    }
};

NpyArray read_array(const Place& place, const std::string& usual) {
    const std::string bytes = read_file(place.file);
    if (const auto arrays = open_array_file(bytes, place.file)) {
        return arrays->array(arrays->choose(place.name, usual, place.file, "choose one as " + place.file + ":NAME"));
    }
    if (place.name) {
        detail::fail(
            "it holds no arrays with names, so that " + detail::quoted(*place.name) + " has no meaning; leave it out",
            {.source = place.file});
    }
    return parse_npy(bytes, place.file);
}

}  // namespace

std::string ArrayFile::choose(const std::optional<std::string>& asked_for, const std::string& usual,
                              const std::string& source, const std::string& remedy) const {
    const std::vector<std::string>& all = names();
    if (!asked_for && all.size() == 1) {
        return all.front();
    }
    const std::string& name = asked_for ? *asked_for : usual;
    if (std::ranges::find(all, name) != all.end()) {
        return name;
    }
    constexpr std::size_t most = 20;
    std::string list;
    for (std::size_t t = 0; t < std::min(all.size(), most); ++t) {
        list += (t > 0 ? ", " : "") + detail::quoted(all[t]);
    }
    list += all.size() > most ? " and " + std::to_string(all.size() - most) + " more" : "";
    detail::fail((asked_for ? "there is no array " + detail::quoted(name) + " in it; it holds " : "it holds ") + list +
                     "; " + remedy,
                 {.source = source});
}

std::unique_ptr<ArrayFile> open_array_file(std::string_view bytes, const std::string& source) {
    if (is_zip(bytes)) {
        return std::make_unique<Npz>(bytes, source);
    }
    if (is_safetensors(bytes)) {
        return std::make_unique<Safetensors>(bytes, source);
    }
    return nullptr;
}

Matrix<double> read_matrix(const std::string& place, const std::string& usual) {
    const NpyArray array = read_array(Place(place), usual);
    if (array.shape.size() != 2) {
        detail::fail("a matrix is expected, but this array has shape " + detail::tuple(array.shape) +
                         "; save it with two dimensions",
                     {.source = place});
    }
    if (array.values.empty()) {
        detail::fail(
            "the array has shape " + detail::tuple(array.shape) + ": at least one row and one column are expected",
            {.source = place});
    }
    Matrix<double> matrix(array.shape[0], array.shape[1]);
    for (Index i = 0; i < matrix.rows(); ++i) {
        for (Index j = 0; j < matrix.cols(); ++j) {
            matrix(i, j) = array.values[static_cast<std::size_t>(i * matrix.cols() + j)];
        }
    }
    return matrix;
}

}  // namespace attnspan::io
