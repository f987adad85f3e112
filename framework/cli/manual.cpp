#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <ostream>
#include <sstream>

#include "attnspan/experiment/provenance.hpp"
#include "attnspan/io/atomic.hpp"
#include "attnspan/runtime/nearest.hpp"
#include "commands.hpp"

/// Manual pages, made of what the commands say of themselves.
namespace attnspan::cli {
namespace {

namespace po = boost::program_options;

/// A page of its own for the program and for every command that runs.
struct Page {
    std::string name;  ///< "attnspan-plugins-check"
    const Command* command;
};

void collect(const Command& command, const std::string& name, std::vector<Page>& out) {
    out.push_back({.name = name, .command = &command});
    for (const Command& below : command.commands) {
        collect(below, name + '-' + below.name, out);
    }
}

/// Text that roff shows as it stands.
std::string roff(const std::string& text) {
    std::string out;
    bool at_start = true;
    for (const char c : text) {
        if (at_start && (c == '.' || c == '\'')) {
            out += "\\&";
        }
        at_start = c == '\n';
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    return out;
}

void write_options(std::ostream& out, const po::options_description& options) {
    out << ".SH OPTIONS\n";
    for (const auto& option : options.options()) {
        out << ".TP\n\\fB" << roff("--" + option->long_name()) << "\\fR";
        if (const std::string value = value_name(*option); !value.empty()) {
            // Behind the name stands the default, if there is one.
            out << " \\fI" << roff(value) << "\\fR" << roff(option->semantic()->name().substr(value.size()));
        }
        out << '\n' << roff(option->description()) << '\n';
    }
}

std::string page(const Page& wanted, const std::vector<Page>& all) {
    const Command& command = *wanted.command;
    const std::string heading = upper_case(wanted.name);
    std::ostringstream out;
    out << fmt::format(".TH {} 1 \"\" \"attnspan {}\" \"User Commands\"\n", heading, experiment::version());
    out << ".SH NAME\n" << roff(wanted.name) << " \\- " << roff(command.summary) << '\n';
    out << ".SH SYNOPSIS\n";
    if (command.run) {
        const CommandLine line = command.line();
        out << ".B attnspan\n" << roff(line.usage()) << "\n.SH DESCRIPTION\n" << roff(line.text()) << '\n';
        write_options(out, line.options());
    } else {
        std::string words = wanted.name;
        std::replace(words.begin(), words.end(), '-', ' ');
        out << ".B " << words << "\nCOMMAND ...\n.SH COMMANDS\n";
        for (const Command& below : command.commands) {
            out << ".TP\n\\fB" << roff(below.name) << "\\fR\n" << roff(below.summary) << '\n';
        }
    }
    out << ".SH EXIT STATUS\n"
           "0: passed, or done; 1: it ran, but the criterion was not met; 2: usage or configuration; 3: a plugin;\n"
           "4: input data; 5: resources, files, the operating system.\n"
           ".SH ENVIRONMENT\n.TP\n.B ATTNSPAN_PLUGIN_PATH\n"
           "Plugin libraries and folders of them, absolute, with colons between.\n"
           ".SH SEE ALSO\n";
    std::string others;
    for (const Page& other : all) {
        if (other.name != wanted.name) {
            others += (others.empty() ? "" : ",\n") + fmt::format("\\fB{}\\fR(1)", roff(other.name));
        }
    }
    out << others << '\n';
    return std::move(out).str();
}

CommandLine man_line() {
    CommandLine line("man [COMMAND] [options]",
                     "Prints the manual page of the program or of a command, for man: attnspan man run | man -l -\n"
                     "Commands of two words are given with a hyphen: attnspan man plugins-check",
                     {{.name = "COMMAND", .required = false}});
    line.options().add_options()("out", po::value<std::string>()->value_name("DIR"),
                                 "write all pages into this folder instead");
    return line;
}

int man(const CommandLine& line) {
    const Command root = program();
    std::vector<Page> pages;
    collect(root, root.name, pages);
    if (const auto out = line.optional<std::string>("out")) {
        std::filesystem::create_directories(*out);
        for (const Page& p : pages) {
            io::write_file_atomically(std::filesystem::path(*out) / (p.name + ".1"),
                                      [&](std::ostream& file) { file << page(p, pages); });
        }
        return 0;
    }
    const std::string asked_for = line.positional("COMMAND");
    const std::string name = asked_for.empty() ? root.name : root.name + '-' + asked_for;
    const auto found = std::find_if(pages.begin(), pages.end(), [&](const Page& p) { return p.name == name; });
    if (found == pages.end()) {
        std::vector<std::string> names;
        names.reserve(pages.size());
        for (const Page& p : pages) {
            names.push_back(p.name.substr(std::min(root.name.size() + 1, p.name.size())));
        }
        const auto near = runtime::nearest(asked_for, names);
        line.fail(fmt::format("\"{}\" is no command; {}", asked_for,
                              near ? fmt::format("did you mean {}?", *near) : "`attnspan --help` lists them"));
    }
    std::cout << page(*found, pages);
    return 0;
}

}  // namespace

Command man_command() {
    return {.name = "man", .summary = "the manual page of a command", .line = man_line, .run = man};
}

}  // namespace attnspan::cli
