#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attnspan/backend.hpp"

namespace attnspan::experiment {

/// Version of the program, "0.1.0", and the commit it was built from ("unknown" outside a checkout).
[[nodiscard]] std::string version();
[[nodiscard]] std::string commit();
/// Compiler and its version.
[[nodiscard]] std::string compiler();

/// Where a result comes from: version, commit, compiler, backend, threads, host.
[[nodiscard]] nlohmann::ordered_json provenance(const std::string& backend_plugin, const BackendInfo& backend,
                                                Index threads);

}  // namespace attnspan::experiment
