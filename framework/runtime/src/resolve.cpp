#include "attnspan/runtime/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "attnspan/runtime/nearest.hpp"
#include "attnspan/runtime/parameter_specs.hpp"
#include "attnspan/runtime/print.hpp"

namespace attnspan::runtime {
namespace {

std::string joined(const std::string& path, const std::string& key) {
    return path.empty() ? key : fmt::format("{}.{}", path, key);
}

std::vector<std::string> names_of(const ParameterSpecs& specs) {
    std::vector<std::string> names;
    std::transform(specs.begin(), specs.end(), std::back_inserter(names),
                   [](const ParameterSpec& s) { return s.name; });
    return names;
}

/// A written value in the form its spec asks for, as far as that loses nothing; value_problem judges the rest.
ParameterValue converted(const ConfigNode& node, const ParameterSpec& spec) {
    if (const auto* boolean = std::get_if<bool>(&node.value)) {
        return *boolean;
    }
    if (const auto* integer = std::get_if<Index>(&node.value)) {
        return spec.type == ParameterType::real ? ParameterValue(static_cast<double>(*integer))
                                                : ParameterValue(*integer);
    }
    if (const auto* real = std::get_if<double>(&node.value)) {
        return *real;
    }
    if (const auto* text = std::get_if<std::string>(&node.value)) {
        if (spec.type == ParameterType::path && !text->empty()) {
            return (node.base / *text).lexically_normal().string();
        }
        return *text;
    }
    if (const auto* array = std::get_if<ConfigArray>(&node.value);
        array != nullptr && spec.type == ParameterType::integers) {
        std::vector<Index> items;
        for (const ConfigNode& item : *array) {
            if (const auto* integer = std::get_if<Index>(&item.value)) {
                items.push_back(*integer);
            } else {
                throw Error(ErrorKind::config,
                            fmt::format("{}: every item must be an integer, not {}", spec.name, item.type_name()),
                            item.where);
            }
        }
        return items;
    }
    return std::monostate{};
}

std::string expected_type(const ParameterSpec& spec) {
    switch (spec.type) {
        case ParameterType::boolean:
            return "true or false";
        case ParameterType::integer:
            return "an integer";
        case ParameterType::real:
            return "a number";
        case ParameterType::text:
            return "a string";
        case ParameterType::choice:
            return fmt::format("one of \"{}\"", fmt::join(spec.choices, "\", \""));
        case ParameterType::path:
            return "a path (a string)";
        case ParameterType::integers:
            return "a list of integers";
    }
    return {};
}

/// A scalar in parentheses, for messages; nothing for lists and tables.
std::string shown(const ParameterValue& value) {
    if (std::holds_alternative<std::monostate>(value) || std::holds_alternative<std::vector<Index>>(value)) {
        return {};
    }
    return fmt::format(" ({})", printed(value));
}

class TableResolver {
public:
    TableResolver(std::string path, const ParameterSpecs& specs, std::vector<std::string> others)
        : path_(std::move(path)), specs_(specs), others_(std::move(others)) {}

    void take(const ConfigTable& table, const std::string& prefix) {
        for (const auto& [key, node] : table) {
            const std::string name = joined(prefix, key);
            const auto spec =
                std::find_if(specs_.begin(), specs_.end(), [&](const ParameterSpec& s) { return s.name == name; });
            if (spec != specs_.end()) {
                take_value(*spec, node);
            } else if (const std::vector<std::string> inner = below(name); !inner.empty()) {
                if (node.table() == nullptr) {
                    throw Error(ErrorKind::config,
                                fmt::format("{} must be a table with {}, not {}", joined(path_, name),
                                            fmt::join(inner, " or "), node.type_name()),
                                node.where);
                }
                take(*node.table(), name);
            } else {
                std::vector<std::string> known = names_of(specs_);
                known.insert(known.begin(), others_.begin(), others_.end());
                fail_unknown_key(path_, name, node.where, known);
            }
        }
    }

