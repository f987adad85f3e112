// Does what its first argument names, so that a sanitizer that says nothing is noticed: "address" reads freed memory,
// "undefined" overflows an integer, "thread" writes one variable from two threads.

#include <cstdio>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>

namespace {

int read_freed() {
    auto owner = std::make_unique<int>(1);
    const int* volatile left = owner.get();
    owner.reset();
    return *left;
}

int overflow() {
    volatile int most = std::numeric_limits<int>::max();
    return most + 1;
}

int race() {
    int shared = 0;
    std::thread other([&shared] { shared = 1; });
    shared = 2;
    other.join();
    return shared;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    const int seen = what == "address"     ? read_freed()
                     : what == "undefined" ? overflow()
                     : what == "thread"    ? race()
                                           : 0;
    std::printf("went unnoticed: %d\n", seen);
}
