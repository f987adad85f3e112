#include "targets/blocks.hpp"
#include "attnspan/plugin.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// Block-diagonal: key j of row i is kept when floor(i / block) = floor(j / block). The last block may be short.
class BlockDiagonal final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        return parameters_with(
            {parameter::integer("block", "tokens that attend to each other").defaults_to(Index{16}).at_least(1)});
    }

    explicit BlockDiagonal(const Parameters& p) : Pattern(p), blocks_(length(), p.integer("block")) {}

private:
    [[nodiscard]] Count do_entries() const override {
        const Index rest = length() % blocks_.size();
        return Count(length() - rest) * blocks_.size() + Count(rest) * rest;
    }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        const Index block = blocks_.of(query);
        keys.push_back(blocks_.tokens(block, block + 1));
    }

    targets::Blocks blocks_;
};

}  // namespace

ATTNSPAN_PLUGIN(BlockDiagonal, "blocks", "1.0.0", "block-diagonal: tokens of a block attend to each other");
