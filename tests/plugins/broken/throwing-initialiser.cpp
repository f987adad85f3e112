#include <stdexcept>

#include "broken.hpp"

namespace {

int fails() {
    throw std::runtime_error("no device found");
}

// Ends the process that loads this library. Finding the plugin must not.
const int initialised_at_load = fails();

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.throwing-initialiser", [](attnspan::PluginEntry&) {});
