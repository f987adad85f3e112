#include "broken.hpp"

constinit const attnspan::PluginEntry attnspan_plugin = broken::entry("test.Bad-name", [](attnspan::PluginEntry&) {});
