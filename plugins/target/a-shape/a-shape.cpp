#include <algorithm>

#include "attnspan/plugin.hpp"
#include "targets/sinks.hpp"

namespace {

using namespace attnspan;

/// The A-shape of MInference: i - j <= slash is kept, so slash + 1 diagonals. Source: Jiang et al., arXiv 2407.02490,
/// and the authors' code.
class AShape final : public targets::SinksAndRecent {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            integer("vertical", "first tokens, which every later token attends to").defaults_to(Index{50}).at_least(0),
            integer("slash", "largest distance i - j of the window").defaults_to(Index{30}).at_least(0),
        });
    }

    explicit AShape(const Parameters& p)
        : SinksAndRecent(p, p.integer("vertical"), std::min(p.integer("slash"), p.integer("length") - 1) + 1) {}
};

}  // namespace

ATTNSPAN_PLUGIN(AShape, "a-shape", "1.0.0", "MInference's A-shape: first tokens and the last diagonals");
