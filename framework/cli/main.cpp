#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "attnspan/error.hpp"
#include "attnspan/experiment/provenance.hpp"
#include "command_line.hpp"
#include "commands.hpp"

namespace {

using namespace attnspan;

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage:
        case ErrorKind::config:
            return 2;
        case ErrorKind::plugin:
            return 3;
        case ErrorKind::data:
            return 4;
        case ErrorKind::resource:
            return 5;
    }
    return 5;
}

int run(const std::vector<std::string>& words) {
    if (!words.empty() && words[0] == "--version") {
        std::cout << fmt::format("attnspan {} ({}, {})\n", experiment::version(), experiment::commit(),
                                 experiment::compiler());
        return 0;
    }
    if (!words.empty() && words[0] == "complete") {
        return cli::complete({words.begin() + 1, words.end()});
    }
    return cli::dispatch(cli::program(), words);
}

}  // namespace

int main(int argc, char** argv) {
    // A closed pipe and a file that may not grow are errors of the write, not signals that end the program in the
    // middle of it.
    (void)std::signal(SIGPIPE, SIG_IGN);
    (void)std::signal(SIGXFSZ, SIG_IGN);
    int code = 5;
    try {
        code = run({argv + 1, argv + argc});
        if (!std::cout.flush()) {
            throw Error(ErrorKind::resource, "standard output: the result could not be written to it");
        }
    } catch (const Error& e) {
        std::cerr << "attnspan: " << e.what() << '\n';
        return exit_code(e.kind());
    } catch (const std::bad_alloc&) {
        std::cerr << "attnspan: not enough memory; use a smaller size or a machine with more memory\n";
        return exit_code(ErrorKind::resource);
    } catch (const std::exception& e) {
        std::cerr << "attnspan: " << e.what() << '\n';
        return exit_code(ErrorKind::resource);
    } catch (...) {
        std::cerr << "attnspan: something that is no error was thrown, most likely by a plugin\n";
        return exit_code(ErrorKind::plugin);
    }
    return code;
}
