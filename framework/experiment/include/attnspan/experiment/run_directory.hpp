#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attnspan/runtime/pipeline.hpp"

namespace attnspan::experiment {

/// Checks, before the work that leads to it, that a file or folder can be made at `path`: its nearest existing parent
/// is a folder that may be written to. `what` begins the message. @throws Error(resource)
void require_writable_parent(const std::filesystem::path& path, const std::string& what);

/// Where a run goes: `out` if given, otherwise runs/<name>, then runs/<name>-2, ... below the working directory.
/// @throws Error(resource) when `out` exists and `force` is off, or holds something else than an earlier run
[[nodiscard]] std::filesystem::path choose_run_directory(const std::optional<std::filesystem::path>& out,
                                                         const std::string& name, bool force);

/// The name of a target's own file: "X.npy", or "X-<target>.npy" where there are several targets.
[[nodiscard]] std::string array_name(const runtime::PipelineResult& result, const runtime::TargetResult& target,
                                     const std::string& stem, const std::string& ending);

/// Writes result.json, config.toml and, when something was found, W_Q.npy and W_K.npy (2m x m) of section 3.4 and for
/// each target its X.npy (L x 2m); heat maps where the result holds maps. Completes `document` with the files and the
/// digests of the weights. The directory appears whole or not at all; with `force` it takes the place of an earlier
/// run.
/// @return the names of the files, sorted as above
/// @throws Error(resource)
std::vector<std::string> write_run_directory(const std::filesystem::path& directory, bool force,
                                             const runtime::PipelineConfig& config,
                                             const runtime::PipelineResult& result, nlohmann::ordered_json& document);

}  // namespace attnspan::experiment
