#include "attnspan/runtime/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "attnspan/error.hpp"
#include "attnspan/runtime/config.hpp"
#include "attnspan/runtime/nearest.hpp"
#include "attnspan/runtime/parameter_specs.hpp"

namespace attnspan::runtime {
namespace {

/// The table at a key, or an empty one.
const ConfigTable& table_at(const ConfigTable& parent, const std::string& key) {
    static const ConfigTable nothing;
    const auto found = parent.find(key);
    return found == parent.end() || found->second.table() == nullptr ? nothing : *found->second.table();
}

SchemaTable plugin_schema(const ConfigTable& table, const std::string& path, const std::string& kind,
                          Registry& registry) {
    SchemaTable out{.path = path, .kind = kind};
    std::string name = default_plugin(kind);
    if (const auto found = table.find("plugin"); found != table.end()) {
        const auto* text = std::get_if<std::string>(&found->second.value);
        name = text == nullptr ? std::string() : *text;
    }
    try {
        if (!name.empty()) {
            out.library = registry.find(kind, name);
            out.specs = out.library->parameters();
        }
    } catch (const Error&) {
        // Somebody is still writing; whoever resolves the document says what is wrong.
        out.library = nullptr;
    }
    if (kind == "target" && !declares(out.specs, "name")) {
        out.specs.insert(out.specs.begin(), parameter::text("name", "how tables and files call this target"));
    }
    return out;
}

}  // namespace

std::string default_plugin(std::string_view kind) {
    return kind == "mode"           ? "bidirectional"
           : kind == "construction" ? "random-projection"
           : kind == "projection"   ? "orthogonal"
           : kind == "backend"      ? "eigen"
                                    : "";
}

std::vector<SchemaTable> schema(const ConfigDocument& document, Registry& registry) {
    const ConfigTable& root = document.root();
    std::vector<SchemaTable> out;
    const auto host = [&](const char* path, ParameterSpecs specs) {
        out.push_back({.path = path, .specs = std::move(specs)});
    };
    const auto plugin = [&](const char* path) {
        out.push_back(plugin_schema(table_at(root, path), path, path, registry));
    };
    host("run", run_specs(default_run_name(document)));
    const auto targets = root.find("target");
    const auto* list = targets == root.end() ? nullptr : std::get_if<ConfigArray>(&targets->second.value);
    if (list == nullptr) {
        plugin("target");
    } else {
        for (std::size_t t = 0; t < list->size(); ++t) {
            if (const ConfigTable* table = (*list)[t].table()) {
                out.push_back(plugin_schema(*table, fmt::format("target.{}", t), "target", registry));
            }
        }
    }
    plugin("mode");
    host("criterion", criterion_specs());
    plugin("construction");
    if (out.back().library && out.back().library->uses_projection()) {
        out.push_back(plugin_schema(table_at(table_at(root, "construction"), "projection"), "construction.projection",
                                    "projection", registry));
    }
    plugin("backend");
    host("search", search_specs());
    host("export", export_specs());
    return out;
}

std::optional<std::string> nearest_key(const std::vector<SchemaTable>& tables, const std::string& word) {
    std::vector<std::string> last_parts;
    std::vector<std::string> keys;
    for (const SchemaTable& table : tables) {
        for (const ParameterSpec& spec : table.specs) {
            last_parts.push_back(spec.name.substr(spec.name.rfind('.') + 1));
            keys.push_back(table.path + '.' + spec.name);
        }
    }
    const auto near = nearest(word, last_parts);
    if (!near) {
        return std::nullopt;
    }
    std::size_t at = 0;
    while (last_parts[at] != *near) {
        ++at;
    }
    return keys[at];
}

}  // namespace attnspan::runtime
