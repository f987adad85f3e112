#include <algorithm>

#include "attnspan/plugin.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// The A-shape of MInference: key j of row i is kept when j <= i and (j < vertical or i - j <= slash), so slash + 1
/// diagonals. Causal under every mode. Source: Jiang et al., arXiv 2407.02490, and the authors' code.
class AShape final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            integer("vertical", "first tokens, which every later token attends to").defaults_to(Index{50}).at_least(0),
            integer("slash", "largest distance i - j of the window").defaults_to(Index{30}).at_least(0),
        });
    }

    explicit AShape(const Parameters& p)
        : Pattern(p),
          vertical_(std::min(p.integer("vertical"), length())),
          slash_(std::min(p.integer("slash"), length() - 1)) {}

private:
    [[nodiscard]] Count do_entries() const override {
        return targets::causal_band(length(), (Count(vertical_) + Count(slash_) + Count(1)).value());
    }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        keys.push_back({.begin = 0, .end = std::min(vertical_, query + 1)});
        keys.push_back({.begin = query - slash_, .end = query + 1});
    }

    Index vertical_;
    Index slash_;
};

}  // namespace

ATTNSPAN_PLUGIN(AShape, "a-shape", "1.0.0", "MInference's A-shape: first tokens and the last diagonals");
