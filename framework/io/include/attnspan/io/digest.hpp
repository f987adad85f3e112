#pragma once

#include <filesystem>
#include <string>

#include "attnspan/matrix.hpp"

namespace attnspan::io {

/// SHA-256 of a file's bytes in hexadecimal, as `sha256sum` prints it.
/// @throws Error(resource)
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

/// SHA-256 of the elements, row by row, as they stand in memory: of the data of a tensor that is this matrix.
/// @throws Error(resource)
[[nodiscard]] std::string sha256_of_rows(ConstMatrixView<double> matrix);

}  // namespace attnspan::io
