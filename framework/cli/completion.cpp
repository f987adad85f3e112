#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>

#include "attnspan/error.hpp"
#include "attnspan/runtime/document.hpp"
#include "attnspan/runtime/entry.hpp"
#include "attnspan/runtime/schema.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "spec_text.hpp"

/// Completion in the shells. Their scripts know nothing but one question, `attnspan complete -- WORD...`, and its
/// answer: a line that says what follows, and a line "word<TAB>what it is" for each word that could stand at the end.
///
///   words   whole words
///   open    words that go on, such as "search.samples="
///   files   the shell completes a file
///
/// What completes a value is known by its name in the usage line.
namespace attnspan::cli {
namespace {

struct Candidate {
    std::string word;
    std::string meaning;
};

struct Answer {
    std::string_view what = "words";
    std::vector<Candidate> candidates = {};
};

using OptionDescription = boost::program_options::option_description;

/// What stands on the line so far.
struct Written {
    std::vector<std::string> positionals;
    std::map<std::string, std::vector<std::string>> options;  ///< values, without those of flags

    [[nodiscard]] std::vector<std::string> all(const std::string& option) const {
        const auto found = options.find(option);
        return found == options.end() ? std::vector<std::string>{} : found->second;
    }
};

/// Completes the words of one command.
class Completion {
public:
    explicit Completion(CommandLine line) : line_(std::move(line)) {}

    Answer answer(const std::vector<std::string>& words) {
        const std::string& current = words.back();
        const OptionDescription* waiting = read({words.begin(), words.end() - 1});
        if (waiting != nullptr) {
            return value(value_name(*waiting), "", current);
        }
        const std::size_t sign = current.find('=');
        if (current.starts_with("--") && sign != std::string::npos) {
            const OptionDescription* option = find(current.substr(2, sign - 2));
            return option == nullptr
                       ? Answer{}
                       : value(value_name(*option), current.substr(0, sign + 1), current.substr(sign + 1));
        }
        if (current.starts_with("-")) {
            return options();
        }
        const std::size_t place = written_.positionals.size();
        return place < line_.positionals().size() ? value(line_.positionals()[place].name, "", current) : options();
    }

private:
    /// Takes the words before the last. Returns the option whose value comes next, if one does.
    const OptionDescription* read(const std::vector<std::string>& words) {
        const OptionDescription* waiting = nullptr;
        for (const std::string& word : words) {
            if (waiting != nullptr) {
                written_.options[waiting->long_name()].push_back(word);
                waiting = nullptr;
            } else if (word.starts_with("--")) {
                const std::size_t sign = word.find('=');
                const OptionDescription* option = find(word.substr(2, sign == std::string::npos ? sign : sign - 2));
                if (option == nullptr) {
                    continue;
                }
                std::vector<std::string>& values = written_.options[option->long_name()];
                if (sign != std::string::npos) {
                    values.push_back(word.substr(sign + 1));
                } else if (!value_name(*option).empty()) {
                    waiting = option;
                }
            } else {
                written_.positionals.push_back(word);
            }
        }
        return waiting;
    }

    [[nodiscard]] const OptionDescription* find(const std::string& name) const {
        return name.empty() ? nullptr : line_.options().find_nothrow(name, false);
    }

    [[nodiscard]] Answer options() const {
        Answer out;
        for (const auto& option : line_.options().options()) {
            if (!written_.options.contains(option->long_name()) || option->semantic()->is_composing()) {
                out.candidates.push_back({"--" + option->long_name(), option->description()});
            }
        }
        return out;
    }

    /// Completes a value by its name; `before` stands in the same word.
    Answer value(const std::string& name, const std::string& before, const std::string& current) {
        Answer out;
        const auto add = [&](const std::string& word, const std::string& meaning) {
            out.candidates.push_back({before + word, meaning});
        };
        if (name == "KEY=VALUE") {
            return assignment(before, current);
        }
        if (name.starts_with("CONFIG") || name == "FILE" || name == "PATH" || name == "DIR") {
            out.what = "files";
        } else if (name == "SHELL") {
            for (const char* shell : {"bash", "zsh", "fish"}) {
                add(shell, "");
            }
        } else if (name == "KIND") {
            for (const std::string_view kind : runtime::plugin_kinds) {
                add(std::string(kind), "");
            }
        } else if (name == "COMMAND") {
            for (const Command& command : program().commands) {
                add(command.name, command.summary);
            }
        } else if (name == "NAME") {
            for (const runtime::SchemaTable& table : tables()) {
                if (const std::string target = name_of(table); !target.empty()) {
                    add(target, "");
                }
            }
        } else {
            for (const runtime::PluginInfo& plugin : registry().plugins()) {
                if (name == "PLUGIN" || name == upper_case(plugin.kind)) {
                    add(plugin.name, plugin.summary);
                }
            }
        }
        return out;
    }

