#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/runtime/nearest.hpp"
#include "attnspan/runtime/registry.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "table.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

std::string type_name(const ParameterSpec& spec) {
    switch (spec.type) {
        case ParameterType::boolean:
            return "boolean";
        case ParameterType::integer:
            return "integer";
        case ParameterType::real:
            return "number";
        case ParameterType::text:
            return "string";
        case ParameterType::choice:
            return fmt::format("{}", fmt::join(spec.choices, " | "));
        case ParameterType::path:
            return "path";
        case ParameterType::integers:
            return "list of integers";
    }
    return {};
}

std::string range_text(const ParameterSpec& spec) {
    std::string out;
    if (std::isfinite(spec.minimum)) {
        out = fmt::format("{} {}", spec.minimum_excluded ? ">" : ">=", spec.minimum);
    }
    if (std::isfinite(spec.maximum)) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", spec.maximum_excluded ? "<" : "<=", spec.maximum);
    }
    return out;
}

Json value_json(const ParameterValue& value) {
    Json out;
    std::visit(
        [&](const auto& v) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
                out = v;
            }
        },
        value);
    return out;
}

std::string default_text(const ParameterSpec& spec) {
    if (spec.is_required) {
        return "required";
    }
    const Json value = value_json(spec.default_value);
    return value.is_null() ? "none" : value.dump();
}

Json info_json(const runtime::PluginInfo& info) {
    return {{"kind", info.kind},
            {"name", info.name},
            {"version", info.version},
            {"summary", info.summary},
            {"file", info.file.string()}};
}

int list(const std::vector<std::string>& words) {
    CommandLine line("plugins list [options]",
                     "Loads every plugin found and lists it, and those that fail with the stage and the reason.", {});
    line.options().add_options()("json", "one JSON document on standard output");
    add_plugin_options(line);
    if (!line.parse(words)) {
        return 0;
    }
    runtime::Registry registry = open_registry(line);
    registry.load_all();
    if (line.has("json")) {
        Json out{{"plugins", Json::array()}, {"failures", Json::array()}};
        for (const runtime::PluginInfo& info : registry.plugins()) {
            out["plugins"].push_back(info_json(info));
        }
        for (const runtime::LoadFailure& failure : registry.failures()) {
            out["failures"].push_back(
                {{"file", failure.file.string()}, {"stage", failure.stage}, {"reason", failure.reason}});
        }
        std::cout << experiment::text_of(out) << '\n';
        return 0;
    }
    std::vector<std::vector<std::string>> rows{{"kind", "name", "version", "what it does"}};
    for (const runtime::PluginInfo& info : registry.plugins()) {
        rows.push_back({info.kind, info.name, info.version, info.summary});
    }
    print_table(std::cout, rows, true);
    if (!registry.failures().empty()) {
        std::cout << "\nnot usable:\n";
        for (const runtime::LoadFailure& failure : registry.failures()) {
            std::cout << fmt::format("  {}: {}: {}\n", failure.file.string(), failure.stage, failure.reason);
        }
    }
    return 0;
}

int describe(const std::vector<std::string>& words) {
    CommandLine line("plugins describe NAME [options]",
                     "Prints what a plugin does and the keys of its configuration table.", {{.name = "NAME"}});
    line.options().add_options()("kind", po::value<std::string>()->value_name("KIND"),
                                 "where several kinds have a plugin of that name")(
        "json", "one JSON document on standard output");
    add_plugin_options(line);
    if (!line.parse(words)) {
        return 0;
    }
    runtime::Registry registry = open_registry(line);
    const std::string name = line.positional("NAME");
    std::vector<std::string> kinds;
    std::vector<std::string> names;
    for (const runtime::PluginInfo& info : registry.plugins()) {
        names.push_back(info.name);
        if (info.name == name) {
            kinds.push_back(info.kind);
        }
    }
    for (const runtime::LoadFailure& failure : registry.failures()) {
        if (failure.name == name && !failure.kind.empty()) {
            kinds.push_back(failure.kind);
        }
    }
    if (const auto kind = line.optional<std::string>("kind")) {
        if (std::find(runtime::plugin_kinds.begin(), runtime::plugin_kinds.end(), *kind) ==
            runtime::plugin_kinds.end()) {
            line.fail(fmt::format("--kind {}: the kinds are {}", *kind, fmt::join(runtime::plugin_kinds, ", ")));
        }
        kinds.assign(1, *kind);
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (kinds.empty()) {
        const auto near = runtime::nearest(name, names);
        throw Error(ErrorKind::config, fmt::format("no plugin is called \"{}\"; {}", name,
                                                   near ? fmt::format("did you mean \"{}\"?", *near)
                                                        : "`attnspan plugins list` shows them"));
    }
    if (kinds.size() > 1) {
        line.fail(fmt::format("\"{}\" names plugins of several kinds; add --kind with one of {}", name,
                              fmt::join(kinds, ", ")));
    }
    const auto library = registry.find(kinds.front(), name);
    const ParameterSpecs& specs = library->parameters();
    if (line.has("json")) {
        Json out = info_json(library->info());
        out["parameters"] = Json::array();
        for (const ParameterSpec& spec : specs) {
            out["parameters"].push_back({{"name", spec.name},
                                         {"type", type_name(spec)},
                                         {"required", spec.is_required},
                                         {"default", value_json(spec.default_value)},
                                         {"range", range_text(spec)},
                                         {"help", spec.help}});
        }
        std::cout << experiment::text_of(out) << '\n';
        return 0;
    }
    const runtime::PluginInfo& info = library->info();
    std::cout << fmt::format("{} {} {}: {}\n{}\n\n", info.kind, info.name, info.version, info.summary,
                             info.file.string());
    if (library->uses_projection()) {
        std::cout << "  takes an inner table [construction.projection]\n\n";
    }
    if (specs.empty()) {
        std::cout << "  no parameters\n";
        return 0;
    }
    std::vector<std::vector<std::string>> rows{{"key", "type", "default", "range", "meaning"}};
    for (const ParameterSpec& spec : specs) {
        rows.push_back({spec.name, type_name(spec), default_text(spec), range_text(spec), spec.help});
    }
    print_table(std::cout, rows, true);
    return 0;
}

}  // namespace

int plugins_command(const std::vector<std::string>& words) {
    const std::array<Command, 3> commands{
        {{"list", "all plugins, and those that fail with the reason", list},
         {"describe", "one plugin and its keys", describe},
         {"check", "tests a library: what is wrong with it, and how to mend it", plugins_check_command}}};
    return dispatch("attnspan plugins", commands, words);
}

}  // namespace attnspan::cli
