#include <algorithm>

#include "attnspan/plugin.hpp"
#include "targets/draw.hpp"

namespace {

using namespace attnspan;

/// Every query attends to the keys at distance at most `radius` that it sees.
class SlidingWindow final : public Target {
public:
    static ParameterSpecs parameters() {
        return {
            parameter::integer("length", "number of queries and of keys").required().at_least(1),
            parameter::integer("radius", "largest distance |i - j| of an entry").defaults_to(Index{1}).at_least(0),
            parameter::real("variation", "weights are log-uniform between 1 and this")
                .defaults_to(1.0)
                .at_least(1)
                .at_most(1e300),
        };
    }

    explicit SlidingWindow(const Parameters& p)
        : length_(p.integer("length")),
          radius_(std::min(p.integer("radius"), length_ - 1)),
          variation_(p.real("variation")) {}

private:
    [[nodiscard]] TargetShape do_shape() const override {
        const Index width = 2 * std::min(radius_, length_ / 2) + 1;
        const bool fits = width < (Index{1} << 62) / length_;
        return {.queries = length_, .keys = length_, .nonzeros = fits ? length_ * width : Index{1} << 62};
    }

    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream& random) const override {
        GeneratedTarget out;
        out.weights.cols = length_;
        for (Index i = 0; i < length_; ++i) {
            const Index end = std::min(visible[i].end, i + radius_ + 1);
            for (Index j = std::max(visible[i].begin, i - radius_); j < end; ++j) {
                out.weights.push(j, 1.0);
            }
            out.weights.end_row();
        }
        targets::log_uniform(variation_, random, out.weights.value);
        return out;
    }

    Index length_;
    Index radius_;
    double variation_;
};

}  // namespace

ATTNSPAN_PLUGIN(SlidingWindow, "sliding-window", "1.0.0", "every token attends to its neighbours");
