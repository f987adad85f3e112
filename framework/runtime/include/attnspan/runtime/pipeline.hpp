#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnspan/core/bound.hpp"
#include "attnspan/core/describe.hpp"
#include "attnspan/core/search.hpp"
#include "attnspan/runtime/config.hpp"
#include "attnspan/target.hpp"

namespace attnspan::runtime {

/// A generated target with the mode it was generated for, before the rules of section 2.2.
struct LoadedTarget {
    GeneratedTarget generated;
    VisibleRanges visible;
    TargetPolicy policy;
    Location origin;  ///< its data file, or else where its table stands
};

/// Makes the target and the mode and generates. Refuses what does not fit into memory before it allocates.
/// @throws Error(data), Error(config), Error(plugin), Error(resource)
[[nodiscard]] LoadedTarget load_target(const ResolvedTable& target, const ResolvedTable& mode, std::uint64_t seed);

/// The bound of section 3.6 on a problem. Either may be missing: no bound is known, or none is finite.
struct BoundReport {
    std::optional<Index> query_dim;
    double failure_probability = 0.01;
};

/// What a pipeline found.
struct PipelineResult {
    core::TargetSummary target;
    SparseMatrix weights;  ///< the target as the rules left it
    Facts target_facts;
    ConstructionTraits traits;
    core::SearchPlan plan;
    core::SearchOutcome search;
    std::optional<BoundReport> bound;  ///< nothing where the scheme has none
    BackendInfo backend;
    Index threads = 1;
    std::vector<std::pair<std::string, double>> seconds;  ///< by stage, in order
};

struct PipelineOptions {
    Index threads = 1;
    std::function<void(const core::SearchProgress&)> progress;
};

/// Runs a pipeline: target -> mode -> encode -> construction -> search -> verification. Uses at most options.threads
/// threads; the answer does not depend on how many.
[[nodiscard]] PipelineResult run_pipeline(const PipelineConfig& config, const PipelineOptions& options);

}  // namespace attnspan::runtime
