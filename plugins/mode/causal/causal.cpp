#include <algorithm>

#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

class Causal final : public Mode {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit Causal(const Parameters&) {}

private:
    [[nodiscard]] KeyRange do_visible(Index query, Index, Index keys) const override {
        return {.begin = 0, .end = std::min(query + 1, keys)};
    }
};

}  // namespace

ATTNSPAN_PLUGIN(Causal, "causal", "1.0.0", "query i sees the keys j <= i");
