#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/runtime/plugin_check.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"

#ifdef ATTNSPAN_COVERAGE
extern "C" void __gcov_dump();
#endif

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* doing) {
    throw Error(ErrorKind::resource,
                fmt::format("plugins check: {}: {}", doing, std::generic_category().message(errno)));
}

/// What the process that runs the plugin tells the one that watches it: JSON texts, one per line.
class Reporter {
public:
    explicit Reporter(int pipe) : pipe_(pipe) {}

    void say(const Json& message) const {
        const std::string line = message.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
        for (std::size_t done = 0; done < line.size();) {
            const ssize_t count = ::write(pipe_, line.data() + done, line.size() - done);
            if (count < 0 && errno != EINTR) {
                ::_exit(1);  // nobody listens
            }
            done += count < 0 ? 0 : static_cast<std::size_t>(count);
        }
    }

private:
    int pipe_;
};

/// In the process of its own: makes the check and ends.
[[noreturn]] void run_check(int pipe, const std::filesystem::path& file, const runtime::ConfigDocument& values,
                            runtime::Registry& others) {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    (void)::setrlimit(RLIMIT_CORE, &none);
    (void)::dup2(STDERR_FILENO, STDOUT_FILENO);  // what the plugin prints is no result
    const Reporter reporter(pipe);
    try {
        runtime::check_plugin(file, values, others,
                              {.begin =
                                   [&](const std::string& check) {
                                       reporter.say({{"begin", check}});
                                   },
                               .found =
                                   [&](const std::string& problem, const std::string& remedy) {
                                       reporter.say({{"problem", problem}, {"remedy", remedy}});
                                   },
                               .skipped =
                                   [&](const std::string& reason) {
                                       reporter.say({{"skipped", reason}});
                                   }});
        reporter.say({{"end", true}});
    } catch (const std::exception& error) {
        reporter.say({{"failed", error.what()}});
    }
#ifdef ATTNSPAN_COVERAGE
    __gcov_dump();  // _exit skips what writes the counts
#endif
    ::_exit(0);
}

/// Collects what the other process says, until it ends or a single check takes longer than `seconds`.
class Watch {
public:
    Watch(int pipe, pid_t child, Index seconds) : pipe_(pipe), child_(child), seconds_(seconds) {}

    /// The checks made, each with its findings.
    Json run() {
        while (!timed_out_ && hear()) {
        }
        if (timed_out_) {
            (void)::kill(child_, SIGKILL);
        }
        int status = 0;
        while (::waitpid(child_, &status, 0) < 0) {
            if (errno != EINTR) {
                fail("the process with the plugin");
            }
        }
        if (timed_out_) {
            found(fmt::format("has not ended after {} s", seconds_),
                  "look for a loop without an end; if it only needs longer, give --seconds a larger number");
        } else if (WIFSIGNALED(status)) {
            found(fmt::format("ended the process: {}", ::strsignal(WTERMSIG(status))),
                  "let no exception leave an initialiser, a destructor or a thread, and run it in a debugger or with "
                  "-fsanitize=address,undefined");
        } else if (!ended_) {
            found(fmt::format("ended the process with exit code {}", WEXITSTATUS(status)),
                  "a plugin never calls exit; it throws attnspan::Error");
        }
        return std::move(checks_);
    }

private:
    /// Waits for the next piece of text. @return false at its end
    bool hear() {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline() - Clock::now()).count();
        pollfd waiting{.fd = pipe_, .events = POLLIN, .revents = 0};
        const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left));
        if (ready == 0) {
            timed_out_ = true;
            return true;
        }
        std::array<char, 4096> piece;
        const ssize_t count = ready < 0 ? -1 : ::read(pipe_, piece.data(), piece.size());
        if (count < 0) {
            return errno == EINTR ? true : throw Error(ErrorKind::resource, "plugins check: lost the plugin's process");
        }
        text_.append(piece.data(), static_cast<std::size_t>(count));
        for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
            take(Json::parse(text_.substr(0, end)));
            text_.erase(0, end + 1);
        }
        return count > 0;
    }

    void take(const Json& message) {
        if (message.contains("begin")) {
            checks_.push_back({{"check", message["begin"]}, {"problems", Json::array()}});
            begun_ = Clock::now();
        } else if (message.contains("problem")) {
            checks_.back()["problems"].push_back(message);
        } else if (message.contains("skipped")) {
            checks_.back()["skipped"] = message["skipped"];
        } else if (message.contains("failed")) {
            throw Error(ErrorKind::plugin, message["failed"].get<std::string>());
        } else {
            ended_ = true;
        }
    }

    void found(const std::string& problem, const std::string& remedy) {
        checks_.back()["problems"].push_back({{"problem", problem}, {"remedy", remedy}});
    }

    [[nodiscard]] Clock::time_point deadline() const { return begun_ + std::chrono::seconds(seconds_); }

    int pipe_;
    pid_t child_;
    Index seconds_;
    Clock::time_point begun_ = Clock::now();
    std::string text_;
    Json checks_ = Json::array();
    bool timed_out_ = false;
    bool ended_ = false;
};

