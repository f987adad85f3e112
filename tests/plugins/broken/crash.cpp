#include <csignal>

#include "broken.hpp"

namespace {

/// Ends the process when a query sees nothing.
class Crash final : public attnspan::Mode {
public:
    static attnspan::ParameterSpecs parameters() { return {}; }
    explicit Crash(const attnspan::Parameters&) {}

private:
    [[nodiscard]] attnspan::KeyRange do_visible(attnspan::Index, attnspan::Index, attnspan::Index keys) const override {
        if (keys == 0) {
            (void)std::raise(SIGKILL);
        }
        return {.begin = 0, .end = keys};
    }
};

}  // namespace

ATTNSPAN_PLUGIN(Crash, "test.crash", "1.0.0", "A mode that ends the process without keys");
