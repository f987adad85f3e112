#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attnspan/error.hpp"
#include "attnspan/types.hpp"

/// What the readers and writers of this room share.
namespace attnspan::io::detail {

[[noreturn]] inline void fail(const std::string& message, Location where) {
    throw Error(ErrorKind::data, message, std::move(where));
}

/// Error(resource) "<path>: cannot <verb>: <text of the system's error number>".
[[noreturn]] void fail_system(const std::string& verb, const std::filesystem::path& path, int error_number);

/// The text in quotes, fit for a message: control characters and foreign bytes as '?', long texts cut.
[[nodiscard]] std::string quoted(std::string_view text);

/// Shortest text that reads back as the same number.
[[nodiscard]] std::string shortest(double value);

/// "(2, 3, 4)", as Python writes a tuple: "(2,)" for one element.
[[nodiscard]] std::string tuple(std::span<const Index> values);

/// Product of factors >= 0; nothing when it does not fit into an Index.
[[nodiscard]] std::optional<Index> product(std::span<const Index> factors);

/// Whether a double holds an integer of this magnitude without rounding.
[[nodiscard]] bool is_exact_in_double(std::uint64_t magnitude);

}  // namespace attnspan::io::detail
