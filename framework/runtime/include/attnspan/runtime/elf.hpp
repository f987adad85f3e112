#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace attnspan::runtime {

/// The initial bytes of the variable `symbol` that the shared library `file` exports: at most `limit` of them, fewer
/// when the variable is smaller. Read from the file alone, found the way the dynamic linker finds it (dynamic section,
/// symbol hash table), so that stripped section headers do not matter; none of the library's code runs.
/// Before that, everything that would make dlopen crash rather than fail is checked: the library is for this machine
/// and no part of it is cut off. Any file whatever is safe to ask about.
/// @throws LoadRefused with stage "file", "format" or, when nothing is exported under that name, "entry"
/// Source: System V gABI, chapters 4 and 5; the GNU hash table as in glibc's elf/dl-lookup.c.
[[nodiscard]] std::vector<std::byte> read_exported_bytes(const std::filesystem::path& file, const std::string& symbol,
                                                         std::size_t limit);

/// The names of the functions and variables that the library defines and exports, inline ones aside (weak symbols: many
/// of the standard library's templates stay visible whatever a library is compiled with), and names of the compiler's
/// own aside (two underscores in front). Read from the file alone.
/// @throws LoadRefused with stage "file" or "format"
[[nodiscard]] std::vector<std::string> read_strong_exports(const std::filesystem::path& file);

}  // namespace attnspan::runtime
