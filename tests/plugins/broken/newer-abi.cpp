#include "broken.hpp"

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.newer-abi", [](attnspan::PluginEntry& e) { ++e.abi; });
