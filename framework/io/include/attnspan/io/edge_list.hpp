#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attnspan/io/matrix_market.hpp"
#include "attnspan/io/target_file.hpp"

namespace attnspan::io {

/// Reads the edges of a graph as a square matrix, one row and one column per node: a line `source target`, or
/// `source target weight` in every line, is the entry (source, target). Words are separated by blanks or tabs; lines
/// that begin with # or % are comments. Without weights an edge counts 1; edges of weight 0 are dropped and counted,
/// their nodes are there.
///
/// Node identifiers are any words. Nodes are numbered in ascending order, as numbers where all identifiers are 64-bit
/// integers (so that 7 and 07 are one node), otherwise by their bytes: the order of the lines does not matter.
/// @throws Error(data) with line and column for a line that is cut short or too long, weights that are no numbers,
/// negative or not finite, a line of headings above integers, and for duplicates unless they are summed; for a file
/// without an edge; Error(resource) for what does not fit into memory
[[nodiscard]] ReadWeights parse_edge_list(std::string_view text, const std::string& source,
                                          Duplicates duplicates = Duplicates::refuse);

/// Reads a graph from an edge list, or from a square matrix as read_target_file does; the first bytes decide which.
/// @throws Error(data) as these two do, and for a matrix that is not square; Error(resource)
[[nodiscard]] ReadWeights read_graph_file(const std::filesystem::path& path, const TargetFileOptions& options);

}  // namespace attnspan::io
