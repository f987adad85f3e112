#include <algorithm>

#include "attnspan/plugin.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// Every query attends to the keys at distance at most `radius` that it sees.
class SlidingWindow final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        return parameters_with(
            {parameter::integer("radius", "largest distance |i - j| of an entry").defaults_to(Index{1}).at_least(0)});
    }

    explicit SlidingWindow(const Parameters& p) : Pattern(p), radius_(std::min(p.integer("radius"), length() - 1)) {}

private:
    [[nodiscard]] Count do_entries() const override { return targets::band(length(), radius_, 1); }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        keys.push_back({.begin = query - radius_, .end = query + radius_ + 1});
    }

    Index radius_;
};

}  // namespace

ATTNSPAN_PLUGIN(SlidingWindow, "sliding-window", "1.0.0", "every token attends to its neighbours");
