#pragma once

#include <filesystem>
#include <vector>

#include "attnspan/core/measures.hpp"

namespace attnspan::experiment {

/// Writes the measures of every row: row, log_ratio, log_leakage, leakage_key, total_variation, support_mass. Into .csv
/// with a header line, or .npy with these columns; a leakage of 0 has log_leakage -inf and key -1. Whole or not at all.
/// @throws Error(usage) for another ending, Error(resource)
void write_row_table(const std::filesystem::path& path, const std::vector<core::RowMeasures>& rows);

/// Checks, before the work, that the table can be written: the ending, and a folder that is there or will be made as
/// `run_directory` (which may be empty). @throws Error(usage), Error(resource)
void require_row_table_place(const std::filesystem::path& path, const std::filesystem::path& run_directory);

}  // namespace attnspan::experiment
