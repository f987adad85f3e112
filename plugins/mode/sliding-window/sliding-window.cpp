#include <algorithm>

#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

/// Query i sees the keys j with |i - j| <= radius; causal: those with 0 <= i - j <= radius.
class SlidingWindow final : public Mode {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return {
            integer("radius", "largest distance |i - j| that is seen; radius + 1 keys where it is causal")
                .required()
                .at_least(0),
            boolean("causal", "only keys j <= i").defaults_to(false),
        };
    }

    explicit SlidingWindow(const Parameters& p) : radius_(p.integer("radius")), is_causal_(p.boolean("causal")) {}

private:
    [[nodiscard]] KeyRange do_visible(Index query, Index, Index keys) const override {
        const Index after = is_causal_ ? 0 : radius_;
        return {.begin = std::clamp<Index>(query - radius_, 0, keys),
                .end = after < keys - query ? query + after + 1 : keys};
    }

    Index radius_;
    bool is_causal_;
};

}  // namespace

ATTNSPAN_PLUGIN(SlidingWindow, "sliding-window", "1.0.0", "query i sees the keys near it, on both sides or before it");
