# Writes build_info.hpp with the version and the commit of the source; touches it only when they change.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
set(text "#pragma once

namespace attnspan::experiment {

inline constexpr char build_version[] = \"${VERSION}\";
inline constexpr char build_commit[] = \"${commit}\";

}  // namespace attnspan::experiment
")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE "${OUTPUT}" "${text}")
endif()
