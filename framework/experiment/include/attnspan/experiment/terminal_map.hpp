#pragma once

#include <iosfwd>

#include "attnspan/core/attention_maps.hpp"
#include "attnspan/experiment/heat_map.hpp"

namespace attnspan::experiment {

/// What a terminal can show.
enum class TerminalColours { none, indexed_256, rgb };

/// Draws A and P side by side, at most `columns` characters wide: two cells to a character as half blocks in colour, or
/// one cell to a character, denser for larger entries, without.
void draw_in_terminal(std::ostream& out, const core::AttentionMaps& maps, const HeatScale& scale, Index columns,
                      TerminalColours colours);

}  // namespace attnspan::experiment