    /// KEY=VALUE: a key, or the values that it may have.
    Answer assignment(const std::string& before, const std::string& current) {
        Answer out;
        const std::size_t sign = current.find('=');
        const std::string written_key = current.substr(0, sign);
        const auto take = [&](const std::string& key, const std::string& meaning,
                              const std::vector<Candidate>& values) {
            if (sign == std::string::npos) {
                out.candidates.push_back({before + key + '=', meaning});
            } else if (key == written_key) {
                for (const Candidate& v : values) {
                    out.candidates.push_back({before + key + '=' + v.word, v.meaning});
                }
            }
        };
        out.what = sign == std::string::npos ? "open" : "words";
        for (const runtime::SchemaTable& table : tables()) {
            if (!table.kind.empty()) {
                std::vector<Candidate> plugins;
                for (const runtime::PluginInfo& plugin : registry().plugins()) {
                    if (plugin.kind == table.kind) {
                        plugins.push_back({plugin.name, plugin.summary});
                    }
                }
                take(table.path + ".plugin", fmt::format("which {}", table.kind), plugins);
            }
            for (const ParameterSpec& spec : table.specs) {
                std::vector<Candidate> values;
                for (const std::string& choice :
                     spec.type == ParameterType::boolean ? std::vector<std::string>{"true", "false"} : spec.choices) {
                    values.push_back({choice, ""});
                }
                take(table.path + '.' + spec.name, fmt::format("{} ({})", spec.help, default_text(spec)), values);
            }
        }
        return out;
    }

    /// The tables of the configuration on the line, as far as it can be read; otherwise those of an empty one.
    std::vector<runtime::SchemaTable> tables() {
        return runtime::schema(document_ ? *document_ : document_.emplace(read_document()), registry());
    }

    [[nodiscard]] runtime::ConfigDocument read_document() const {
        std::vector<std::string> files = written_.all("target");
        files.insert(files.end(), written_.positionals.begin(), written_.positionals.end());
        auto document = runtime::ConfigDocument::parse("", "command line", "");
        for (const std::string& file : files) {
            try {
                if (file.ends_with(".toml")) {
                    document = runtime::ConfigDocument::read(file);
                }
            } catch (const Error&) {
                // Not there yet, or not yet right.
            }
        }
        for (const std::string& assignment : written_.all("set")) {
            try {
                document.set(assignment);
            } catch (const Error&) {
                // The same.
            }
        }
        return document;
    }

    [[nodiscard]] std::string name_of(const runtime::SchemaTable& table) const {
        const auto root = document_->root().find("target");
        if (table.kind != "target" || root == document_->root().end()) {
            return {};
        }
        const runtime::ConfigNode* node = &root->second;
        if (const auto* list = std::get_if<runtime::ConfigArray>(&node->value)) {
            node = &(*list)[std::stoul(table.path.substr(table.path.find('.') + 1))];
        }
        if (node->table() == nullptr) {
            return {};
        }
        for (const char* key : {"name", "plugin"}) {
            const auto found = node->table()->find(key);
            const auto* text = found == node->table()->end() ? nullptr : std::get_if<std::string>(&found->second.value);
            if (text != nullptr) {
                return *text;
            }
        }
        return {};
    }

    runtime::Registry& registry() {
        if (!registry_) {
            std::vector<std::filesystem::path> places;
            for (const std::string& path : written_.all("plugin-path")) {
                std::error_code ignored;
                if (std::filesystem::exists(path, ignored)) {
                    places.emplace_back(path);
                }
            }
            registry_.emplace(open_registry(places));
        }
        return *registry_;
    }

