#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnspan/construction.hpp"
#include "attnspan/core/measures.hpp"
#include "attnspan/core/search.hpp"
#include "attnspan/runtime/document.hpp"
#include "attnspan/runtime/resolve.hpp"

namespace attnspan::runtime {

/// The one [target], or one of several [[target]].
struct TargetTable {
    std::string name;  ///< for people and files; no two of a configuration are equal
    ResolvedTable table;
    Index number = 0;  ///< place in the file, from 0: the target's random numbers depend on it
};

/// What is written beside the numbers: see export_specs.
enum class WeightsFormat { npy, safetensors };
enum class HeatMaps { none, logarithmic, linear };
struct ExportPlan {
    WeightsFormat weights = WeightsFormat::npy;
    bool divided_by_sqrt_dim = false;  ///< X is for a head that divides its logits by sqrt(m)
    HeatMaps heat_maps = HeatMaps::logarithmic;
    Index heat_map_pixels = 512;
};

/// A pipeline's configuration, resolved: what runs, with nothing left to default.
struct PipelineConfig {
    ResolvedTable run;
    std::vector<TargetTable> targets;  ///< at least one
    ResolvedTable mode;
    ResolvedTable criterion;
    ResolvedTable construction;
    std::optional<ResolvedTable> projection;  ///< where the construction uses one
    ResolvedTable backend;
    ResolvedTable search;
    ResolvedTable exports;

    [[nodiscard]] std::string name() const { return run.parameters.text("name"); }
    [[nodiscard]] std::uint64_t seed() const { return static_cast<std::uint64_t>(run.parameters.integer("seed")); }
    [[nodiscard]] Tolerances tolerances() const;
    [[nodiscard]] core::Criterion limits() const;
    [[nodiscard]] double failure_probability() const { return criterion.parameters.real("failure_probability"); }
    /// The search for one construction for each target, with these traits: where it starts and stops unless the
    /// configuration says so. All targets share it.
    [[nodiscard]] core::SearchPlan plan(std::span<const ConstructionTraits> traits) const;
    [[nodiscard]] ExportPlan export_plan() const;

    /// In the order to print them.
    [[nodiscard]] std::vector<const ResolvedTable*> tables() const;
};

/// Resolves a whole document. Loads the plugins it names; makes none of them.
/// @throws Error(config) with the place of the first thing that is wrong, Error(plugin) for a plugin that fails to load
[[nodiscard]] PipelineConfig resolve(const ConfigDocument& document, Registry& registry);

/// One target and the mode of a document, for describing them; the host's other tables are still checked.
struct TargetConfig {
    ResolvedTable run;
    TargetTable target;
    ResolvedTable mode;
};
/// `name` chooses among several targets; it may be missing where there is one.
/// @throws as resolve, Error(usage) for a choice that is missing or names none of them
[[nodiscard]] TargetConfig resolve_target(const ConfigDocument& document, const std::optional<std::string>& name,
                                          Registry& registry);

/// As TOML that resolves to the same configuration. Optional keys without a value stand in comments.
[[nodiscard]] std::string to_toml(const PipelineConfig& config);
/// As a JSON object of tables.
[[nodiscard]] nlohmann::ordered_json to_json(const PipelineConfig& config);

/// The file's name where it can name a run directory.
[[nodiscard]] std::string default_run_name(const ConfigDocument& document);

/// What the host's own tables may hold, by table name.
[[nodiscard]] ParameterSpecs run_specs(const std::string& default_name);
[[nodiscard]] ParameterSpecs criterion_specs();
[[nodiscard]] ParameterSpecs search_specs();
[[nodiscard]] ParameterSpecs export_specs();

}  // namespace attnspan::runtime
