#include "attnspan/runtime/config.hpp"
#include "attnspan/runtime/nearest.hpp"
#include "attnspan/runtime/parameter_specs.hpp"
#include "attnspan/runtime/print.hpp"
#include "attnspan/runtime/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>

namespace attnspan::runtime {
namespace {

constexpr Index default_step = 16;

/// Finds a table of the document. A key of that name that is no table is an error.
struct Section {
    const ConfigTable* table = nullptr;
    Location where;
};

Section section(const ConfigTable& parent, const std::string& name, const Location& otherwise,
                const std::string& path) {
    const auto found = parent.find(name);
    if (found == parent.end()) {
        return {.table = nullptr, .where = otherwise};
    }
    if (found->second.table() == nullptr) {
        const bool several = std::holds_alternative<ConfigArray>(found->second.value);
        throw Error(ErrorKind::config,
                    several ? fmt::format("[[{}]]: one [{}] table is allowed, not a list of them", path, path)
                            : fmt::format("{} must be a table, not {}; write [{}] and its keys below", path,
                                          found->second.type_name(), path),
                    found->second.where);
    }
    return {.table = found->second.table(), .where = found->second.where};
}

const std::vector<std::string>& top_level() {
    static const std::vector<std::string> names{"run",          "target",  "mode",   "criterion",
                                                "construction", "backend", "search", "export"};
    return names;
}

void require_known_sections(const ConfigDocument& document, Registry& registry) {
    for (const auto& [key, node] : document.root()) {
        if (std::find(top_level().begin(), top_level().end(), key) != top_level().end()) {
            continue;
        }
        // A key that lost its table: "length" for "target.length".
        const auto whole = nearest(key, top_level()) ? std::nullopt : nearest_key(schema(document, registry), key);
        if (whole) {
            throw Error(ErrorKind::config, fmt::format("unknown key {}; did you mean {}?", key, *whole), node.where);
        }
        fail_unknown_key("", key, node.where, top_level());
    }
}

ResolvedTable host_table(const ConfigDocument& document, const std::string& name, ParameterSpecs specs) {
    const Section s = section(document.root(), name, {.source = document.source()}, name);
    Parameters parameters = resolve_parameters(s.table, name, s.where, specs);
    return {.path = name, .library = nullptr, .specs = std::move(specs), .parameters = std::move(parameters)};
}

ResolvedTable plugin_table(const ConfigDocument& document, const std::string& name, Registry& registry) {
    const Section s = section(document.root(), name, {.source = document.source()}, name);
    return resolve_plugin_table(s.table, name, s.where, name, default_plugin(name), registry);
}

bool names_a_file(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.front() != '-' && name.size() <= 200 &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.';
           });
}

/// Why a name that does not serve is refused.
std::string unusable_name(const std::string& name) {
    return fmt::format(
        "{} cannot name a file or folder; use at most 200 letters, digits, '-', '_' and '.', and "
        "begin with neither '.' nor '-'",
        quoted(name));
}

ResolvedTable run_table(const ConfigDocument& document) {
    ResolvedTable run = host_table(document, "run", run_specs(default_run_name(document)));
    if (const std::string name = run.parameters.text("name"); !names_a_file(name)) {
        run.parameters.fail("name", unusable_name(name));
    }
    return run;
}

/// Where targets stand in the document: one table, or a list of them.
struct TargetSection {
    std::string path;
    Section section;
};

std::vector<TargetSection> target_sections(const ConfigDocument& document) {
    const auto found = document.root().find("target");
    const auto* list = found == document.root().end() ? nullptr : std::get_if<ConfigArray>(&found->second.value);
    if (list == nullptr) {
        return {
            {.path = "target", .section = section(document.root(), "target", {.source = document.source()}, "target")}};
    }
    std::vector<TargetSection> out;
    for (std::size_t t = 0; t < list->size(); ++t) {
        const ConfigNode& node = (*list)[t];
        if (node.table() == nullptr) {
            throw Error(ErrorKind::config,
                        fmt::format("target.{} must be a table, not {}; write [[target]] and its keys below", t,
                                    node.type_name()),
                        node.where);
        }
        out.push_back({.path = list->size() == 1 ? "target" : fmt::format("target.{}", t),
                       .section = {.table = node.table(), .where = node.where}});
    }
    if (out.empty()) {
        throw Error(ErrorKind::config, "target is an empty list; write [target] and its keys below",
                    found->second.where);
    }
    return out;
}

