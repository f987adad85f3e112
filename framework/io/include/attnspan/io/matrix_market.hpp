#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attnspan/sparse.hpp"
#include "attnspan/types.hpp"

namespace attnspan::io {

/// What to do with a second entry at the same place.
enum class Duplicates { refuse, sum };

struct MatrixMarketOptions {
    Duplicates duplicates = Duplicates::refuse;
};

/// A matrix of weights as read, and what reading it met.
struct ReadWeights {
    SparseMatrix matrix;       ///< both triangles of a symmetric file; zeros are not stored
    bool is_array = false;     ///< the dense format, where a zero is nothing to remark on
    Index stored = 0;          ///< entries in the file
    Index explicit_zeros = 0;  ///< entries of a coordinate file that are 0, dropped
    Index duplicates = 0;      ///< entries that were added to an earlier one
};

/// Reads a matrix of weights >= 0: coordinate or array; real, integer or pattern (weights of 1); general or symmetric
/// (lower triangle stored). Comments and blank lines may stand anywhere after the banner; numbers may carry a + or a
/// Fortran exponent. Source: Boisvert, Pozo, Remington, NISTIR 5935 (1996).
/// @throws Error(data) with line and column for what breaks the format, for weights that are negative, not finite or
/// (integers) not exact in a double, and for duplicates unless they are summed; Error(resource) for what cannot be read
/// or does not fit into memory
[[nodiscard]] ReadWeights read_matrix_market(const std::filesystem::path& path, MatrixMarketOptions options = {});

/// The same for text in memory; `source` names it in messages.
[[nodiscard]] ReadWeights parse_matrix_market(std::string_view text, const std::string& source,
                                              MatrixMarketOptions options = {});

/// Writes `coordinate real general`, numbers in their shortest form that reads back the same, atomically.
/// @throws Error(resource)
void write_matrix_market(const std::filesystem::path& path, const SparseMatrix& matrix);

}  // namespace attnspan::io
