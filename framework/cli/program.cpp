#include "commands.hpp"

namespace attnspan::cli {

Command program() {
    return {.name = "attnspan",
            .summary = "how small can a self-attention head be and still produce a given sparse attention pattern?",
            .commands = {run_command(), init_command(), target_command(), verify_command(), bound_command(),
                         plugins_command(), config_command(), completion_command(), man_command()}};
}

}  // namespace attnspan::cli
