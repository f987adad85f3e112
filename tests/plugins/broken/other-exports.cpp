#include "broken.hpp"

/// A function outside of any unnamed namespace, in a library that hides nothing.
attnspan::Index helper(attnspan::Index keys);
attnspan::Index helper(attnspan::Index keys) {
    return keys;
}

constinit const attnspan::PluginEntry attnspan_plugin =
    broken::entry("test.other-exports", [](attnspan::PluginEntry&) {});
