#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attnspan/error.hpp"
#include "attnspan/types.hpp"

namespace attnspan {

enum class ParameterType { boolean, integer, real, text, choice, path, integers };

using ParameterValue = std::variant<std::monostate, bool, Index, double, std::string, std::vector<Index>>;

/// What a plugin declares about one of its configuration keys. The host checks types, ranges and choices against it
/// before the plugin sees a value, and `plugins describe` prints it.
struct ParameterSpec {
    std::string name;  ///< key in the plugin's table; "keep.top" is the key `top` of the inner table `keep`
    ParameterType type = ParameterType::text;
    std::string help;                ///< one line, without a full stop
    ParameterValue default_value{};  ///< monostate: none
    bool is_required = false;        ///< without it the configuration is refused
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool minimum_excluded = false;
    bool maximum_excluded = false;
    std::vector<std::string> choices{};

    // Builders, so that a declaration reads as one sentence:
    //   integer("length", "number of tokens").required().at_least(1)
    [[nodiscard]] ParameterSpec required() && { return is_required = true, std::move(*this); }
    [[nodiscard]] ParameterSpec defaults_to(ParameterValue value) && {
        return default_value = std::move(value), std::move(*this);
    }
    [[nodiscard]] ParameterSpec at_least(double bound) && { return minimum = bound, std::move(*this); }
    [[nodiscard]] ParameterSpec above(double bound) && {
        return minimum = bound, minimum_excluded = true, std::move(*this);
    }
    [[nodiscard]] ParameterSpec at_most(double bound) && { return maximum = bound, std::move(*this); }
    [[nodiscard]] ParameterSpec below(double bound) && {
        return maximum = bound, maximum_excluded = true, std::move(*this);
    }
};

using ParameterSpecs = std::vector<ParameterSpec>;

/// Makers of the seven types. A parameter that is neither required nor has a default is optional: ask has() first.
namespace parameter {

inline ParameterSpec boolean(std::string name, std::string help) {
    return {.name = std::move(name), .type = ParameterType::boolean, .help = std::move(help)};
}
inline ParameterSpec integer(std::string name, std::string help) {
    return {.name = std::move(name), .type = ParameterType::integer, .help = std::move(help)};
}
inline ParameterSpec real(std::string name, std::string help) {
    return {.name = std::move(name), .type = ParameterType::real, .help = std::move(help)};
}
inline ParameterSpec text(std::string name, std::string help) {
    return {.name = std::move(name), .type = ParameterType::text, .help = std::move(help)};
}
inline ParameterSpec choice(std::string name, std::vector<std::string> choices, std::string help) {
    ParameterSpec spec{.name = std::move(name), .type = ParameterType::choice, .help = std::move(help)};
    spec.choices = std::move(choices);
    return spec;
}
/// A file; relative ones have been resolved by the host against the file or folder they were written in.
inline ParameterSpec path(std::string name, std::string help) {
    return {.name = std::move(name), .type = ParameterType::path, .help = std::move(help)};
}
/// A list of integers; the range holds for each.
inline ParameterSpec integers(std::string name, std::string help) {
    return {.name = std::move(name), .type = ParameterType::integers, .help = std::move(help)};
}

}  // namespace parameter

/// A plugin's configuration table: every declared parameter that was given or has a default, checked. A value; asking
/// for a name that the plugin did not declare, or with the wrong type, is the plugin's mistake: Error(plugin).
class Parameters {
public:
    struct Entry {
        ParameterValue value;
        Location where;  ///< where it was written; for a default, where the table stands
    };

    Parameters() = default;
    Parameters(std::string table, Location where, std::map<std::string, Entry> entries)
        : table_(std::move(table)), where_(std::move(where)), entries_(std::move(entries)) {}

    [[nodiscard]] bool has(const std::string& name) const { return entries_.contains(name); }
    [[nodiscard]] bool boolean(const std::string& name) const { return get<bool>(name); }
    [[nodiscard]] Index integer(const std::string& name) const { return get<Index>(name); }
    [[nodiscard]] double real(const std::string& name) const { return get<double>(name); }
    /// Texts and choices.
    [[nodiscard]] const std::string& text(const std::string& name) const { return get<std::string>(name); }
    [[nodiscard]] std::filesystem::path path(const std::string& name) const { return get<std::string>(name); }
    [[nodiscard]] const std::vector<Index>& integers(const std::string& name) const {
        return get<std::vector<Index>>(name);
    }

    /// Refuses a value for a reason that a range cannot express: Error(config) at the place where it was written.
    [[noreturn]] void fail(const std::string& name, const std::string& message) const {
        const auto found = entries_.find(name);
        throw Error(ErrorKind::config, table_ + '.' + name + ": " + message,
                    found == entries_.end() ? where_ : found->second.where);
    }
    /// Where the value was written (for a default or an absent one: where the table stands).
    [[nodiscard]] const Location& where(const std::string& name) const {
        const auto found = entries_.find(name);
        return found == entries_.end() ? where_ : found->second.where;
    }
    /// Name of the table, for messages: "target", "construction.projection".
    [[nodiscard]] const std::string& table() const { return table_; }
    [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

private:
    template <class T>
    [[nodiscard]] const T& get(const std::string& name) const {
        const auto found = entries_.find(name);
        if (found == entries_.end()) {
            throw Error(ErrorKind::plugin, table_ + ": the plugin asks for a parameter \"" + name +
                                               "\" that it did not declare or that was not given");
        }
        if (const T* value = std::get_if<T>(&found->second.value)) {
            return *value;
        }
        throw Error(ErrorKind::plugin,
                    table_ + ": the plugin asks for parameter \"" + name + "\" by another type than it declared");
    }

    std::string table_;
    Location where_;
    std::map<std::string, Entry> entries_;
};

}  // namespace attnspan
