#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

#include "attnspan/error.hpp"
#include "attnspan/runtime/nearest.hpp"

namespace attnspan::cli {
namespace po = boost::program_options;

CommandLine::CommandLine(std::string usage, std::string text, std::vector<Positional> positionals)
    : usage_(std::move(usage)), text_(std::move(text)), positionals_(std::move(positionals)), options_("options", 100) {
    options_.add_options()("help,h", "show this help");
}

void CommandLine::fail(const std::string& message) const {
    throw Error(ErrorKind::usage, fmt::format("{}\nusage: attnspan {}", message, usage_));
}

void CommandLine::refuse_unknown(const std::string& option) const {
    std::vector<std::string> known;
    for (const auto& one : options_.options()) {
        known.push_back("--" + one->long_name());
    }
    const auto near = runtime::nearest(option.substr(0, option.find('=')), known);
    fail(fmt::format("unknown option {}{}", option, near ? fmt::format("; did you mean {}?", *near) : ""));
}

bool CommandLine::parse(const std::vector<std::string>& words) {
    try {
        const po::parsed_options parsed =
            po::command_line_parser(words)
                .options(options_)
                .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                .allow_unregistered()
                .run();
        for (const auto& option : parsed.options) {
            if (option.unregistered) {
                refuse_unknown(option.original_tokens.front());
            }
            if (option.position_key >= 0) {
                words_.insert(words_.end(), option.value.begin(), option.value.end());
            }
        }
        po::parsed_options named = parsed;
        std::erase_if(named.options, [](const po::option& o) { return o.position_key >= 0; });
        po::store(named, values_);
        po::notify(values_);
    } catch (const po::error& e) {
        fail(e.what());
    }
    if (values_.count("help") > 0) {
        std::ostringstream options;
        options << options_;
        std::cout << fmt::format("usage: attnspan {}\n\n{}\n\n{}", usage_, text_, options.str());
        return false;
    }
    if (words_.size() > positionals_.size()) {
        fail(fmt::format("\"{}\" is one word too many", words_[positionals_.size()]));
    }
    if (words_.size() < positionals_.size() && positionals_[words_.size()].required) {
        fail(fmt::format("{} is missing", positionals_[words_.size()].name));
    }
    return true;
}

bool CommandLine::has(const std::string& option) const {
    return values_.count(option) > 0 && !values_[option].defaulted();
}

std::vector<std::string> CommandLine::all(const std::string& option) const {
    return values_.count(option) > 0 ? values_[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string CommandLine::positional(const std::string& name) const {
    const auto at =
        std::find_if(positionals_.begin(), positionals_.end(), [&](const Positional& p) { return p.name == name; });
    const auto place = static_cast<std::size_t>(at - positionals_.begin());
    return place < words_.size() ? words_[place] : std::string();
}

std::string value_name(const po::option_description& option) {
    const std::string name = option.semantic()->max_tokens() == 0 ? "" : option.semantic()->name();
    return name.substr(0, name.find(' '));
}

std::string upper_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

namespace {

/// `path` is what stands before the words: "attnspan plugins".
int dispatch(const Command& command, const std::string& path, const std::vector<std::string>& words) {
    if (command.run) {
        CommandLine line = command.line();
        return line.parse(words) ? command.run(line) : 0;
    }
    std::vector<std::string> names;
    std::transform(command.commands.begin(), command.commands.end(), std::back_inserter(names),
                   [](const Command& c) { return c.name; });
    if (words.empty()) {
        throw Error(ErrorKind::usage, fmt::format("a command is missing; one of {} (`{} --help` explains them)",
                                                  fmt::join(names, ", "), path));
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        std::cout << fmt::format("usage: {} COMMAND ...\n\ncommands:\n", path);
        for (const Command& c : command.commands) {
            std::cout << fmt::format("  {:<10} {}\n", c.name, c.summary);
        }
        std::cout << fmt::format("\n`{} COMMAND --help` explains one of them.\n", path);
        return 0;
    }
    const auto found = std::find_if(command.commands.begin(), command.commands.end(),
                                    [&](const Command& c) { return c.name == words[0]; });
    if (found == command.commands.end()) {
        const auto near = runtime::nearest(words[0], names);
        throw Error(ErrorKind::usage, fmt::format("\"{}\" is no command of {}; {}", words[0], path,
                                                  near ? fmt::format("did you mean \"{}\"?", *near)
                                                       : fmt::format("they are {}", fmt::join(names, ", "))));
    }
    return dispatch(*found, path + ' ' + found->name, {words.begin() + 1, words.end()});
}

}  // namespace

int dispatch(const Command& program, const std::vector<std::string>& words) {
    return dispatch(program, program.name, words);
}

}  // namespace attnspan::cli
