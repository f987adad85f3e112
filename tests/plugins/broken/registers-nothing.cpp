#include "broken.hpp"

namespace {

void register_plugin(attnspan::Registrar&) {}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.registers-nothing", &register_plugin);
