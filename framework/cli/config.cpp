#include "attnspan/runtime/config.hpp"

#include <fmt/format.h>

#include <array>
#include <iostream>

#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"

namespace attnspan::cli {
namespace {

CommandLine check_line() {
    CommandLine line("config check CONFIG [options]", "Checks every key, type and range without running anything.",
                     {{.name = "CONFIG"}});
    add_config_options(line);
    return line;
}

int check(const CommandLine& line) {
    runtime::Registry registry = open_registry(line);
    (void)runtime::resolve(read_document(line, line.positional("CONFIG")), registry);
    std::cout << fmt::format("{}: ok\n", line.positional("CONFIG"));
    return 0;
}

CommandLine print_line() {
    CommandLine line("config print CONFIG [options]", "Prints the configuration with every default filled in, as TOML.",
                     {{.name = "CONFIG"}});
    add_config_options(line);
    return line;
}

int print(const CommandLine& line) {
    runtime::Registry registry = open_registry(line);
    std::cout << runtime::to_toml(runtime::resolve(read_document(line, line.positional("CONFIG")), registry));
    return 0;
}

}  // namespace

Command config_command() {
    return {.name = "config",
            .summary = "check or print a configuration without running it",
            .commands = {{.name = "check", .summary = "is it right?", .line = check_line, .run = check},
                         {.name = "print", .summary = "with all defaults, as TOML", .line = print_line, .run = print}}};
}

}  // namespace attnspan::cli
