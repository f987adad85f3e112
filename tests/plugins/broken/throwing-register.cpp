#include "broken.hpp"

#include <stdexcept>

namespace {

void register_plugin(attnspan::Registrar&) {
    throw std::runtime_error("no licence found");
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry_registering("test.throwing-register", &register_plugin);
