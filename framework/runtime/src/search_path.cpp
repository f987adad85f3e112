#include <fmt/format.h>

#include <algorithm>

#include "attnspan/runtime/registry.hpp"

namespace attnspan::runtime {

namespace fs = std::filesystem;

namespace {

/// Why an entry of the environment variable is refused; empty when it is not.
std::string_view problem_of(const fs::path& entry) {
    if (entry.empty()) {
        return "has an empty entry";
    }
    if (!entry.is_absolute()) {
        return "names a relative path";
    }
    std::error_code error;
    return fs::exists(entry, error) ? "" : "names what does not exist";
}

}  // namespace

SearchPath default_search_path(const SearchPathSources& sources) {
    SearchPath path;
    std::error_code error;
    for (const fs::path& option : sources.options) {
        if (option.empty() || !fs::exists(option, error)) {
            throw Error(ErrorKind::usage,
                        fmt::format("\"{}\" does not exist; expected a plugin folder or file", option.string()),
                        {.source = "--plugin-path"});
        }
        path.entries.push_back(fs::absolute(option));
    }

    // An empty variable is how a shell switches it off; an empty entry among others would mean the working directory.
    const std::string list = sources.environment.value_or("");
    for (std::size_t begin = 0, end = 0; !list.empty() && begin <= list.size(); begin = end + 1) {
        end = std::min(list.find(':', begin), list.size());
        const fs::path entry = list.substr(begin, end - begin);
        if (const std::string_view problem = problem_of(entry); problem.empty()) {
            path.entries.push_back(entry);
        } else {
            path.failures.push_back({.file = entry,
                                     .stage = "path",
                                     .reason = fmt::format("ATTNSPAN_PLUGIN_PATH {}; it takes absolute paths of plugin "
                                                           "folders and files with one colon between",
                                                           problem)});
        }
    }

    fs::path built_in = sources.executable_dir / ".." / "lib" / "attnspan" / "plugins";
    if (!fs::is_directory(built_in, error)) {
        built_in = sources.installed_plugin_dir;
    }
    if (fs::is_directory(built_in, error)) {
        path.entries.push_back(fs::absolute(built_in).lexically_normal());
    }
    return path;
}

}  // namespace attnspan::runtime
