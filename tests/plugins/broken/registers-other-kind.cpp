#include "broken.hpp"

namespace {

void register_plugin(attnspan::Registrar& registrar) {
    registrar.add_target({}, [](const attnspan::Parameters&) -> std::unique_ptr<attnspan::Target> { return nullptr; });
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.registers-other-kind", &register_plugin);
