#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attnspan/parameters.hpp"
#include "attnspan/runtime/document.hpp"
#include "attnspan/runtime/library.hpp"
#include "attnspan/runtime/registry.hpp"

namespace attnspan::runtime {

/// A table of the configuration with every key checked and every default filled in.
struct ResolvedTable {
    std::string path;                        ///< "construction.projection"
    std::shared_ptr<const Library> library;  ///< of its plugin; null for the host's own tables
    ParameterSpecs specs;                    ///< what it may hold, in the order to print it
    Parameters parameters;
};

/// Checks a table against what it may hold: unknown keys (with the nearest known one), types, ranges, choices, required
/// keys; resolves paths. `table` may be null: only defaults. `where` is where the table stands, or should. `others` are
/// keys that somebody else reads, for messages.
/// @throws Error(config) with the place
[[nodiscard]] Parameters resolve_parameters(const ConfigTable* table, const std::string& path, const Location& where,
                                            const ParameterSpecs& specs, std::vector<std::string> others = {});

/// The same for a table that names a plugin: loads it and passes it the other keys. `default_plugin` empty: the table
/// must name one. The inner table `projection` of a construction is resolved on its own.
[[nodiscard]] ResolvedTable resolve_plugin_table(const ConfigTable* table, const std::string& path,
                                                 const Location& where, const std::string& kind,
                                                 const std::string& default_plugin, Registry& registry);

/// Refuses a key that is none of `known`, naming the nearest. `path` of the table, empty for the top.
[[noreturn]] void fail_unknown_key(const std::string& path, const std::string& key, const Location& where,
                                   const std::vector<std::string>& known);

}  // namespace attnspan::runtime
