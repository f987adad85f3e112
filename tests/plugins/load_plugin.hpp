#pragma once

#include <dlfcn.h>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "attnspan/plugin.hpp"

namespace attnspan::test {

/// A plugin of the build, loaded without the runtime: what a test of the plugin itself needs and no more. `Kind` is the
/// interface; products must not outlive the object. Checks of the entry are the runtime's business and its tests'.
template <class Kind>
class LoadedPlugin {
public:
    /// `file` as in "projection-gaussian", looked for in `folder`.
    LoadedPlugin(const std::string& folder, const std::string& file)
        : library_(dlopen((folder + '/' + file + ".so").c_str(), RTLD_NOW | RTLD_LOCAL)) {
        REQUIRE_MESSAGE(library_, dlerror());
        const auto* entry = static_cast<const PluginEntry*>(dlsym(library_.get(), "attnspan_plugin"));
        REQUIRE(entry != nullptr);
        REQUIRE(file == std::string(entry->kind) + '-' + entry->name);
        entry->register_plugin(registered_);
        REQUIRE(registered_.made.index() != 0);
    }

    [[nodiscard]] const ParameterSpecs& parameters() const { return registered_.specs; }

    /// An object made with `values`, and the declared defaults for the rest. For a back end `arguments` is the thread
    /// count.
    template <class... Arguments>
    [[nodiscard]] std::unique_ptr<Kind> make(const std::map<std::string, ParameterValue>& values = {},
                                             Arguments... arguments) const {
        std::map<std::string, Parameters::Entry> entries;
        for (const ParameterSpec& spec : registered_.specs) {
            if (const auto given = values.find(spec.name); given != values.end()) {
                entries[spec.name].value = given->second;
            } else if (spec.default_value.index() != 0) {
                entries[spec.name].value = spec.default_value;
            }
        }
        using Maker = std::unique_ptr<Kind> (*)(const Parameters&, Arguments...);
        return std::get<Maker>(registered_.made)(Parameters("test", {}, std::move(entries)), arguments...);
    }

private:
    struct Registered final : Registrar {
        void add_target(ParameterSpecs p, Make<Target> make) override { keep(std::move(p), make); }
        void add_mode(ParameterSpecs p, Make<Mode> make) override { keep(std::move(p), make); }
        void add_backend(ParameterSpecs p, MakeBackend make) override { keep(std::move(p), make); }
        void add_projection(ParameterSpecs p, Make<Projection> make) override { keep(std::move(p), make); }
        void add_construction(ParameterSpecs p, bool, Make<Construction> make) override { keep(std::move(p), make); }

        template <class Maker>
        void keep(ParameterSpecs p, Maker make) {
            specs = std::move(p);
            made = make;
        }

        ParameterSpecs specs;
        std::variant<std::monostate, Make<Target>, Make<Mode>, MakeBackend, Make<Projection>, Make<Construction>> made;
    };
    struct Close {
        void operator()(void* handle) const { dlclose(handle); }
    };

    std::unique_ptr<void, Close> library_;
    Registered registered_;
};

}  // namespace attnspan::test
