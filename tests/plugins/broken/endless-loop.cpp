#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

/// Every query sees every key, but where there are none it looks for one for ever.
class EndlessLoop final : public Mode {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit EndlessLoop(const Parameters&) {}

private:
    [[nodiscard]] KeyRange do_visible(Index, Index, Index keys) const override {
        volatile Index found = keys;
        while (found == 0) {
        }
        return {.begin = 0, .end = keys};
    }
};

}  // namespace

ATTNSPAN_PLUGIN(EndlessLoop, "test.endless-loop", "1.0.0", "A mode that does not end without keys");
