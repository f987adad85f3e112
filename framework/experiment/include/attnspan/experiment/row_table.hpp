#pragma once

#include <filesystem>
#include <vector>

#include "attnspan/core/measures.hpp"

namespace attnspan::experiment {

/// Writes the measures of every row: row, log_ratio, log_leakage, leakage_key, total_variation, support_mass. Into .csv
/// with a header line, or .npy with these columns; a leakage of 0 has log_leakage -inf and key -1. Whole or not at all.
/// @throws Error(usage) for another ending, Error(resource)
void write_row_table(const std::filesystem::path& path, const std::vector<core::RowMeasures>& rows);

/// The check on the ending alone, for before the work. @throws Error(usage)
void require_row_table_name(const std::filesystem::path& path);

}  // namespace attnspan::experiment
