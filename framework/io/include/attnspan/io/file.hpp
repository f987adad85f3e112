#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace attnspan::io {

/// The bytes of a file (or a pipe), at most the first `limit`.
/// @throws Error(resource) with the system's reason, also for a folder and for what does not fit into memory
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::size_t limit = std::numeric_limits<std::size_t>::max());

/// What bytes look like, for messages that refuse them: completes the sentence "this is ...", with what to do about it
/// where that is known.
[[nodiscard]] std::string describe_content(std::string_view bytes);

}  // namespace attnspan::io