    CommandLine line_;
    Written written_;
    std::optional<runtime::ConfigDocument> document_;
    std::optional<runtime::Registry> registry_;
};

Answer answer_for(const Command& command, const std::vector<std::string>& words) {
    if (command.run) {
        return Completion(command.line()).answer(words);
    }
    if (words.size() > 1) {
        const auto found = std::find_if(command.commands.begin(), command.commands.end(),
                                        [&](const Command& c) { return c.name == words[0]; });
        return found == command.commands.end() ? Answer{} : answer_for(*found, {words.begin() + 1, words.end()});
    }
    Answer out;
    for (const Command& c : command.commands) {
        out.candidates.push_back({c.name, c.summary});
    }
    return out;
}

struct Script {
    std::string_view shell;
    std::string_view text;
};
constexpr std::array scripts{
    Script{"bash", R"(# Completion of attnspan in bash: source this, or put it into a folder that bash-completion reads.
_attnspan() {
    local line=${COMP_LINE:0:COMP_POINT} current prefix= reply=() words=() word
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    mapfile -t reply < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1}" 2>/dev/null)
    current=${words[-1]}
    COMPREPLY=()
    if [[ ${reply[0]} == files ]]; then
        # What is completed begins behind the last = or :, where readline breaks words.
        mapfile -t COMPREPLY < <(compgen -f -- "${current##*[=:]}")
        compopt -o filenames 2>/dev/null
        return
    fi
    [[ ${reply[0]} == open ]] && compopt -o nospace 2>/dev/null
    [[ $current == *[=:]* ]] && prefix=${current%"${current##*[=:]}"}
    for word in "${reply[@]:1}"; do
        word=${word%%$'\t'*}
        [[ $word == "$current"* ]] && COMPREPLY+=("${word#"$prefix"}")
    done
}
complete -F _attnspan attnspan
)"},
    Script{"zsh", R"(#compdef attnspan
# Completion of attnspan in zsh: put this as _attnspan into a folder of $fpath, or source it after compinit.
_attnspan() {
    local -a reply described
    local line
    reply=("${(@f)$("${words[1]/#\~/$HOME}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ $reply[1] == files ]]; then
        compset -P '*='
        _files
        return
    fi
    for line in "${(@)reply[2,-1]}"; do
        described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if [[ $reply[1] == open ]]; then
        _describe -t words attnspan described -S ''
    else
        _describe -t words attnspan described
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _attnspan "$@"
else
    compdef _attnspan attnspan
fi
)"},
    Script{"fish",
           R"(# Completion of attnspan in fish: put this as attnspan.fish into ~/.config/fish/completions, or source it.
function __attnspan_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l reply ($words[1] complete -- $words[2..-1] 2>/dev/null)
    if test "$reply[1]" = files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $reply[2..-1]
    end
end
complete -c attnspan -f -a '(__attnspan_complete)'
)"},
};

CommandLine completion_line() {
    return {
        "completion SHELL [options]",
        "Prints the script that completes commands, options, plugins and configuration keys: bash, zsh or fish.\n"
        "An installed attnspan has brought them along; otherwise, for this session: source <(attnspan completion bash)",
        {{.name = "SHELL"}}};
}

int completion(const CommandLine& line) {
    const std::string shell = line.positional("SHELL");
    const auto* const found =
        std::find_if(scripts.begin(), scripts.end(), [&](const Script& s) { return s.shell == shell; });
    if (found == scripts.end()) {
        line.fail(fmt::format("there is no script for \"{}\"; they are bash, zsh and fish", shell));
    }
    std::cout << found->text;
    return 0;
}

}  // namespace

Command completion_command() {
    return {.name = "completion",
            .summary = "the script that completes commands and keys in a shell",
            .line = completion_line,
            .run = completion};
}

int complete(const std::vector<std::string>& words) {
    const std::size_t first = !words.empty() && words[0] == "--" ? 1 : 0;
    if (words.size() <= first) {
        return 0;
    }
    const Answer answer = answer_for(program(), {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()});
    std::cout << answer.what << '\n';
    for (const Candidate& candidate : answer.candidates) {
        std::cout << candidate.word << '\t' << candidate.meaning << '\n';
    }
    return 0;
}

}  // namespace attnspan::cli
