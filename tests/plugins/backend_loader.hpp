#pragma once

#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "attnspan/plugin.hpp"

namespace attnspan::test {

/// Takes the maker of a back end and refuses every other kind.
class BackendRegistrar final : public Registrar {
public:
    MakeBackend make = nullptr;

    void add_target(ParameterSpecs, Make<Target>) override { refuse(); }
    void add_mode(ParameterSpecs, Make<Mode>) override { refuse(); }
    void add_backend(ParameterSpecs, MakeBackend maker) override { make = maker; }
    void add_projection(ParameterSpecs, Make<Projection>) override { refuse(); }
    void add_construction(ParameterSpecs, bool, Make<Construction>) override { refuse(); }

private:
    [[noreturn]] static void refuse() { throw std::runtime_error("a library other than a back end"); }
};

/// A back end from its library, which stays loaded.
inline std::unique_ptr<Backend> load_backend(const std::string& library, Index threads = 1) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw std::runtime_error(dlerror());
    }
    const auto* entry = static_cast<const PluginEntry*>(dlsym(handle, "attnspan_plugin"));
    if (entry == nullptr) {
        throw std::runtime_error(dlerror());
    }
    BackendRegistrar registrar;
    entry->register_plugin(registrar);
    return registrar.make(Parameters{}, threads);
}

}  // namespace attnspan::test
