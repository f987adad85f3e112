#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "attnspan/types.hpp"

namespace attnspan {

/// What went wrong, as the caller can act on it. The command line maps each kind to an exit code.
enum class ErrorKind {
    usage,     ///< the command line (exit 2)
    config,    ///< a configuration file or a `--set` (exit 2)
    plugin,    ///< a plugin library, or a plugin that breaks its contract (exit 3)
    data,      ///< a matrix or an array (exit 4)
    resource,  ///< memory, files, the operating system (exit 5)
};

/// A place in something the user wrote. `source` is a path or an option; lines and columns count from 1, 0 means
/// unknown.
struct Location {
    std::string source;
    Index line = 0;
    Index column = 0;

    /// "file:line:column", as much of it as is known; empty when nothing is.
    [[nodiscard]] std::string str() const {
        std::string text = source;
        if (!source.empty() && line > 0) {
            text += ':' + std::to_string(line);
            if (column > 0) {
                text += ':' + std::to_string(column);
            }
        }
        return text;
    }
};

/// The one error type. The message says what happened, names the values, says what was expected and what to do.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message, Location where = {})
        : std::runtime_error(where.source.empty() ? message : where.str() + ": " + message),
          kind_(kind),
          where_(std::move(where)) {}

    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[nodiscard]] const Location& where() const noexcept { return where_; }

private:
    ErrorKind kind_;
    Location where_;
};

}  // namespace attnspan
