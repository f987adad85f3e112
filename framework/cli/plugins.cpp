#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/runtime/nearest.hpp"
#include "attnspan/runtime/registry.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "spec_text.hpp"
#include "table.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

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

Json info_json(const runtime::PluginInfo& info) {
    return {{"kind", info.kind},
            {"name", info.name},
            {"version", info.version},
            {"summary", info.summary},
            {"file", info.file.string()}};
}

CommandLine list_line() {
    CommandLine line("plugins list [options]",
                     "Loads every plugin found and lists it, and those that fail with the stage and the reason.", {});
    line.options().add_options()("json", "one JSON document on standard output");
    add_plugin_options(line);
    return line;
}

int list(const CommandLine& line) {
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

CommandLine describe_line() {
    CommandLine line("plugins describe PLUGIN [options]",
                     "Prints what a plugin does and the keys of its configuration table.", {{.name = "PLUGIN"}});
    line.options().add_options()("kind", po::value<std::string>()->value_name("KIND"),
                                 "where several kinds have a plugin of that name")(
        "json", "one JSON document on standard output");
    add_plugin_options(line);
    return line;
}

int describe(const CommandLine& line) {
    runtime::Registry registry = open_registry(line);
    const std::string name = line.positional("PLUGIN");
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
                                         {"type", type_text(spec)},
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
        rows.push_back({spec.name, type_text(spec), default_text(spec), range_text(spec), spec.help});
    }
    print_table(std::cout, rows, true);
    return 0;
}

}  // namespace

Command plugins_command() {
    return {
        .name = "plugins",
        .summary = "list, describe or check plugins",
        .commands = {{.name = "list",
                      .summary = "all plugins, and those that fail with the reason",
                      .line = list_line,
                      .run = list},
                     {.name = "describe", .summary = "one plugin and its keys", .line = describe_line, .run = describe},
                     plugins_check_command()}};
}

}  // namespace attnspan::cli
