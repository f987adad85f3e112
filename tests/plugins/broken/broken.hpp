#pragma once

#include <cstddef>
#include <string_view>

#include "attnspan/plugin.hpp"

extern "C" [[gnu::visibility("default")]] const attnspan::PluginEntry attnspan_plugin;

namespace broken {

/// Nothing is wrong with this mode: every query sees every key.
class Mode : public attnspan::Mode {
public:
    static attnspan::ParameterSpecs parameters() { return {}; }
    explicit Mode(const attnspan::Parameters&) {}

private:
    [[nodiscard]] attnspan::KeyRange do_visible(attnspan::Index, attnspan::Index, attnspan::Index keys) const override {
        return {.begin = 0, .end = keys};
    }
};

inline constexpr attnspan::PluginEntry correct =
    attnspan::detail::entry<Mode>("test.unnamed", "1.0.0", "A plugin that is wrong in one way");

/// A correct entry, and what `change` makes of it.
template <class Change>
constexpr attnspan::PluginEntry entry(std::string_view name, Change change) {
    attnspan::PluginEntry made = correct;
    for (std::size_t i = 0; i < sizeof made.name; ++i) {
        made.name[i] = i < name.size() ? name[i] : '\0';
    }
    change(made);
    return made;
}

/// A correct entry with another register function.
constexpr attnspan::PluginEntry entry_registering(std::string_view name, void (*function)(attnspan::Registrar&)) {
    return entry(name, [function](attnspan::PluginEntry& e) { e.register_plugin = function; });
}

}  // namespace broken
