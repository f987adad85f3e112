#include "broken.hpp"

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.null-register", [](attnspan::PluginEntry& e) { e.register_plugin = nullptr; });