/// A target with its name, which is the host's key unless the plugin has one like it.
TargetTable target_table(const TargetSection& at, Registry& registry) {
    TargetTable out;
    ConfigTable rest = at.section.table == nullptr ? ConfigTable{} : *at.section.table;
    const auto name = rest.find("name");
    const auto plugin = rest.find("plugin");
    const auto* kind = plugin == rest.end() ? nullptr : std::get_if<std::string>(&plugin->second.value);
    const auto is_the_plugins = [&] {
        return kind != nullptr && declares(registry.find("target", *kind, plugin->second.where)->parameters(), "name");
    };
    if (name != rest.end() && !is_the_plugins()) {
        const auto* text = std::get_if<std::string>(&name->second.value);
        if (text == nullptr || !names_a_file(*text)) {
            throw Error(ErrorKind::config,
                        text == nullptr
                            ? fmt::format("{}.name must be a string, not {}", at.path, name->second.type_name())
                            : fmt::format("{}.name: {}", at.path, unusable_name(*text)),
                        name->second.where);
        }
        out.name = *text;
        rest.erase(name);
    }
    out.table = resolve_plugin_table(at.section.table == nullptr ? nullptr : &rest, at.path, at.section.where, "target",
                                     "", registry);
    return out;
}

std::vector<TargetTable> target_tables(const ConfigDocument& document, Registry& registry) {
    std::vector<TargetTable> out;
    const auto taken = [&](const std::string& name) {
        return std::any_of(out.begin(), out.end(), [&](const TargetTable& t) { return t.name == name; });
    };
    for (const TargetSection& at : target_sections(document)) {
        TargetTable one = target_table(at, registry);
        one.number = static_cast<Index>(out.size());
        if (one.name.empty()) {
            const std::string plugin = one.table.library->info().name;
            one.name = plugin;
            for (int n = 2; taken(one.name); ++n) {
                one.name = fmt::format("{}-{}", plugin, n);
            }
        } else if (taken(one.name)) {
            throw Error(
                ErrorKind::config,
                fmt::format("{}.name: there is another target \"{}\"; give each its own name", at.path, one.name),
                at.section.table->at("name").where);
        }
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

std::string default_run_name(const ConfigDocument& document) {
    const std::string stem = std::filesystem::path(document.source()).stem().string();
    return names_a_file(stem) ? stem : "run";
}

ParameterSpecs run_specs(const std::string& default_name) {
    return {parameter::text("name", "name of the run; the run directory is runs/<name>").defaults_to(default_name),
            parameter::integer("seed", "any 64-bit integer; equal seeds give equal results").defaults_to(Index{0})};
}

ParameterSpecs criterion_specs() {
    return {
        parameter::real("ratio", "epsilon_1: allowed relative error of ratios inside a row")
            .defaults_to(0.5)
            .at_least(0)
            .at_most(1e300),
        parameter::real("leakage", "epsilon_2: allowed weight of a zero against a support entry")
            .defaults_to(0.5)
            .above(0)
            .at_most(1e300),
        parameter::real("total_variation", "largest total variation distance of a row").at_least(0).at_most(1),
        parameter::real("failure_probability", "p of the bound on the query dimension")
            .defaults_to(0.01)
            .above(0)
            .below(1),
    };
}

ParameterSpecs search_specs() {
    return {
        parameter::choice("method", {"grid", "bisect", "fixed"},
                          "walk upward, bracket and halve, or try query_dim alone")
            .defaults_to("grid"),
        parameter::integer("start", "first query dimension (default: step, or stop if that is less)").at_least(1),
        parameter::integer("stop", "last query dimension, always tried (default: where the scheme ends)").at_least(1),
        parameter::integer("step", "distance of neighbouring query dimensions").defaults_to(default_step).at_least(1),
        parameter::integer("query_dim", "the one query dimension of method \"fixed\"").at_least(1),
        parameter::integer("samples", "independent draws for each dimension, the paper's Q")
            .defaults_to(Index{1})
            .at_least(1)
            .at_most(1e6),
        parameter::boolean("resample", "a fresh draw for each (dimension, sample) instead of nested prefixes")
            .defaults_to(false),
    };
}

ParameterSpecs export_specs() {
    return {
        parameter::choice("weights", {"npy", "safetensors"},
                          "X.npy, W_Q.npy and W_K.npy, or all of them in weights.safetensors")
            .defaults_to("npy"),
        parameter::choice("scale", {"none", "sqrt-dim"},
                          "sqrt-dim: X holds a factor that makes up for a head's division of its logits by sqrt(m)")
            .defaults_to("none"),
        parameter::choice("heat_maps", {"log", "linear", "none"}, "pictures of A, P and P - A, and their colour scale")
            .defaults_to("log"),
        parameter::integer("heat_map_pixels", "largest side of one map in pixels; larger matrices are reduced to it")
            .defaults_to(Index{512})
            .at_least(16)
            .at_most(4096),
    };
}

Tolerances PipelineConfig::tolerances() const {
    return {.ratio = criterion.parameters.real("ratio"),
            .leakage = criterion.parameters.real("leakage"),
            .where = criterion.parameters.where("leakage")};
}

core::Criterion PipelineConfig::limits() const {
    const Parameters& p = criterion.parameters;
    core::Criterion out{.log_ratio = std::log1p(p.real("ratio")),
                        .log_leakage = std::log(p.real("leakage")),
                        .total_variation = std::nullopt};
    if (p.has("total_variation")) {
        out.total_variation = p.real("total_variation");
    }
    return out;
}

ExportPlan PipelineConfig::export_plan() const {
    const Parameters& p = exports.parameters;
    const std::string& maps = p.text("heat_maps");
    return {.weights = p.text("weights") == "npy" ? WeightsFormat::npy : WeightsFormat::safetensors,
            .divided_by_sqrt_dim = p.text("scale") == "sqrt-dim",
            .heat_maps = maps == "log"      ? HeatMaps::logarithmic
                         : maps == "linear" ? HeatMaps::linear
                                            : HeatMaps::none,
            .heat_map_pixels = p.integer("heat_map_pixels")};
}

core::SearchPlan PipelineConfig::plan(std::span<const ConstructionTraits> traits) const {
    const Parameters& p = search.parameters;
    core::SearchPlan plan;
    const std::string& method = p.text("method");
    plan.method = method == "grid"     ? core::SearchMethod::grid
                  : method == "bisect" ? core::SearchMethod::bisect
                                       : core::SearchMethod::fixed;
    plan.samples = p.integer("samples");
    plan.resample = p.boolean("resample");
    plan.step = p.integer("step");
    if (p.has("stop")) {
        plan.stop = p.integer("stop");
    } else {
        for (const ConstructionTraits& t : traits) {
            plan.stop = std::max(plan.stop, t.default_stop);
        }
    }
    plan.start = p.has("start") ? p.integer("start") : std::min(plan.step, plan.stop);
    if (plan.method == core::SearchMethod::fixed) {
        plan.query_dim = p.integer("query_dim");
    }
    return plan;
}

std::vector<const ResolvedTable*> PipelineConfig::tables() const {
    std::vector<const ResolvedTable*> out{&run};
    for (const TargetTable& target : targets) {
        out.push_back(&target.table);
    }
    out.insert(out.end(), {&mode, &criterion, &construction});
    if (projection) {
        out.push_back(&*projection);
    }
    out.push_back(&backend);
    out.insert(out.end(), {&search, &exports});
    return out;
}

PipelineConfig resolve(const ConfigDocument& document, Registry& registry) {
    require_known_sections(document, registry);
    PipelineConfig out{
        .run = run_table(document),
        .targets = target_tables(document, registry),
        .mode = plugin_table(document, "mode", registry),
        .criterion = host_table(document, "criterion", criterion_specs()),
        .construction = plugin_table(document, "construction", registry),
        .projection = std::nullopt,
        .backend = plugin_table(document, "backend", registry),
        .search = host_table(document, "search", search_specs()),
        .exports = host_table(document, "export", export_specs()),
    };
    if (out.construction.library->uses_projection()) {
        const Section outer = section(document.root(), "construction", {.source = document.source()}, "construction");
        static const ConfigTable nothing;
        const Section inner = section(outer.table == nullptr ? nothing : *outer.table, "projection", outer.where,
                                      "construction.projection");
        out.projection = resolve_plugin_table(inner.table, "construction.projection", inner.where, "projection",
                                              default_plugin("projection"), registry);
    }
    const Parameters& s = out.search.parameters;
    const bool fixed = s.text("method") == "fixed";
    if (fixed && !s.has("query_dim")) {
        s.fail("method", "\"fixed\" needs search.query_dim, the dimension to try");
    }
    if (!fixed && s.has("query_dim")) {
        s.fail("query_dim", "only method \"fixed\" uses it; set search.method = \"fixed\" or remove it");
    }
    if (!fixed && s.has("start") && s.has("stop") && s.integer("start") > s.integer("stop")) {
        s.fail("start", fmt::format("{} lies beyond search.stop = {}", s.integer("start"), s.integer("stop")));
    }
    return out;
}

TargetConfig resolve_target(const ConfigDocument& document, const std::optional<std::string>& name,
                            Registry& registry) {
    require_known_sections(document, registry);
    (void)host_table(document, "criterion", criterion_specs());
    (void)host_table(document, "search", search_specs());
    (void)host_table(document, "export", export_specs());
    std::vector<TargetTable> targets = target_tables(document, registry);
    std::vector<std::string> names;
    std::transform(targets.begin(), targets.end(), std::back_inserter(names),
                   [](const TargetTable& t) { return t.name; });
    const auto chosen = name ? std::find(names.begin(), names.end(), *name) : names.begin();
    if (chosen == names.end()) {
        const auto near = nearest(*name, names);
        throw Error(ErrorKind::usage,
                    fmt::format("--name {}: {} has no target of that name; {}", *name, document.source(),
                                near ? fmt::format("did you mean {}?", *near)
                                     : fmt::format("it has {}", fmt::join(names, ", "))));
    }
    if (!name && names.size() > 1) {
        throw Error(ErrorKind::usage, fmt::format("{} has {} targets; choose one with --name: {}", document.source(),
                                                  names.size(), fmt::join(names, ", ")));
    }
    return {.run = run_table(document),
            .target = std::move(targets[static_cast<std::size_t>(chosen - names.begin())]),
            .mode = plugin_table(document, "mode", registry)};
}

}  // namespace attnspan::runtime
