#include "attnspan/runtime/config.hpp"

#include <fmt/format.h>

#include <array>
#include <iostream>

#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"

namespace attnspan::cli {
namespace {

int check(const std::vector<std::string>& words) {
    CommandLine line("config check CONFIG [options]", "Checks every key, type and range without running anything.",
                     {{.name = "CONFIG"}});
    add_config_options(line);
    if (!line.parse(words)) {
        return 0;
    }
    runtime::Registry registry = open_registry(line);
    (void)runtime::resolve(read_document(line, line.positional("CONFIG")), registry);
    std::cout << fmt::format("{}: ok\n", line.positional("CONFIG"));
    return 0;
}

int print(const std::vector<std::string>& words) {
    CommandLine line("config print CONFIG [options]", "Prints the configuration with every default filled in, as TOML.",
                     {{.name = "CONFIG"}});
    add_config_options(line);
    if (!line.parse(words)) {
        return 0;
    }
    runtime::Registry registry = open_registry(line);
    std::cout << runtime::to_toml(runtime::resolve(read_document(line, line.positional("CONFIG")), registry));
    return 0;
}

}  // namespace

int config_command(const std::vector<std::string>& words) {
    const std::array<Command, 2> commands{
        {{"check", "is it right?", check}, {"print", "with all defaults, as TOML", print}}};
    return dispatch("attnspan config", commands, words);
}

}  // namespace attnspan::cli
