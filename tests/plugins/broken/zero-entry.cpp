#include "attnspan/plugin.hpp"

// All zero and not constant: the linker gives it memory, but no place in the file.
extern "C" [[gnu::visibility("default")]] attnspan::PluginEntry attnspan_plugin;

attnspan::PluginEntry attnspan_plugin{};
