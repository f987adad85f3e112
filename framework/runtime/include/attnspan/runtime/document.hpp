#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnspan/error.hpp"
#include "attnspan/types.hpp"

namespace attnspan::runtime {

struct ConfigNode;
using ConfigTable = std::map<std::string, ConfigNode>;
using ConfigArray = std::vector<ConfigNode>;

/// A value of a configuration as it was written, with its place.
struct ConfigNode {
    std::variant<bool, Index, double, std::string, ConfigArray, ConfigTable> value;
    Location where;              ///< of the key; of the value inside an array
    std::filesystem::path base;  ///< folder that relative paths in it start from

    [[nodiscard]] const ConfigTable* table() const { return std::get_if<ConfigTable>(&value); }
    /// "a string", "an integer", ..., for messages.
    [[nodiscard]] std::string type_name() const;
};

/// A parsed TOML file, perhaps with overrides.
class ConfigDocument {
public:
    /// @throws Error(config) with line and column for what is not TOML (or holds dates, which no key takes),
    /// Error(resource) for a file that cannot be read
    static ConfigDocument read(const std::filesystem::path& file);
    /// The same for text; `source` names it, `base` is where relative paths start.
    static ConfigDocument parse(std::string_view text, const std::string& source, const std::filesystem::path& base);

    /// Sets "dotted.key=value". A value that is no TOML is a string; an inline table replaces the whole table; relative
    /// paths start from the working directory.
    /// @throws Error(usage) without a '=' or with a malformed key, Error(config) when the key leads through something
    /// that is no table
    void set(std::string_view assignment);
    /// Sets one key of a table on behalf of another option; `written` is how messages name the place.
    void put(const std::string& table, const std::string& key, std::variant<Index, std::string> value,
             const std::string& written);

    [[nodiscard]] const ConfigTable& root() const { return root_; }
    [[nodiscard]] const std::string& source() const { return source_; }

private:
    ConfigTable root_;
    std::string source_;
};

}  // namespace attnspan::runtime
