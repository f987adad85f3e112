#include "session.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include <boost/dll/runtime_symbol_info.hpp>
#include <cstdlib>
#include <filesystem>

#include "attnspan/error.hpp"

namespace attnspan::cli {
namespace po = boost::program_options;
using Texts = std::vector<std::string>;

void add_plugin_options(CommandLine& line) {
    line.options().add_options()("plugin-path", po::value<Texts>()->composing()->value_name("PATH"),
                                 "a plugin library or a folder of them, searched before the built-in ones; repeatable");
}

void add_config_options(CommandLine& line) {
    line.options().add_options()("set", po::value<Texts>()->composing()->value_name("KEY=VALUE"),
                                 "override a key of the configuration, as in --set search.samples=4; repeatable");
    add_plugin_options(line);
}

void add_thread_option(CommandLine& line) {
    line.options().add_options()("threads", po::value<Index>()->value_name("N"),
                                 "threads to use (default: all of the machine's); the result does not depend on it");
}

void add_target_options(CommandLine& line) {
    line.options().add_options()("mode", po::value<std::string>()->value_name("MODE"),
                                 "which keys a query sees: bidirectional, causal, or another mode plugin")(
        "name", po::value<std::string>()->value_name("NAME"), "which target of a configuration that has several")(
        "member", po::value<std::string>()->value_name("MEMBER"), "which array of an .npz or .safetensors file")(
        "slice", po::value<Index>()->value_name("H"), "which matrix of a stack (heads x queries x keys)");
    add_config_options(line);
}

runtime::Registry open_registry(const CommandLine& line) {
    std::vector<std::filesystem::path> paths;
    for (const std::string& path : line.all("plugin-path")) {
        paths.emplace_back(path);
    }
    return open_registry(paths);
}

runtime::Registry open_registry(const std::vector<std::filesystem::path>& paths) {
    runtime::SearchPathSources sources{
        .executable_dir = std::filesystem::path(boost::dll::program_location().parent_path().string()),
        .installed_plugin_dir = ATTNSPAN_INSTALLED_PLUGINS,
        .options = paths,
    };
    if (const char* environment = std::getenv("ATTNSPAN_PLUGIN_PATH")) {  // NOLINT(concurrency-mt-unsafe): main thread
        sources.environment = environment;
    }
    return runtime::Registry(runtime::default_search_path(sources));
}

runtime::ConfigDocument read_document(const CommandLine& line, const std::string& file) {
    runtime::ConfigDocument document = runtime::ConfigDocument::read(file);
    for (const std::string& assignment : line.all("set")) {
        document.set(assignment);
    }
    return document;
}

Index threads(const CommandLine& line) {
    if (!line.has("threads")) {
        return tbb::info::default_concurrency();
    }
    const Index count = line.get<Index>("threads");
    if (count < 1 || count > 4096) {
        line.fail(fmt::format("--threads {}: use a number from 1 to 4096", count));
    }
    return count;
}

NamedTarget load_named_target(const CommandLine& line, const std::string& argument, runtime::Registry& registry) {
    const bool is_config = std::filesystem::path(argument).extension() == ".toml";
    runtime::ConfigDocument document =
        is_config ? runtime::ConfigDocument::read(argument)
                  : runtime::ConfigDocument::parse("[target]\nplugin = \"file\"\n", "command line", "");
    if (!is_config) {
        document.put("target", "path", argument, argument);
    }
    if (const auto mode = line.optional<std::string>("mode")) {
        document.put("mode", "plugin", *mode, "--mode " + *mode);
    }
    if (const auto member = line.optional<std::string>("member")) {
        document.put("target", "member", *member, "--member " + *member);
    }
    if (const auto slice = line.optional<Index>("slice")) {
        document.put("target", "slice", *slice, fmt::format("--slice {}", *slice));
    }
    for (const std::string& assignment : line.all("set")) {
        document.set(assignment);
    }
    const runtime::TargetConfig config =
        runtime::resolve_target(document, line.optional<std::string>("name"), registry);
    const auto seed = static_cast<std::uint64_t>(config.run.parameters.integer("seed"));
    return {.loaded = runtime::load_target(config.target, config.mode, seed),
            .name = config.target.name,
            .plugin = config.target.table.library->info().name};
}

}  // namespace attnspan::cli
