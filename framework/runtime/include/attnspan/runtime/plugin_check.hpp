#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "attnspan/runtime/document.hpp"
#include "attnspan/runtime/registry.hpp"

namespace attnspan::runtime {

/// Hears how the check of a plugin goes, in order.
struct CheckListener {
    std::function<void(const std::string& check)> begin;  ///< what follows belongs to this check
    std::function<void(const std::string& problem, const std::string& remedy)> found;
    std::function<void(const std::string& reason)> skipped;  ///< the check could not be made
};

/// Tests the plugin library `file`: the file and its entry, what it exports, loading, its parameters with their
/// defaults and the ends of their ranges, equal results for equal parameters, empty and odd sizes. Runs the plugin's
/// code: only a process of its own is safe from crashes and endless loops. `values` may give a table of parameters
/// under the kind's name; required ones that are missing there are made up. `others` has the back end and the
/// projection that a construction is tried with.
void check_plugin(const std::filesystem::path& file, const ConfigDocument& values, Registry& others,
                  const CheckListener& listener);

}  // namespace attnspan::runtime
