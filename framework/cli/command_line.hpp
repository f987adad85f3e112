#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attnspan::cli {

/// Words that a command takes by their place.
struct Positional {
    std::string name;  ///< as in the usage line
    bool required = true;
};

/// Parses the words of one command. Options are never abbreviated; an unknown one is refused with the nearest known.
class CommandLine {
public:
    /// `usage` is the line after "usage: attnspan ", `text` what `--help` says before the options.
    CommandLine(std::string usage, std::string text, std::vector<Positional> positionals);

    /// For declaring options: options().add_options()... Their value names say what completes them, see completion.cpp.
    boost::program_options::options_description& options() { return options_; }
    [[nodiscard]] const boost::program_options::options_description& options() const { return options_; }
    [[nodiscard]] const std::string& usage() const { return usage_; }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<Positional>& positionals() const { return positionals_; }

    /// @return false when --help was asked for and printed
    /// @throws Error(usage)
    bool parse(const std::vector<std::string>& words);

    [[nodiscard]] bool has(const std::string& option) const;
    template <class T>
    [[nodiscard]] const T& get(const std::string& option) const {
        return values_[option].template as<T>();
    }
    template <class T>
    [[nodiscard]] std::optional<T> optional(const std::string& option) const {
        return has(option) ? std::optional<T>(get<T>(option)) : std::nullopt;
    }
    /// Every value of a repeatable option.
    [[nodiscard]] std::vector<std::string> all(const std::string& option) const;
    /// The word at a positional's place; empty when it was left out.
    [[nodiscard]] std::string positional(const std::string& name) const;

    /// Error(usage) with the way to the help.
    [[noreturn]] void fail(const std::string& message) const;

private:
    void refuse_unknown(const std::string& option) const;

    std::string usage_;
    std::string text_;
    std::vector<Positional> positionals_;
    boost::program_options::options_description options_;
    boost::program_options::variables_map values_;
    std::vector<std::string> words_;
};

/// "FILE" of an option --rows FILE; empty for one without a value.
[[nodiscard]] std::string value_name(const boost::program_options::option_description& option);
/// ASCII letters as capitals.
[[nodiscard]] std::string upper_case(std::string text);

/// What the program can do, as a tree: a command has a line and runs, or has commands below it.
struct Command {
    std::string name;
    std::string summary;                                     ///< one line
    std::function<CommandLine()> line = {};                  ///< what it takes
    std::function<int(const CommandLine& parsed)> run = {};  ///< returns the exit code
    std::vector<Command> commands = {};
};

/// Runs the command that the words name, or prints help.
/// @throws Error(usage) for none or an unknown one
int dispatch(const Command& program, const std::vector<std::string>& words);

}  // namespace attnspan::cli
