#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attnspan/runtime/config.hpp"
#include "attnspan/runtime/parameter_specs.hpp"
#include "attnspan/runtime/print.hpp"

namespace attnspan::runtime {
namespace {

std::string number(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    std::string text(digits.data(), end);
    // TOML tells numbers from integers by these.
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string quoted(const std::string& text) {
    std::string out = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    // JSON's escapes are TOML's, but for one character that JSON leaves alone.
    for (std::size_t at = out.find('\x7F'); at != std::string::npos; at = out.find('\x7F', at)) {
        out.replace(at, 1, "\\u007F");
    }
    return out;
}

std::string printed(const ParameterValue& value) {
    struct Printer {
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(Index v) const { return std::to_string(v); }
        std::string operator()(double v) const { return number(v); }
        std::string operator()(const std::string& v) const { return quoted(v); }
        std::string operator()(const std::vector<Index>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    };
    return std::visit(Printer{}, value);
}

namespace {

/// Puts `value` at a dotted name.
void put(nlohmann::ordered_json& object, const std::string& name, const ParameterValue& value) {
    nlohmann::ordered_json* at = &object;
    std::size_t begin = 0;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
        at = &(*at)[name.substr(begin, dot - begin)];
        begin = dot + 1;
    }
    nlohmann::ordered_json& leaf = (*at)[name.substr(begin)];
    std::visit(
        [&](const auto& v) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
                leaf = v;
            }
        },
        value);
}

/// The target whose table this is, if any.
const TargetTable* target_of(const PipelineConfig& config, const ResolvedTable* table) {
    const auto found = std::find_if(config.targets.begin(), config.targets.end(),
                                    [&](const TargetTable& t) { return &t.table == table; });
    return found == config.targets.end() ? nullptr : &*found;
}

}  // namespace

std::string to_toml(const PipelineConfig& config) {
    std::string out;
    for (const ResolvedTable* table : config.tables()) {
        const TargetTable* target = target_of(config, table);
        const std::string heading = target != nullptr && config.targets.size() > 1 ? "[target]" : table->path;
        out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", heading);
        if (table->library) {
            out += fmt::format("plugin = {}\n", quoted(table->library->info().name));
        }
        if (target != nullptr && !declares(table->specs, "name")) {
            out += fmt::format("name = {}\n", quoted(target->name));
        }
        for (const ParameterSpec& spec : table->specs) {
            const auto& entries = table->parameters.entries();
            const auto found = entries.find(spec.name);
            out += found == entries.end() ? fmt::format("# {}: {}\n", spec.name, spec.help)
                                          : fmt::format("{} = {}\n", spec.name, printed(found->second.value));
        }
    }
    return out;
}

nlohmann::ordered_json to_json(const PipelineConfig& config) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const ResolvedTable* table : config.tables()) {
        nlohmann::ordered_json object = nlohmann::ordered_json::object();
        if (table->library) {
            object["plugin"] = table->library->info().name;
        }
        const TargetTable* target = target_of(config, table);
        if (target != nullptr && !declares(table->specs, "name")) {
            object["name"] = target->name;
        }
        for (const ParameterSpec& spec : table->specs) {
            const auto found = table->parameters.entries().find(spec.name);
            if (found != table->parameters.entries().end()) {
                put(object, spec.name, found->second.value);
            }
        }
        if (table->path == "construction.projection") {
            out["construction"]["projection"] = std::move(object);
        } else if (target != nullptr && config.targets.size() > 1) {
            out["target"].push_back(std::move(object));
        } else {
            out[table->path] = std::move(object);
        }
    }
    return out;
}

}  // namespace attnspan::runtime
