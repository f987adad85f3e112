#include <algorithm>
#include <string>

#include "attnspan/plugin.hpp"
#include "targets/blocks.hpp"
#include "targets/draw.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// BigBird, in whole blocks: a window of blocks around each, global blocks, and random blocks for each row of blocks,
/// drawn uniformly and independently; where fewer blocks than asked for may be drawn, all of them are kept.
///
/// "original": the first and the last block are global, as rows and as columns. Random blocks lie outside the window
/// and are not global; block 1 does not draw the last but one, nor that one block 1. Source: Zaheer et al., arXiv
/// 2007.14062, and the authors' code, which for long sequences draws from the first blocks only: here from all, as the
/// paper does.
///
/// "deepspeed": the first block is global, and every row of blocks draws from all blocks, those that it has anyway
/// included. One direction keeps no block to the right of the row's own. Source: DeepSpeed's BigBirdSparsityConfig.
class BigBird final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            choice("variant", {"original", "deepspeed"}, "whose layout").defaults_to("original"),
            integer("block", "tokens of a block").defaults_to(Index{16}).at_least(1),
            integer("window_blocks", "blocks of the window, an odd number").defaults_to(Index{3}).at_least(1),
            integer("random_blocks", "random blocks in each row of blocks; 3, or deepspeed: 1").at_least(0),
            choice("direction", {"bidirectional", "unidirectional"}, "deepspeed alone; bidirectional unless given"),
        });
    }

    explicit BigBird(const Parameters& p)
        : Pattern(p),
          blocks_(length(), p.integer("block")),
          side_(std::min(p.integer("window_blocks") / 2, blocks_.count())),
          is_original_(p.text("variant") == "original"),
          random_(is_original_ ? 3 : 1),
          is_unidirectional_(p.has("direction") && p.text("direction") == "unidirectional") {
        if (p.integer("window_blocks") % 2 == 0) {
            p.fail("window_blocks", std::to_string(p.integer("window_blocks")) +
                                        " blocks do not lie evenly around a block; use an odd number");
        }
        if (is_original_ && p.has("direction")) {
            p.fail("direction", "the original layout has none; leave it out, or set variant = \"deepspeed\"");
        }
        if (p.has("random_blocks")) {
            random_ = p.integer("random_blocks");
        }
        random_ = std::min(random_, blocks_.count());
    }

private:
    static constexpr Index random_sequence = 1;

    [[nodiscard]] Count do_entries() const override {
        const Index globals = is_original_ ? 2 : 1;
        const Index global_rows = std::min((Count(blocks_.size()) * globals).value(), length());
        const Count width = (Count(side_) * 2 + Count(1 + globals) + Count(random_)) * blocks_.size();
        return Count(global_rows) * length() + Count(length() - global_rows) * std::min(width.value(), length());
    }

    void do_keys(Index query, const RandomStream& random, targets::KeyRanges& keys) const override {
        const Index row = blocks_.of(query);
        const Index last = blocks_.count() - 1;
        const Index right = is_unidirectional_ ? row : last;  // the last block that the row may keep
        if (row == 0 || (is_original_ && row == last)) {
            keys.push_back(blocks_.tokens(0, right + 1));
            return;
        }
        keys.push_back(blocks_.tokens(0, 1));
        keys.push_back(blocks_.tokens(std::max<Index>(row - side_, 0), std::min(row + side_, right) + 1));
        if (is_original_) {
            keys.push_back(blocks_.tokens(last, last + 1));
            // What lies between the global blocks, on both sides of the window.
            const Index first = row == last - 1 ? 2 : 1;
            const Index end = row == 1 ? last - 1 : last;
            push_random(row, {first, std::max(row - side_, first)}, {std::min(row + side_ + 1, end), end}, random,
                        keys);
        } else {
            push_random(row, {0, right + 1}, {0, 0}, random, keys);
        }
    }

    /// Draws blocks from two ranges of blocks.
    void push_random(Index row, KeyRange before, KeyRange after, const RandomStream& random,
                     targets::KeyRanges& keys) const {
        for (const Index t :
             targets::subset(random_, before.size() + after.size(), random.at(random_sequence), row * random_)) {
            const Index block = t < before.size() ? before.begin + t : after.begin + t - before.size();
            keys.push_back(blocks_.tokens(block, block + 1));
        }
    }

    targets::Blocks blocks_;
    Index side_;  ///< blocks of the window on each side of the own
    bool is_original_;
    Index random_;
    bool is_unidirectional_;
};

}  // namespace

ATTNSPAN_PLUGIN(BigBird, "bigbird", "1.0.0", "BigBird: a window of blocks, global blocks and random blocks");
