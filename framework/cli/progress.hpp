#pragma once

#include <chrono>
#include <string>

#include "attnspan/core/search.hpp"

namespace attnspan::cli {

/// One line on stderr with the current m, sample and time left; silent unless stderr is a terminal.
class Progress {
public:
    Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    void show(const core::SearchProgress& progress);

private:
    void clear();

    bool visible_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace attnspan::cli
