#include "broken.hpp"

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.struct-size", [](attnspan::PluginEntry& e) { e.struct_size -= 8; });
