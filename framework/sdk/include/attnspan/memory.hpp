#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include "attnspan/error.hpp"

namespace attnspan {

/// Bytes this process may still take: what the kernel calls available, bounded by the control group and by the limit on
/// address space (ulimit -v). Linux; where nothing can be read, no limit is assumed.
inline double available_memory_bytes() {
    double available = std::numeric_limits<double>::infinity();
    std::ifstream info("/proc/meminfo");
    for (std::string name; info >> name;) {
        if (name == "MemAvailable:") {
            double kib = 0;
            info >> kib;
            available = kib * 1024;
            break;
        }
        info.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    double limit = -1;
    if (std::ifstream file("/sys/fs/cgroup/memory.max"); file >> limit) {
        std::ifstream stat("/sys/fs/cgroup/memory.stat");
        std::string name;
        double anonymous = 0;
        while (stat >> name && name != "anon") {
            stat.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
        }
        stat >> anonymous;
        available = std::min(available, std::max(0.0, limit - anonymous));
    }
    rlimit address_space{};
    if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
        double pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const double used = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
        available = std::min(available, std::max(0.0, static_cast<double>(address_space.rlim_cur) - used));
    }
    return available;
}

/// Refuses work that does not fit before anything is allocated. `bytes` is the estimate, as a double so that it cannot
/// overflow; `what` completes the sentence "<what> needs about N GiB".
/// @throws Error(resource) with the estimate and what is available
inline void require_memory(double bytes, const std::string& what) {
    const double available = available_memory_bytes();
    if (bytes <= available) {
        return;
    }
    const auto gib = [](double b) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g GiB", b / (1024.0 * 1024 * 1024));
        return std::string(text);
    };
    throw Error(ErrorKind::resource, what + " needs about " + gib(bytes) + " of memory and " + gib(available) +
                                         " are available; use a smaller size or a machine with more memory");
}

}  // namespace attnspan
