#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "attnspan/backend.hpp"
#include "attnspan/construction.hpp"
#include "attnspan/error.hpp"
#include "attnspan/mode.hpp"
#include "attnspan/parameters.hpp"
#include "attnspan/projection.hpp"
#include "attnspan/target.hpp"
#include "attnspan/version.hpp"

namespace attnspan {

/// Where a plugin's register function hands over its maker. Implemented by the host; one call, of the overload that
/// fits the kind in the entry. Valid during the call only.
class Registrar {
public:
    template <class Kind>
    using Make = std::unique_ptr<Kind> (*)(const Parameters&);
    /// `threads` is how many threads a back end may use in a factorisation.
    using MakeBackend = std::unique_ptr<Backend> (*)(const Parameters&, Index threads);

    Registrar() = default;
    Registrar(const Registrar&) = delete;
    Registrar& operator=(const Registrar&) = delete;
    virtual ~Registrar() = default;

    virtual void add_target(ParameterSpecs parameters, Make<Target> make) = 0;
    virtual void add_mode(ParameterSpecs parameters, Make<Mode> make) = 0;
    virtual void add_backend(ParameterSpecs parameters, MakeBackend make) = 0;
    virtual void add_projection(ParameterSpecs parameters, Make<Projection> make) = 0;
    /// `uses_projection`: the construction's table may hold an inner table `projection`.
    virtual void add_construction(ParameterSpecs parameters, bool uses_projection, Make<Construction> make) = 0;
};

/// The one symbol a plugin library exports, a plain C struct of fixed layout under the name `attnspan_plugin`. Its
/// texts stand in the struct itself, zero-terminated, so that the host reads and checks every field in the file before
/// it loads the library or runs any of its code.
struct PluginEntry {
    char magic[8];              ///< "attnspan"
    std::uint32_t abi;          ///< sdk_abi
    std::uint32_t struct_size;  ///< sizeof(PluginEntry)
    char build_tag[96];
    char kind[16];  ///< "target", "mode", "backend", "projection" or "construction"
    char name[64];  ///< as written in `plugin = "..."`; third parties use a prefix: "acme.ring"
    char version[24];
    char summary[160];                    ///< one line, without a full stop
    void (*register_plugin)(Registrar&);  ///< called once, on the main thread, after all other fields were checked
};

namespace detail {

template <std::size_t size>
consteval void copy_text(char (&to)[size], std::string_view from) {
    if (from.size() >= size) {
        throw "a text of the plugin entry is too long";  // stops the compilation
    }
    for (std::size_t i = 0; i < size; ++i) {
        to[i] = i < from.size() ? from[i] : '\0';
    }
}

template <class Plugin>
consteval std::string_view kind_of() {
    if constexpr (std::is_base_of_v<Target, Plugin>) {
        return "target";
    } else if constexpr (std::is_base_of_v<Mode, Plugin>) {
        return "mode";
    } else if constexpr (std::is_base_of_v<Backend, Plugin>) {
        return "backend";
    } else if constexpr (std::is_base_of_v<Projection, Plugin>) {
        return "projection";
    } else {
        static_assert(std::is_base_of_v<Construction, Plugin>, "a plugin derives from one of the five kinds");
        return "construction";
    }
}

template <class Kind, class Plugin>
std::unique_ptr<Kind> make(const Parameters& parameters) {
    return std::make_unique<Plugin>(parameters);
}

template <class Plugin>
void register_plugin(Registrar& registrar) {
    if constexpr (std::is_base_of_v<Target, Plugin>) {
        registrar.add_target(Plugin::parameters(), &make<Target, Plugin>);
    } else if constexpr (std::is_base_of_v<Mode, Plugin>) {
        registrar.add_mode(Plugin::parameters(), &make<Mode, Plugin>);
    } else if constexpr (std::is_base_of_v<Backend, Plugin>) {
        registrar.add_backend(Plugin::parameters(),
                              [](const Parameters& parameters, Index threads) -> std::unique_ptr<Backend> {
                                  return std::make_unique<Plugin>(parameters, threads);
                              });
    } else if constexpr (std::is_base_of_v<Projection, Plugin>) {
        registrar.add_projection(Plugin::parameters(), &make<Projection, Plugin>);
    } else {
        registrar.add_construction(Plugin::parameters(), Plugin::uses_projection, &make<Construction, Plugin>);
    }
}

template <class Plugin>
consteval PluginEntry entry(std::string_view name, std::string_view version, std::string_view summary) {
    PluginEntry e{};
    for (std::size_t i = 0; i < sizeof e.magic; ++i) {
        e.magic[i] = "attnspan"[i];
    }
    e.abi = sdk_abi;
    e.struct_size = sizeof(PluginEntry);
    copy_text(e.build_tag, build_tag);
    copy_text(e.kind, kind_of<Plugin>());
    copy_text(e.name, name);
    copy_text(e.version, version);
    copy_text(e.summary, summary);
    e.register_plugin = &register_plugin<Plugin>;
    return e;
}

}  // namespace detail
}  // namespace attnspan

/// Makes a library a plugin: once per library, at namespace scope. `Plugin` derives from Target, Mode, Backend,
/// Projection or Construction and has
///   static ParameterSpecs parameters();
///   explicit Plugin(const Parameters&);                 // back ends: Plugin(const Parameters&, Index threads)
///   static constexpr bool uses_projection = ...;        // constructions only
#define ATTNSPAN_PLUGIN(Plugin, name, version, summary)                                                    \
    extern "C" {                                                                                           \
    __attribute__((visibility("default"))) extern constinit const ::attnspan::PluginEntry attnspan_plugin; \
    constinit const ::attnspan::PluginEntry attnspan_plugin =                                              \
        ::attnspan::detail::entry<Plugin>(name, version, summary);                                         \
    }                                                                                                      \
    static_assert(true)
