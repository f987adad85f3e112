#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attnspan/runtime/config.hpp"
#include "attnspan/runtime/pipeline.hpp"
#include "attnspan/runtime/registry.hpp"
#include "command_line.hpp"

namespace attnspan::cli {

/// Options that several commands share; each adds the ones it takes.
void add_plugin_options(CommandLine& line);  ///< --plugin-path
void add_config_options(CommandLine& line);  ///< --set and --plugin-path
void add_thread_option(CommandLine& line);   ///< --threads
void add_target_options(CommandLine& line);  ///< --mode, --name, --member, --slice, and add_config_options

/// The plugins: of --plugin-path, of ATTNSPAN_PLUGIN_PATH, and the built-in ones.
[[nodiscard]] runtime::Registry open_registry(const CommandLine& line);
/// The same with these paths in place of the option's.
[[nodiscard]] runtime::Registry open_registry(const std::vector<std::filesystem::path>& paths);

/// The file with every --set applied.
[[nodiscard]] runtime::ConfigDocument read_document(const CommandLine& line, const std::string& file);

/// --threads, or as many as this process may use.
[[nodiscard]] Index threads(const CommandLine& line);

/// A target named on the command line: a configuration (.toml) or a data file, with --mode, --member, --slice and
/// --set.
struct NamedTarget {
    runtime::LoadedTarget loaded;
    std::string name;
    std::string plugin;  ///< that made it
};
[[nodiscard]] NamedTarget load_named_target(const CommandLine& line, const std::string& argument,
                                            runtime::Registry& registry);

}  // namespace attnspan::cli
