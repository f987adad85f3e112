#include "attnspan/runtime/config.hpp"
#include "attnspan/runtime/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
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
    static const std::vector<std::string> names{"run",          "target",  "mode",  "criterion",
                                                "construction", "backend", "search"};
    return names;
}

void require_known_sections(const ConfigDocument& document) {
    for (const auto& [key, node] : document.root()) {
        if (std::find(top_level().begin(), top_level().end(), key) == top_level().end()) {
            fail_unknown_key("", key, node.where, top_level());
        }
    }
}

ResolvedTable host_table(const ConfigDocument& document, const std::string& name, ParameterSpecs specs) {
    const Section s = section(document.root(), name, {.source = document.source()}, name);
    Parameters parameters = resolve_parameters(s.table, name, s.where, specs);
    return {.path = name, .library = nullptr, .specs = std::move(specs), .parameters = std::move(parameters)};
}

ResolvedTable plugin_table(const ConfigDocument& document, const std::string& name, const std::string& default_plugin,
                           Registry& registry) {
    const Section s = section(document.root(), name, {.source = document.source()}, name);
    return resolve_plugin_table(s.table, name, s.where, name, default_plugin, registry);
}

ResolvedTable run_table(const ConfigDocument& document) {
    const std::string stem = std::filesystem::path(document.source()).stem().string();
    const auto usable = [](const std::string& name) {
        return !name.empty() && name.front() != '.' && name.front() != '-' && name.size() <= 200 &&
               std::all_of(name.begin(), name.end(), [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '_' || c == '.';
               });
    };
    ResolvedTable run = host_table(document, "run", run_specs(usable(stem) ? stem : "run"));
    if (!usable(run.parameters.text("name"))) {
        run.parameters.fail(
            "name", fmt::format("{} cannot name a folder; use at most 200 letters, digits, '-', '_' and '.', and "
                                "begin with neither '.' nor '-'",
                                printed(run.parameters.entries().at("name").value)));
    }
    return run;
}

}  // namespace

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

core::SearchPlan PipelineConfig::plan(const ConstructionTraits& traits) const {
    const Parameters& p = search.parameters;
    core::SearchPlan plan;
    const std::string& method = p.text("method");
    plan.method = method == "grid"     ? core::SearchMethod::grid
                  : method == "bisect" ? core::SearchMethod::bisect
                                       : core::SearchMethod::fixed;
    plan.samples = p.integer("samples");
    plan.resample = p.boolean("resample");
    plan.step = p.integer("step");
    plan.stop = p.has("stop") ? p.integer("stop") : traits.default_stop;
    plan.start = p.has("start") ? p.integer("start") : std::min(plan.step, plan.stop);
    if (plan.method == core::SearchMethod::fixed) {
        plan.query_dim = p.integer("query_dim");
    }
    return plan;
}

std::vector<const ResolvedTable*> PipelineConfig::tables() const {
    std::vector<const ResolvedTable*> out{&run, &target, &mode, &criterion, &construction};
    if (projection) {
        out.push_back(&*projection);
    }
    out.push_back(&backend);
    out.push_back(&search);
    return out;
}

PipelineConfig resolve(const ConfigDocument& document, Registry& registry) {
    require_known_sections(document);
    PipelineConfig out{
        .run = run_table(document),
        .target = plugin_table(document, "target", "", registry),
        .mode = plugin_table(document, "mode", "bidirectional", registry),
        .criterion = host_table(document, "criterion", criterion_specs()),
        .construction = plugin_table(document, "construction", "random-projection", registry),
        .projection = std::nullopt,
        .backend = plugin_table(document, "backend", "eigen", registry),
        .search = host_table(document, "search", search_specs()),
    };
    if (out.construction.library->uses_projection()) {
        const Section outer = section(document.root(), "construction", {.source = document.source()}, "construction");
        static const ConfigTable nothing;
        const Section inner = section(outer.table == nullptr ? nothing : *outer.table, "projection", outer.where,
                                      "construction.projection");
        out.projection = resolve_plugin_table(inner.table, "construction.projection", inner.where, "projection",
                                              "orthogonal", registry);
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

TargetConfig resolve_target(const ConfigDocument& document, Registry& registry) {
    require_known_sections(document);
    (void)host_table(document, "criterion", criterion_specs());
    (void)host_table(document, "search", search_specs());
    return {.run = run_table(document),
            .target = plugin_table(document, "target", "", registry),
            .mode = plugin_table(document, "mode", "bidirectional", registry)};
}

}  // namespace attnspan::runtime
