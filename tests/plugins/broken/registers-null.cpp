#include "broken.hpp"

namespace {

void register_plugin(attnspan::Registrar& registrar) {
    registrar.add_mode({}, nullptr);
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.registers-null", &register_plugin);
