#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

namespace attnspan::runtime {

/// Why a plugin file cannot be used. A value to list beside the plugins that work; one failure never stops the others.
struct LoadFailure {
    std::filesystem::path file;
    /// How far the file came: "path" (of the search), "file", "format" (ELF), "entry" (what `attnspan_plugin` says),
    /// "abi", "build", "ambiguous", "load" (dlopen) or "register".
    std::string stage;
    std::string reason;  ///< one sentence that follows the file's name
    std::string name{};  ///< of the plugin; empty while unknown
    std::string kind{};  ///< empty while unknown
};

/// Carries a LoadFailure out of the functions that check a file.
class LoadRefused : public std::runtime_error {
public:
    explicit LoadRefused(LoadFailure why) : std::runtime_error(why.reason), failure(std::move(why)) {}

    LoadFailure failure;
};

}  // namespace attnspan::runtime