Json check_in_process(const std::filesystem::path& file, const runtime::ConfigDocument& values,
                      runtime::Registry& others, Index seconds) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        fail("a pipe");
    }
    std::cout.flush();
    const pid_t child = ::fork();  // no thread has been started yet
    if (child < 0) {
        fail("a process for the plugin");
    }
    if (child == 0) {
        run_check(pipe[1], file, values, others);
    }
    (void)::close(pipe[1]);
    Json checks = Watch(pipe[0], child, seconds).run();
    (void)::close(pipe[0]);
    return checks;
}

CommandLine plugins_check_line() {
    CommandLine line("plugins check FILE [options]",
                     "Tests a plugin library in a process of its own, and says what is wrong and how to mend it.",
                     {{.name = "FILE"}});
    line.options().add_options()("seconds", po::value<Index>()->default_value(10)->value_name("N"),
                                 "how long a single check may take")("json", "one JSON document on standard output");
    add_config_options(line);
    return line;
}

int check(const CommandLine& line) {
    const auto seconds = line.get<Index>("seconds");
    if (seconds < 1 || seconds > 3600) {
        line.fail(fmt::format("--seconds {}: use a number from 1 to 3600", seconds));
    }
    const std::filesystem::path file = std::filesystem::absolute(line.positional("FILE"));
    runtime::ConfigDocument values = runtime::ConfigDocument::parse("", "plugins check", "");
    for (const std::string& assignment : line.all("set")) {
        values.set(assignment);
    }
    runtime::Registry others = open_registry(line);
    const Json checks = check_in_process(file, values, others, seconds);

    Index problems = 0;
    for (const Json& check : checks) {
        problems += static_cast<Index>(check["problems"].size());
    }
    if (line.has("json")) {
        std::cout << experiment::text_of({{"file", file.string()}, {"passed", problems == 0}, {"checks", checks}})
                  << '\n';
        return problems == 0 ? 0 : 3;
    }
    for (const Json& check : checks) {
        const std::string name = check["check"];
        const bool skipped = check.contains("skipped");
        if (check["problems"].empty()) {
            std::cout << fmt::format("{:<8}{}\n", skipped ? "skipped" : "ok", name);
        }
        if (skipped) {
            std::cout << fmt::format("        {}\n", check["skipped"].get<std::string>());
        }
        for (const Json& problem : check["problems"]) {
            std::cout << fmt::format("wrong   {}: {}\n        mend it: {}\n", name,
                                     problem["problem"].get<std::string>(), problem["remedy"].get<std::string>());
        }
    }
    std::cout << fmt::format("\n{}: {}\n", file.string(),
                             problems == 0 ? "nothing wrong was found" : fmt::format("problems: {}", problems));
    return problems == 0 ? 0 : 3;
}

}  // namespace

Command plugins_check_command() {
    return {.name = "check",
            .summary = "tests a library: what is wrong with it, and how to mend it",
            .line = plugins_check_line,
            .run = check};
}

}  // namespace attnspan::cli
