#include "attnspan/runtime/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "attnspan/plugin.hpp"
#include "attnspan/runtime/elf.hpp"

namespace attnspan::runtime {
namespace {

bool is_word_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/// Words of letters, digits and hyphens with single dots between.
bool is_name(std::string_view text) {
    return !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos &&
           std::ranges::all_of(text, [](char c) { return is_word_letter(c) || c == '.'; });
}

bool is_version(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_word_letter(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '+';
    });
}

/// UTF-8 without control characters: what can be printed to a terminal and written to JSON as it is.
bool is_printable(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i++]);
        if (first < 0x20 || first == 0x7f) {
            return false;
        }
        if (first < 0x80) {
            continue;
        }
        const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || text.size() - i < more) {
            return false;
        }
        std::uint32_t code = first & (0x3fU >> more);
        for (std::size_t k = 0; k < more; ++k) {
            const auto next = static_cast<unsigned char>(text[i++]);
            if ((next & 0xc0U) != 0x80) {
                return false;
            }
            code = code << 6U | (next & 0x3fU);
        }
        constexpr std::array<std::uint32_t, 4> smallest = {0, 0xa0, 0x800, 0x10000};
        if (code < smallest[more] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) {
            return false;
        }
    }
    return true;
}

/// None when the text has no end inside its field or cannot be printed.
template <std::size_t size>
std::optional<std::string> text_of(const char (&field)[size]) {
    const std::string_view all(field, size);
    const std::string_view text = all.substr(0, all.find('\0'));
    return text.size() < size && is_printable(text) ? std::optional<std::string>(text) : std::nullopt;
}

/// Why the field may not hold what it holds.
std::string must_be(const char* field, const std::optional<std::string>& text, const char* expected) {
    return text ? fmt::format("has the {} \"{}\"; expected {}", field, *text, expected)
                : fmt::format("has a {} that is no zero-terminated text; expected {}", field, expected);
}

}  // namespace

PluginInfo parse_plugin_entry(std::span<const std::byte> bytes, const std::filesystem::path& file) {
    LoadFailure failure{.file = file, .stage = "entry", .reason = {}};
    const auto refuse = [&](const char* stage, std::string reason) {
        failure.stage = stage;
        failure.reason = std::move(reason);
        throw LoadRefused(failure);
    };

    if (bytes.size() < offsetof(PluginEntry, build_tag)) {
        refuse("entry", fmt::format("has an attnspan_plugin of {} bytes, too few for a plugin entry ({} bytes); use "
                                    "ATTNSPAN_PLUGIN to define it",
                                    bytes.size(), sizeof(PluginEntry)));
    }
    PluginEntry entry{};
    std::memcpy(static_cast<void*>(&entry), bytes.data(), std::min(bytes.size(), sizeof entry));
    if (std::string_view(entry.magic, sizeof entry.magic) != "attnspan") {
        refuse("entry",
               "has an attnspan_plugin that does not begin with the word \"attnspan\"; use ATTNSPAN_PLUGIN to "
               "define it");
    }
    if (entry.abi != sdk_abi) {
        refuse("abi", fmt::format("is {} than this program: plugin ABI {} found, {} expected; {}rebuild the plugin "
                                  "against SDK {}",
                                  entry.abi < sdk_abi ? "older" : "newer", entry.abi, sdk_abi,
                                  entry.abi < sdk_abi ? "" : "use a newer attnspan or ", sdk_version));
    }
    if (entry.struct_size != sizeof entry || bytes.size() < sizeof entry) {
        refuse("abi",
               fmt::format("has a plugin entry of {} bytes (stated: {}), {} expected; rebuild the plugin against "
                           "SDK {}",
                           bytes.size(), entry.struct_size, sizeof entry, sdk_version));
    }

    // The layout is ours from here on, so whatever is wrong below can be reported under the plugin's name.
    const std::optional<std::string> kind = text_of(entry.kind);
    const bool kind_known = kind && std::ranges::find(plugin_kinds, *kind) != plugin_kinds.end();
    const std::optional<std::string> name = text_of(entry.name);
    const bool name_valid = name && is_name(*name);
    failure.kind = kind_known ? *kind : "";
    failure.name = name_valid ? *name : "";

    if (const auto tag = text_of(entry.build_tag); tag != build_tag) {
        refuse("build", fmt::format("was built as \"{}\" and this program as \"{}\"; rebuild the plugin with the same "
                                    "standard library, sanitizers and SDK {}",
                                    tag.value_or("?"), build_tag, sdk_version));
    }
    if (!kind_known) {
        refuse("entry", must_be("kind", kind, "target, mode, backend, projection or construction"));
    }
    if (!name_valid) {
        refuse("entry", must_be("name", name, "lower-case words such as ring, or acme.ring with a prefix"));
    }
    const std::optional<std::string> version = text_of(entry.version);
    if (!version || !is_version(*version)) {
        refuse("entry", must_be("version", version, "one such as 1.0.0"));
    }
    const std::optional<std::string> summary = text_of(entry.summary);
    if (!summary) {
        refuse("entry", must_be("summary", summary, "one line of UTF-8"));
    }
    return {.kind = *kind, .name = *name, .version = *version, .summary = *summary, .file = file};
}

std::variant<PluginInfo, LoadFailure> read_plugin_entry(const std::filesystem::path& file) {
    try {
        return parse_plugin_entry(read_exported_bytes(file, "attnspan_plugin", sizeof(PluginEntry)), file);
    } catch (const LoadRefused& refused) {
        return refused.failure;
    }
}

}  // namespace attnspan::runtime
