#include "broken.hpp"

void defined_nowhere();

namespace {

void register_plugin(attnspan::Registrar&) {
    defined_nowhere();
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.undefined-symbol", &register_plugin);
