#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>

namespace attnspan::cli {

Progress::Progress() : visible_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
    clear();
}

void Progress::clear() {
    if (shown_) {
        std::cerr << "\r\x1b[K" << std::flush;
        shown_ = false;
    }
}

void Progress::show(const core::SearchProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (!visible_ || (shown_ && now - last_ < std::chrono::milliseconds(100))) {
        return;
    }
    last_ = now;
    shown_ = true;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    std::string left;
    if (progress.done > 0.02 && elapsed > 1) {
        left = fmt::format(", at most {:.0f} s left", std::ceil(elapsed * (1 - progress.done) / progress.done));
    }
    std::cerr << fmt::format("\r\x1b[Ksearching: m = {}, sample {}{}", progress.query_dim, progress.sample, left)
              << std::flush;
}

}  // namespace attnspan::cli
