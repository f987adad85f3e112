#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "attnspan/runtime/load_failure.hpp"

namespace attnspan::runtime {

inline constexpr std::array<std::string_view, 5> plugin_kinds = {"target", "mode", "backend", "projection",
                                                                 "construction"};

/// What a plugin library says about itself, checked: the kind is one of plugin_kinds, the name lower-case words with
/// hyphens, perhaps after a dotted prefix ("acme.ring"), the texts printable UTF-8.
struct PluginInfo {
    std::string kind;
    std::string name;
    std::string version;
    std::string summary;
    std::filesystem::path file;

    friend bool operator==(const PluginInfo&, const PluginInfo&) = default;
};

/// Checks the bytes of a PluginEntry, wherever they come from, against this host's SDK.
/// @throws LoadRefused with stage "entry", "abi" or "build"; name and kind are filled in as soon as they can be trusted
[[nodiscard]] PluginInfo parse_plugin_entry(std::span<const std::byte> bytes, const std::filesystem::path& file);

/// The entry of a plugin library as it stands in the file; none of the library's code runs.
[[nodiscard]] std::variant<PluginInfo, LoadFailure> read_plugin_entry(const std::filesystem::path& file);

}  // namespace attnspan::runtime
