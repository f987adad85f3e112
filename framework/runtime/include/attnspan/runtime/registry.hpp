#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnspan/error.hpp"
#include "attnspan/runtime/entry.hpp"
#include "attnspan/runtime/library.hpp"
#include "attnspan/runtime/load_failure.hpp"

namespace attnspan::runtime {

/// Where plugins are looked for: absolute folders and files, in order.
struct SearchPath {
    std::vector<std::filesystem::path> entries;
    std::vector<LoadFailure> failures{};  ///< entries that were refused, stage "path"
};

/// What the search path is made of.
struct SearchPathSources {
    std::filesystem::path executable_dir;          ///< folder of the running program
    std::filesystem::path installed_plugin_dir;    ///< as configured at build time
    std::optional<std::string> environment{};      ///< ATTNSPAN_PLUGIN_PATH: absolute paths with colons between
    std::vector<std::filesystem::path> options{};  ///< values of --plugin-path; relative ones to the working directory
};

/// The options' entries, then the environment's, then the folder of the built-in plugins: lib/attnspan/plugins beside
/// the executable's folder or, where that does not exist, the installed one. Never both, or an uninstalled build would
/// meet every plugin twice; and never the working directory, unless an option names it.
/// @throws Error(usage) for an option that names nothing; in the environment that is a failure record
[[nodiscard]] SearchPath default_search_path(const SearchPathSources& sources);

/// The plugins of a search path. Finding them reads files and runs none of their code; a library is loaded when it is
/// first asked for. One thread at a time; what find() returns is independent of the registry's life.
class Registry {
public:
    /// Reads the entry of every file given and of every *.so of the folders given, in the order of their names. The
    /// same file met twice counts once. Different files with the same kind and name are all refused.
    explicit Registry(const SearchPath& path);

    /// The usable plugins, by kind (in the order of plugin_kinds) and name; those that failed to load are not among
    /// them.
    [[nodiscard]] std::vector<PluginInfo> plugins() const;
    [[nodiscard]] const std::vector<LoadFailure>& failures() const { return failures_; }

    /// The plugin, loaded. `where` is where its name was written.
    /// @throws Error(plugin) with stage and reason when its file is refused; Error(config) for an unknown name, with
    /// the nearest one and all that are known
    [[nodiscard]] std::shared_ptr<const Library> find(std::string_view kind, std::string_view name,
                                                      const Location& where = {});

    /// Loads everything, so that plugins() and failures() are final.
    void load_all();

private:
    struct Slot {
        PluginInfo info;
        std::shared_ptr<const Library> library;  ///< null until asked for
    };

    void add_file(const std::filesystem::path& file);
    void refuse_ambiguous();
    /// Loads the slot's library if need be; on failure the slot makes way for a failure record. Returns success.
    bool load(std::vector<Slot>::iterator slot);
    [[noreturn]] void fail_unknown(std::string_view kind, std::string_view name, const Location& where) const;

    std::vector<std::filesystem::path> searched_;
    std::vector<Slot> slots_;
    std::vector<LoadFailure> failures_;
};

}  // namespace attnspan::runtime
