#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <ostream>

#include "attnspan/error.hpp"
#include "attnspan/io/atomic.hpp"
#include "attnspan/runtime/config.hpp"
#include "attnspan/runtime/entry.hpp"
#include "attnspan/runtime/parameter_specs.hpp"
#include "attnspan/runtime/print.hpp"
#include "attnspan/runtime/schema.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "spec_text.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;

/// A value for a key that must be given, which people will replace.
ParameterValue example(const ParameterSpec& spec) {
    constexpr double usual = 64;
    ParameterValue value = runtime::example_value(spec, usual);
    return std::holds_alternative<std::monostate>(value) ? ParameterValue(std::string("REPLACE-ME")) : value;
}

/// "integer, >= 1, required", or the like.
std::string facts(const ParameterSpec& spec) {
    const std::string range = range_text(spec);
    return type_text(spec) + (range.empty() ? "" : ", " + range) + (spec.is_required ? ", required" : "");
}

/// The names of the other plugins of a kind.
std::string others(const runtime::Registry& registry, const runtime::SchemaTable& table) {
    std::vector<std::string> names;
    for (const runtime::PluginInfo& plugin : registry.plugins()) {
        if (plugin.kind == table.kind && plugin.name != table.library->info().name) {
            names.push_back(plugin.name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// A comment, in lines of at most 100 characters.
std::string comment(const std::string& text) {
    constexpr std::size_t width = 100;
    std::string out = "#";
    std::size_t used = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (used + 1 + end - at > width && used > 1) {
            out += "\n#";
            used = 1;
        }
        out += ' ' + text.substr(at, end - at);
        used += 1 + end - at;
        at = end + 1;
    }
    return out + '\n';
}

std::string table_text(const runtime::SchemaTable& table, const runtime::Registry& registry,
                       std::vector<std::string>& placeholders) {
    std::string out;
    if (table.library) {
        const runtime::PluginInfo& plugin = table.library->info();
        out += comment(fmt::format("{}: {}", plugin.name, plugin.summary));
        if (const std::string more = others(registry, table); !more.empty()) {
            out += comment(fmt::format("Others: {}.", more));
        }
        out += fmt::format("[{}]\nplugin = {}\n", table.path, runtime::quoted(plugin.name));
    } else {
        out += fmt::format("[{}]\n", table.path);
    }
    for (const ParameterSpec& spec : table.specs) {
        out += '\n' + comment(fmt::format("{} ({})", spec.help, facts(spec)));
        if (spec.is_required) {
            const ParameterValue value = example(spec);
            out += fmt::format("{} = {}\n", spec.name, runtime::printed(value));
            placeholders.push_back(fmt::format("{}.{} = {}", table.path, spec.name, runtime::printed(value)));
        } else if (std::holds_alternative<std::monostate>(spec.default_value)) {
            out += fmt::format("# {} =\n", spec.name);
        } else {
            out += fmt::format("# {} = {}\n", spec.name, runtime::printed(spec.default_value));
        }
    }
    return out;
}

CommandLine init_line() {
    CommandLine line("init FILE [options]",
                     "Writes a configuration with every key of the chosen plugins, explained. Keys at their defaults\n"
                     "stand in comments.",
                     {{.name = "FILE"}});
    line.options().add_options()(
        "target", po::value<std::string>()->default_value("random-sparse")->value_name("TARGET"), "what to attend to")(
        "mode", po::value<std::string>()->value_name("MODE"), "which keys a query sees")(
        "construction", po::value<std::string>()->value_name("CONSTRUCTION"), "how embeddings are made")(
        "projection", po::value<std::string>()->value_name("PROJECTION"), "the random projection")(
        "backend", po::value<std::string>()->value_name("BACKEND"), "linear algebra")("force",
                                                                                      "replace a file that exists");
    add_plugin_options(line);
    return line;
}

int init(const CommandLine& line) {
    const std::filesystem::path file = line.positional("FILE");
    if (file.extension() != ".toml") {
        line.fail(fmt::format("\"{}\": the name of a configuration ends in .toml", file.string()));
    }
    std::error_code ignored;
    if (!line.has("force") && std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
        throw Error(ErrorKind::resource,
                    fmt::format("{} exists; choose another name, or --force to replace it", file.string()));
    }
    runtime::Registry registry = open_registry(line);
    auto document = runtime::ConfigDocument::parse("", file.string(), "");
    for (const std::string_view kind : runtime::plugin_kinds) {
        const std::string option(kind);
        const std::string name = kind == "target"
                                     ? line.get<std::string>(option)
                                     : line.optional<std::string>(option).value_or(runtime::default_plugin(kind));
        (void)registry.find(kind, name, {.source = "--" + option});
        document.set(fmt::format("{}.plugin={}", kind == "projection" ? "construction.projection" : option,
                                 runtime::quoted(name)));
    }
    const std::vector<runtime::SchemaTable> tables = runtime::schema(document, registry);
    const bool uses_projection =
        std::any_of(tables.begin(), tables.end(), [](const runtime::SchemaTable& t) { return t.kind == "projection"; });
    if (line.has("projection") && !uses_projection) {
        line.fail(fmt::format("--projection: the construction {} uses none; leave it out",
                              line.optional<std::string>("construction").value_or("")));
    }
    // How the commands are called that need what this one was given.
    std::string call = file.string();
    for (const std::string& path : line.all("plugin-path")) {
        call += " --plugin-path " + path;
    }
    std::vector<std::string> placeholders;
    std::string text = comment(
                           "How small can a self-attention head be and still produce this target? Keys at their "
                           "defaults stand in comments.") +
                       fmt::format("#   attnspan config check {0}\n#   attnspan run {0}\n", call);
    for (const runtime::SchemaTable& table : tables) {
        text += '\n' + table_text(table, registry, placeholders);
    }
    io::write_file_atomically(file, [&](std::ostream& out) { out << text; });
    std::cout << fmt::format("{} is written.\n", file.string());
    for (const std::string& placeholder : placeholders) {
        std::cout << fmt::format("  set to your case: {}\n", placeholder);
    }
    std::cout << fmt::format("  then: attnspan run {}\n", call);
    return 0;
}

}  // namespace

Command init_command() {
    return {.name = "init",
            .summary = "write a commented configuration for chosen plugins",
            .line = init_line,
            .run = init};
}

}  // namespace attnspan::cli