    Parameters finish(const Location& where) {
        for (const ParameterSpec& spec : specs_) {
            if (entries_.contains(spec.name)) {
                continue;
            }
            if (spec.is_required) {
                throw Error(ErrorKind::config,
                            fmt::format("{} is missing; it must be given ({}: {})", joined(path_, spec.name), spec.help,
                                        expected_type(spec)),
                            where);
            }
            if (!std::holds_alternative<std::monostate>(spec.default_value)) {
                entries_.emplace(spec.name, Parameters::Entry{.value = spec.default_value, .where = where});
            }
        }
        return {path_, where, std::move(entries_)};
    }

private:
    void take_value(const ParameterSpec& spec, const ConfigNode& node) {
        ParameterValue value = converted(node, spec);
        const auto refuse = [&](const std::string& why) {
            throw Error(ErrorKind::config, fmt::format("{} {}", joined(path_, spec.name), why), node.where);
        };
        if (!fits_type(spec, value)) {
            refuse(fmt::format("must be {}, not {}{}", expected_type(spec), node.type_name(), shown(value)));
        }
        if (spec.type == ParameterType::path && std::get<std::string>(value).empty()) {
            refuse("is empty; name a file");
        }
        if (const std::string problem = value_problem(spec, value); !problem.empty()) {
            std::string hint;
            if (const auto* text = std::get_if<std::string>(&value);
                text != nullptr && spec.type == ParameterType::choice) {
                const auto near = nearest(*text, spec.choices);
                hint = near ? fmt::format("; did you mean \"{}\"?", *near) : std::string();
            }
            refuse(problem + hint);
        }
        entries_.emplace(spec.name, Parameters::Entry{.value = std::move(value), .where = node.where});
    }

    /// Last parts of the keys inside the inner table `name`.
    [[nodiscard]] std::vector<std::string> below(const std::string& name) const {
        std::vector<std::string> out;
        for (const ParameterSpec& spec : specs_) {
            if (spec.name.starts_with(name + '.')) {
                out.push_back(spec.name.substr(name.size() + 1));
            }
        }
        return out;
    }

    std::string path_;
    const ParameterSpecs& specs_;
    std::vector<std::string> others_;
    std::map<std::string, Parameters::Entry> entries_;
};

}  // namespace

void fail_unknown_key(const std::string& path, const std::string& key, const Location& where,
                      const std::vector<std::string>& known) {
    const auto near = nearest(key, known);
    const std::string hint = near            ? fmt::format("did you mean {}?", joined(path, *near))
                             : known.empty() ? std::string("no other key is known here")
                                             : fmt::format("known here: {}", fmt::join(known, ", "));
    throw Error(ErrorKind::config, fmt::format("unknown key {}; {}", joined(path, key), hint), where);
}

Parameters resolve_parameters(const ConfigTable* table, const std::string& path, const Location& where,
                              const ParameterSpecs& specs, std::vector<std::string> others) {
    TableResolver resolver(path, specs, std::move(others));
    if (table != nullptr) {
        resolver.take(*table, "");
    }
    return resolver.finish(where);
}

ResolvedTable resolve_plugin_table(const ConfigTable* table, const std::string& path, const Location& where,
                                   const std::string& kind, const std::string& default_plugin, Registry& registry) {
    std::string name = default_plugin;
    Location named_at = where;
    ConfigTable rest = table == nullptr ? ConfigTable{} : *table;
    if (const auto found = rest.find("plugin"); found != rest.end()) {
        const auto* text = std::get_if<std::string>(&found->second.value);
        if (text == nullptr) {
            throw Error(ErrorKind::config,
                        fmt::format("{}.plugin must be a string, not {}", path, found->second.type_name()),
                        found->second.where);
        }
        name = *text;
        named_at = found->second.where;
        rest.erase(found);
    }
    if (name.empty()) {
        std::vector<std::string> names;
        for (const PluginInfo& info : registry.plugins()) {
            if (info.kind == kind) {
                names.push_back('"' + info.name + '"');
            }
        }
        throw Error(ErrorKind::config,
                    fmt::format("{}.plugin is missing; name one of {}", path, fmt::join(names, ", ")), named_at);
    }
    ResolvedTable out{.path = path, .library = registry.find(kind, name, named_at), .specs = {}, .parameters = {}};
    out.specs = out.library->parameters();
    if (kind == "construction" && out.library->uses_projection()) {
        rest.erase("projection");
    }
    out.parameters = resolve_parameters(&rest, path, named_at, out.specs, {"plugin"});
    return out;
}

}  // namespace attnspan::runtime
