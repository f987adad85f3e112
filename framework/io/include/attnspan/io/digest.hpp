#pragma once

#include <filesystem>
#include <string>

namespace attnspan::io {

/// SHA-256 of a file's bytes in hexadecimal, as `sha256sum` prints it.
/// @throws Error(resource)
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace attnspan::io
