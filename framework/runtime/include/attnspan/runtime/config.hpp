#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attnspan/construction.hpp"
#include "attnspan/core/measures.hpp"
#include "attnspan/core/search.hpp"
#include "attnspan/runtime/document.hpp"
#include "attnspan/runtime/resolve.hpp"

namespace attnspan::runtime {

/// A pipeline's configuration, resolved: what runs, with nothing left to default.
struct PipelineConfig {
    ResolvedTable run;
    ResolvedTable target;
    ResolvedTable mode;
    ResolvedTable criterion;
    ResolvedTable construction;
    std::optional<ResolvedTable> projection;  ///< where the construction uses one
    ResolvedTable backend;
    ResolvedTable search;

    [[nodiscard]] std::string name() const { return run.parameters.text("name"); }
    [[nodiscard]] std::uint64_t seed() const { return static_cast<std::uint64_t>(run.parameters.integer("seed")); }
    [[nodiscard]] Tolerances tolerances() const;
    [[nodiscard]] core::Criterion limits() const;
    [[nodiscard]] double failure_probability() const { return criterion.parameters.real("failure_probability"); }
    /// The search for a construction with these traits: where it starts and stops unless the configuration says so.
    [[nodiscard]] core::SearchPlan plan(const ConstructionTraits& traits) const;

    /// In the order to print them.
    [[nodiscard]] std::vector<const ResolvedTable*> tables() const;
};

/// Resolves a whole document. Loads the plugins it names; makes none of them.
/// @throws Error(config) with the place of the first thing that is wrong, Error(plugin) for a plugin that fails to load
[[nodiscard]] PipelineConfig resolve(const ConfigDocument& document, Registry& registry);

/// The target and mode of a document alone, for describing them; the host's other tables are still checked.
struct TargetConfig {
    ResolvedTable run;
    ResolvedTable target;
    ResolvedTable mode;
};
[[nodiscard]] TargetConfig resolve_target(const ConfigDocument& document, Registry& registry);

/// As TOML that resolves to the same configuration. Optional keys without a value stand in comments.
[[nodiscard]] std::string to_toml(const PipelineConfig& config);
/// As a JSON object of tables.
[[nodiscard]] nlohmann::ordered_json to_json(const PipelineConfig& config);

/// What the host's own tables may hold, by table name.
[[nodiscard]] ParameterSpecs run_specs(const std::string& default_name);
[[nodiscard]] ParameterSpecs criterion_specs();
[[nodiscard]] ParameterSpecs search_specs();

}  // namespace attnspan::runtime
