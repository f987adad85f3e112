#include "attnspan/runtime/document.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace attnspan::runtime {
namespace {

struct Context {
    const std::string& source;
    const std::filesystem::path& base;
    bool has_places;  // overrides have no lines
};

Location place(const toml::source_region& region, const Context& context) {
    if (!context.has_places) {
        return {.source = context.source};
    }
    return {.source = context.source,
            .line = static_cast<Index>(region.begin.line),
            .column = static_cast<Index>(region.begin.column)};
}

ConfigTable convert_table(const toml::table& table, const Context& context);

ConfigNode convert(const toml::node& node, const Location& where, const Context& context) {
    ConfigNode out{.value = false, .where = where, .base = context.base};
    if (const auto* table = node.as_table()) {
        out.value = convert_table(*table, context);
    } else if (const auto* array = node.as_array()) {
        ConfigArray items;
        for (const toml::node& item : *array) {
            items.push_back(convert(item, place(item.source(), context), context));
        }
        out.value = std::move(items);
    } else if (const auto* text = node.as_string()) {
        out.value = text->get();
    } else if (const auto* integer = node.as_integer()) {
        out.value = static_cast<Index>(integer->get());
    } else if (const auto* real = node.as_floating_point()) {
        out.value = real->get();
    } else if (const auto* boolean = node.as_boolean()) {
        out.value = boolean->get();
    } else {
        throw Error(ErrorKind::config, "dates and times are not used here; write it as a string", where);
    }
    return out;
}

ConfigTable convert_table(const toml::table& table, const Context& context) {
    ConfigTable out;
    for (const auto& [key, node] : table) {
        out.emplace(std::string(key.str()), convert(node, place(key.source(), context), context));
    }
    return out;
}

/// What the user wrote, on one line and without anything that steers a terminal.
std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7F) {
            out += c == '\n' ? std::string("\\n") : fmt::format("\\x{:02x}", code);
        } else {
            out += c;
        }
    }
    return out;
}

/// Keys of more parts than any table is deep would make tables inside each other, beyond what a stack holds.
constexpr std::ptrdiff_t most_parts = 256;

void require_shallow_keys(std::string_view text, const std::string& source) {
    Index line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        // Up to the value, or to a comment.
        const std::size_t stop = std::min(text.find_first_of("=#", begin), end);
        const std::string_view key = text.substr(begin, stop - begin);
        if (std::count(key.begin(), key.end(), '.') > most_parts) {
            throw Error(ErrorKind::config,
                        fmt::format("a key of more than {} parts; no table is that deep", most_parts),
                        {.source = source, .line = line, .column = 1});
        }
        begin = end + 1;
    }
}

}  // namespace

std::string ConfigNode::type_name() const {
    struct Namer {
        std::string operator()(bool) const { return "a boolean"; }
        std::string operator()(Index) const { return "an integer"; }
        std::string operator()(double) const { return "a number"; }
        std::string operator()(const std::string&) const { return "a string"; }
        std::string operator()(const ConfigArray&) const { return "a list"; }
        std::string operator()(const ConfigTable&) const { return "a table"; }
    };
    return std::visit(Namer{}, value);
}

ConfigDocument ConfigDocument::read(const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::resource, fmt::format("{}: the configuration cannot be read: {}", file.string(), why));
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        refuse("it is a folder");
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        refuse(std::generic_category().message(errno));
    }
    std::ostringstream text;
    // Nothing to copy counts as a failure of the output stream; an empty file is no failure here.
    text << stream.rdbuf();
    if (stream.bad()) {
        refuse(std::generic_category().message(errno));
    }
    return parse(text.str(), file.string(), std::filesystem::absolute(file).parent_path());
}

ConfigDocument ConfigDocument::parse(std::string_view text, const std::string& source,
                                     const std::filesystem::path& base) {
    ConfigDocument out;
    out.source_ = source;
    const Context context{.source = out.source_, .base = base, .has_places = true};
    require_shallow_keys(text, out.source_);
    try {
        out.root_ = convert_table(toml::parse(text), context);
    } catch (const toml::parse_error& e) {
        std::string why(e.description());
        if (constexpr std::string_view prefix = "Error while "; why.starts_with(prefix)) {
            why.erase(0, prefix.size());
        }
        throw Error(ErrorKind::config, fmt::format("this is not valid TOML: {}", why), place(e.source(), context));
    }
    return out;
}

