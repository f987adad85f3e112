#include <fmt/format.h>

#include "attnspan/runtime/registry.hpp"

namespace attnspan::runtime {

namespace fs = std::filesystem;

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
    std::string_view rest = sources.environment ? std::string_view(*sources.environment) : std::string_view();
    for (bool more = !rest.empty(); more;) {
        const std::size_t colon = rest.find(':');
        const fs::path entry = rest.substr(0, colon);
        more = colon != std::string_view::npos;
        rest.remove_prefix(more ? colon + 1 : rest.size());
        const char* const problem = entry.empty()               ? "has an empty entry"
                                    : !entry.is_absolute()      ? "names a relative path"
                                    : !fs::exists(entry, error) ? "names what does not exist"
                                                                : nullptr;
        if (problem == nullptr) {
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
