#include <stdexcept>

#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

/// Declares a range and fails, in a way that nobody can read, at one end of it.
class ThrowingConstructor final : public Mode {
public:
    static ParameterSpecs parameters() {
        return {parameter::integer("width", "keys on each side").defaults_to(Index{1}).at_least(0).at_most(64)};
    }
    explicit ThrowingConstructor(const Parameters& p) {
        if (p.integer("width") == 64) {
            throw std::out_of_range("table::at");
        }
    }

private:
    [[nodiscard]] KeyRange do_visible(Index, Index, Index keys) const override { return {.begin = 0, .end = keys}; }
};

}  // namespace

ATTNSPAN_PLUGIN(ThrowingConstructor, "test.throwing-constructor", "1.0.0", "A mode that throws for one width");
