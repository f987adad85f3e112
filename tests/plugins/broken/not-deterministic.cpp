#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

/// How many targets were generated so far: the global state that a plugin must not have.
Index generated = 0;

/// Every query attends to one key, another one each time.
class NotDeterministic final : public Target {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit NotDeterministic(const Parameters&) {}

private:
    [[nodiscard]] TargetShape do_shape() const override { return {.queries = 3, .keys = 3, .nonzeros = 3}; }
    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges&, const RandomStream&) const override {
        GeneratedTarget out;
        out.weights.cols = 3;
        for (Index i = 0; i < 3; ++i) {
            out.weights.push((generated + i) % 3, 1.0);
            out.weights.end_row();
        }
        ++generated;
        return out;
    }
};

}  // namespace

ATTNSPAN_PLUGIN(NotDeterministic, "test.not-deterministic", "1.0.0", "A target that differs each time");
