#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnspan/matrix.hpp"
#include "attnspan/types.hpp"

namespace attnspan::io {

/// What the header of a .npy file says. Source: NumPy, numpy.lib.format, versions 1.0, 2.0 and 3.0.
struct NpyHeader {
    int version = 1;
    std::string dtype;        ///< as written: "<f8"
    char kind = 'f';          ///< b, i, u or f
    Index item_size = 8;      ///< bytes of an element
    bool big_endian = false;  ///< of elements longer than a byte
    bool fortran_order = false;
    std::vector<Index> shape;
    Index count = 1;        ///< product of the shape
    Index data_offset = 0;  ///< bytes before the first element
};

/// An array of numbers, last index fastest whatever order the file had.
struct NpyArray {
    std::vector<Index> shape;
    std::vector<double> values;
};

/// Reads the header alone.
/// @throws Error(data) when it is broken or names a type that is no real number; Error(resource)
[[nodiscard]] NpyHeader read_npy_header(const std::filesystem::path& path);
/// The same for the first bytes of a file; `source` names it in messages.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes, const std::string& source);

/// Reads f2, f4, f8, i1 to i8, u1 to u8 and bool of either byte order. Never unpickles.
/// @throws Error(data) as for the header, when the data are shorter or longer than the shape says, and for an integer
/// that is not exact in a double, with its index; Error(resource)
[[nodiscard]] NpyArray read_npy(const std::filesystem::path& path);
/// The same for bytes in memory.
[[nodiscard]] NpyArray parse_npy(std::string_view bytes, const std::string& source);

/// The text of an array of dtype S and no dimension, without the zeros that fill it up.
/// @throws Error(data)
[[nodiscard]] std::string parse_npy_text(std::string_view bytes, const std::string& source);

/// Reads the elements that `header` describes from `data`, which is as long as it says.
/// @throws Error(data) for an integer that is not exact in a double, with its index; Error(resource)
[[nodiscard]] NpyArray decode_array(const NpyHeader& header, const char* data, const std::string& source);

/// Writes version 1.0, little-endian, C order, atomically.
/// @throws Error(resource)
void write_npy(const std::filesystem::path& path, ConstMatrixView<double> matrix);
void write_npy(const std::filesystem::path& path, ConstMatrixView<float> matrix);

}  // namespace attnspan::io
