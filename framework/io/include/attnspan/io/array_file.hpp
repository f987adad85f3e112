#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnspan/io/npy.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::io {

/// Named arrays in one file. Holds the bytes it was made from by reference.
class ArrayFile {
public:
    virtual ~ArrayFile() = default;

    /// In the order of the file.
    [[nodiscard]] virtual const std::vector<std::string>& names() const = 0;
    /// @throws Error(data) for a name that is not there or an array that cannot be read as numbers; Error(resource)
    [[nodiscard]] virtual NpyArray array(const std::string& name) const = 0;

    /// The name that is asked for; or else the only one there is, or `usual` where it is there.
    /// @throws Error(data) naming all, and `remedy`, what to do to choose one
    [[nodiscard]] std::string choose(const std::optional<std::string>& asked_for, const std::string& usual,
                                     const std::string& source, const std::string& remedy) const;
};

/// Opens an .npz archive or a .safetensors file, as its bytes show it to be; null for anything else.
/// @throws Error(data) for such a file that is damaged
[[nodiscard]] std::unique_ptr<ArrayFile> open_array_file(std::string_view bytes, const std::string& source);

/// Reads a two-dimensional array of a .npy, .npz or .safetensors file as a matrix, the first index being the row.
/// Elements may be any double. `place` is a path, or FILE:NAME for one array of several; without a name the only one,
/// or that called `usual`, is read.
/// @throws Error(data) as the readers do, and for another number of dimensions; Error(resource)
[[nodiscard]] Matrix<double> read_matrix(const std::string& place, const std::string& usual);

}  // namespace attnspan::io
