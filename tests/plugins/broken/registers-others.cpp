#include "broken.hpp"

namespace {

template <class Kind, class... Arguments>
std::unique_ptr<Kind> nothing(const attnspan::Parameters&, Arguments...) {
    return nullptr;
}

void register_plugin(attnspan::Registrar& registrar) {
    registrar.add_backend({}, &nothing<attnspan::Backend, attnspan::Index>);
    registrar.add_projection({}, &nothing<attnspan::Projection>);
    registrar.add_construction({}, true, &nothing<attnspan::Construction>);
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.registers-others", &register_plugin);
