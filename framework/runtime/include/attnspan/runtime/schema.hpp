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

/// A table that a configuration may hold, and the keys that it may have there.
struct SchemaTable {
    std::string path;                             ///< "target", "target.1", "construction.projection"
    std::string kind = {};                        ///< of the plugin that it names; empty for the host's own tables
    std::shared_ptr<const Library> library = {};  ///< the plugin; null where none is named or it cannot be loaded
    ParameterSpecs specs = {};                    ///< without the key `plugin`
};

/// The tables of a document in the order to print them, for those who are still writing it: nothing in it is refused,
/// and a plugin that is missing or unknown has no keys.
[[nodiscard]] std::vector<SchemaTable> schema(const ConfigDocument& document, Registry& registry);

/// The plugin of a kind where the configuration names none; empty for targets.
[[nodiscard]] std::string default_plugin(std::string_view kind);

/// The dotted key of a schema whose last part is this word, or the nearest to it.
[[nodiscard]] std::optional<std::string> nearest_key(const std::vector<SchemaTable>& tables, const std::string& word);

}  // namespace attnspan::runtime
