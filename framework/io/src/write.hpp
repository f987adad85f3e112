#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "attnspan/matrix.hpp"
#include "attnspan/types.hpp"
#include "detail.hpp"

/// What the writers of arrays share.
namespace attnspan::io::detail {

/// Everything that stands before the data of a .npy file of version 1.0 in C order.
inline std::string npy_header(const std::string& dtype, std::span<const Index> shape) {
    std::string header = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + tuple(shape) + ", }";
    constexpr std::size_t before = 10;
    constexpr std::size_t alignment = 64;
    header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
    header += '\n';
    using namespace std::string_literals;
    return "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header;
}

/// Hands the elements to use(first, count) row by row, as they stand in memory.
template <class T, class Use>
void for_each_row(ConstMatrixView<T> matrix, const Use& use) {
    std::vector<T> row(static_cast<std::size_t>(matrix.cols));
    for (Index i = 0; i < matrix.rows; ++i) {
        for (Index j = 0; j < matrix.cols; ++j) {
            row[static_cast<std::size_t>(j)] = matrix(i, j);
        }
        use(row.data(), row.size());
    }
}

template <class T>
void write_rows(std::ostream& out, ConstMatrixView<T> matrix) {
    for_each_row(matrix, [&out](const T* first, std::size_t count) {
        out.write(reinterpret_cast<const char*>(first), static_cast<std::streamsize>(sizeof(T) * count));
    });
}

}  // namespace attnspan::io::detail
