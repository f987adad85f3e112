#include <algorithm>

#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

/// The prefix-LM: query i sees the keys j < prefix and the keys j <= i. Source: Raffel et al., arXiv 1910.10683, 3.2.1.
class Prefix final : public Mode {
public:
    static ParameterSpecs parameters() {
        return {parameter::integer("prefix", "first keys, which every query sees").required().at_least(0)};
    }

    explicit Prefix(const Parameters& p) : prefix_(p.integer("prefix")) {}

private:
    [[nodiscard]] KeyRange do_visible(Index query, Index, Index keys) const override {
        return {.begin = 0, .end = std::min(std::max(query + 1, prefix_), keys)};
    }

    Index prefix_;
};

}  // namespace

ATTNSPAN_PLUGIN(Prefix, "prefix", "1.0.0", "the prefix-LM: query i sees the prefix and the keys j <= i");
