#include "broken.hpp"

namespace {

void register_plugin(attnspan::Registrar& registrar) {
    registrar.add_mode({}, &attnspan::detail::make<attnspan::Mode, broken::Mode>);
    registrar.add_mode({}, &attnspan::detail::make<attnspan::Mode, broken::Mode>);
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.registers-twice", &register_plugin);
