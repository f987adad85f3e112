#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "attnspan/io/matrix_market.hpp"
#include "attnspan/sparse.hpp"
#include "attnspan/types.hpp"
#include "attnspan/visible.hpp"

namespace attnspan::io {

struct TargetFileOptions {
    std::optional<Index> slice = {};  ///< which matrix of a stack (heads x queries x keys); refused for one matrix
    Duplicates duplicates = Duplicates::refuse;
    std::optional<std::string> member = {};  ///< which array of several; refused for a file that is one array
};

/// Whether parse_target_file would read such bytes, by their beginning.
[[nodiscard]] bool is_target_file(std::string_view bytes);

/// Reads a matrix of weights, queries x keys, from a Matrix Market file, a .npy array, an array of an .npz archive or
/// .safetensors file, or the sparse matrix that SciPy saved as .npz; its first bytes decide which. Empty rows,
/// rectangular shapes and invisible entries are none of its business. A dense array has no explicit zeros.
/// @throws Error(data) as the readers do, for an entry that is negative or not finite (with its row and key), for
/// an array that is neither a matrix nor a stack with a slice, for a matrix without rows or columns, and for any other
/// kind of file (named); Error(resource)
[[nodiscard]] ReadWeights read_target_file(const std::filesystem::path& path, const TargetFileOptions& options = {});

/// The same for bytes in memory; `source` names them in messages.
[[nodiscard]] ReadWeights parse_target_file(std::string_view bytes, const std::string& source,
                                            const TargetFileOptions& options = {});

/// Keeps the `count` largest entries of a row; among equal ones the lower key wins.
struct KeepTop {
    Index count = 1;
};
/// Keeps the entries of a row that are greater than `weight`.
struct KeepAbove {
    double weight = 0;
};
using KeepRule = std::variant<KeepTop, KeepAbove>;

/// A thinned matrix, and what it lost: masses are fractions of the sum over a row's visible entries.
struct Kept {
    SparseMatrix matrix;
    Index entries_dropped = 0;
    double dropped_mass_max = 0;   ///< over the rows
    double dropped_mass_mean = 0;  ///< over the rows that have a visible entry; 0 without any
};

/// Applies the rule to the visible entries of every row; entries at invisible pairs stay as they are. `visible` has one
/// range per row of the matrix, whose entries are finite and > 0.
[[nodiscard]] Kept keep(const SparseMatrix& matrix, const KeepRule& rule, const VisibleRanges& visible);

}  // namespace attnspan::io