void ConfigDocument::set(std::string_view assignment) {
    const std::string source = printable(fmt::format("--set {}", assignment));
    const std::size_t equals = assignment.find('=');
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::usage, fmt::format("{}: {}; write it as --set table.key=value", source, why));
    };
    if (equals == std::string_view::npos) {
        refuse("there is no '='");
    }
    const std::string key(assignment.substr(0, equals));
    const std::string value(assignment.substr(equals + 1));
    if (std::count(key.begin(), key.end(), '.') > most_parts) {
        refuse(fmt::format("the key has more than {} parts", most_parts));
    }
    const auto parse_one = [](const std::string& text) -> std::pair<bool, toml::table> {
        try {
            toml::table parsed = toml::parse(text);
            return {parsed.size() == 1, std::move(parsed)};
        } catch (const toml::parse_error&) {
            return {false, {}};
        }
    };
    const auto [key_ok, keyed] = parse_one(key + " = 0");
    if (!key_ok || key.find_first_of("\n#=[") != std::string::npos) {
        refuse(fmt::format("\"{}\" is not a dotted key", printable(key)));
    }
    // The value alone, so that it cannot smuggle in keys of its own.
    auto [value_ok, valued] = parse_one("value = " + value);
    if (value.find('\n') != std::string::npos || !value_ok) {
        valued = toml::table{};
        valued.insert("value", value);
    }
    const std::filesystem::path base = std::filesystem::current_path();
    const Context context{.source = source, .base = base, .has_places = false};
    const Location where{.source = source};

    ConfigTable* into = &root_;
    const toml::table* path = &keyed;
    std::string walked;
    while (true) {
        const std::string name(path->begin()->first.str());
        const toml::table* inner = path->begin()->second.as_table();
        walked += (walked.empty() ? "" : ".") + name;
        if (inner == nullptr) {
            into->insert_or_assign(name, convert(*valued.get("value"), where, context));
            return;
        }
        ConfigNode* node =
            &into->try_emplace(name, ConfigNode{.value = ConfigTable{}, .where = where, .base = base}).first->second;
        if (auto* list = std::get_if<ConfigArray>(&node->value)) {
            // An element of a list of tables, by its number: target.0.length.
            const std::string number(inner->begin()->first.str());
            const toml::table* below = inner->begin()->second.as_table();
            std::size_t at = list->size();
            std::from_chars(number.data(), number.data() + number.size(), at);
            if (at >= list->size() || number != std::to_string(at) || below == nullptr) {
                throw Error(ErrorKind::config,
                            fmt::format("{} is a list of {} in {}; name a key of one of them as {}.0.key to {}.{}.key",
                                        walked, list->size(), node->where.str(), walked, walked,
                                        std::max<std::size_t>(list->size(), 1) - 1),
                            where);
            }
            walked += "." + number;
            node = &(*list)[at];
            inner = below;
        }
        into = std::get_if<ConfigTable>(&node->value);
        if (into == nullptr) {
            throw Error(ErrorKind::config,
                        fmt::format("{} is {} in {}, so nothing inside it can be set", walked, node->type_name(),
                                    node->where.str()),
                        where);
        }
        path = inner;
    }
}

void ConfigDocument::put(const std::string& table, const std::string& key, std::variant<Index, std::string> value,
                         const std::string& written) {
    const std::filesystem::path base = std::filesystem::current_path();
    const Location where{.source = printable(written)};
    ConfigNode& node =
        root_.try_emplace(table, ConfigNode{.value = ConfigTable{}, .where = where, .base = base}).first->second;
    auto* into = std::get_if<ConfigTable>(&node.value);
    if (into == nullptr) {
        throw Error(ErrorKind::config,
                    fmt::format("{} is {} in {}, so that {} cannot be set; use --set {}.0.{} and the like", table,
                                node.type_name(), node.where.str(), written, table, key),
                    node.where);
    }
    ConfigNode leaf{.value = false, .where = where, .base = base};
    std::visit([&](auto& v) { leaf.value = std::move(v); }, value);
    into->insert_or_assign(key, std::move(leaf));
}

}  // namespace attnspan::runtime
