#include "broken.hpp"

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.older-abi", [](attnspan::PluginEntry& e) { --e.abi; });
