#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnspan/core/attention_maps.hpp"
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
[[nodiscard]] LoadedTarget load_target(const TargetTable& target, const ResolvedTable& mode, std::uint64_t seed);

/// The bound of section 3.6 on a problem. Either may be missing: no bound is known, or none is finite.
struct BoundReport {
    std::optional<Index> query_dim;
    double failure_probability = 0.01;
};

/// What a pipeline found for one of its targets.
struct TargetResult {
    std::string name;
    std::string plugin;
    core::TargetSummary summary;
    SparseMatrix weights;  ///< the target as the rules left it
    Facts facts;
    std::unique_ptr<const Problem> problem;  ///< the target encoded
    ConstructionTraits traits;
    core::SearchOutcome search;
    std::optional<core::AttentionMaps> maps;  ///< of solution(), where maps are asked for

    /// What was found, or else came closest; null when nothing was feasible.
    [[nodiscard]] const core::Solution* solution() const {
        return search.found ? &*search.found : search.best ? &*search.best : nullptr;
    }
};

/// What a pipeline found.
struct PipelineResult {
    std::vector<TargetResult> targets;
    std::optional<Index> query_dim;  ///< the one m at which every target passes
    core::SearchPlan plan;
    std::optional<BoundReport> bound;  ///< for all targets together; nothing where the scheme has none
    Index trivial_query_dim = 0;       ///< the largest over the targets
    BackendInfo backend;
    Index threads = 1;
    std::vector<std::pair<std::string, double>> seconds;  ///< by stage, in order
};

struct PipelineOptions {
    Index threads = 1;
    std::function<void(const core::SearchProgress&)> progress{};
    Index map_cells = 0;  ///< side of the attention maps to make; 0: none
};

/// Runs a pipeline: targets -> mode -> encode -> construction -> search -> verification. Uses at most options.threads
/// threads; the answer does not depend on how many.
[[nodiscard]] PipelineResult run_pipeline(const PipelineConfig& config, const PipelineOptions& options);

}  // namespace attnspan::runtime
