#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

class Bidirectional final : public Mode {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit Bidirectional(const Parameters&) {}

private:
    [[nodiscard]] KeyRange do_visible(Index, Index, Index keys) const override { return {.begin = 0, .end = keys}; }
};

}  // namespace

ATTNSPAN_PLUGIN(Bidirectional, "bidirectional", "1.0.0", "every query sees every key");
