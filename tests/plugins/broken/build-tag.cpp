#include "broken.hpp"

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.build-tag", [](attnspan::PluginEntry& e) { e.build_tag[0] = 'X'; });
