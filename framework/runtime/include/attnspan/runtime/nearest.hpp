#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attnspan::runtime {

/// The known word that `word` most likely meant: the least number of insertions, deletions, replacements and swaps of
/// neighbours, the first among equals. None when more than a third of the longer word (and more than one letter) would
/// change, or all of it.
/// Source: Damerau-Levenshtein distance in its restricted form (optimal string alignment).
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace attnspan::runtime
