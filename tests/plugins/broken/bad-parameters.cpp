#include "broken.hpp"

namespace {

void register_plugin(attnspan::Registrar& registrar) {
    using namespace attnspan::parameter;
    registrar.add_mode({integer("width", "keys on either side").at_least(1).defaults_to(0)},
                       &attnspan::detail::make<attnspan::Mode, broken::Mode>);
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.bad-parameters", &register_plugin);
