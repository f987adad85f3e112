#pragma once

#include <string>
#include <vector>

namespace attnspan::cli {

// One per file of the same name. Each takes the words after its name and returns the exit code.
int run_command(const std::vector<std::string>& words);
int target_command(const std::vector<std::string>& words);
int verify_command(const std::vector<std::string>& words);
int bound_command(const std::vector<std::string>& words);
int plugins_command(const std::vector<std::string>& words);
int plugins_check_command(const std::vector<std::string>& words);
int config_command(const std::vector<std::string>& words);

}  // namespace attnspan::cli
