#pragma once

#include "command_line.hpp"

namespace attnspan::cli {

// One per file of the same name.
Command run_command();
Command target_command();
Command verify_command();
Command bound_command();
Command init_command();
Command plugins_command();
Command plugins_check_command();
Command config_command();
Command completion_command();
Command man_command();

/// attnspan itself, with all of them.
Command program();

/// What the shells' scripts ask: words after the program's name, the last one being written. See completion.cpp.
int complete(const std::vector<std::string>& words);

}  // namespace attnspan::cli
