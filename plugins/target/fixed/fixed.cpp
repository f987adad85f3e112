#include <algorithm>
#include <string>

#include "attnspan/plugin.hpp"
#include "targets/blocks.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// The Sparse Transformer's fixed pattern and DeepSpeed's version of it. Tokens are cut into blocks, blocks into local
/// windows, and a head keeps one group of neighbouring blocks of every window as global columns: head 0 the last group,
/// head 1 the one before, and so on.
///
/// "original": key j <= i of row i is kept when it lies in the row's own window or in a global column. Causal under
/// every mode. Source: Child, Gray, Radford, Sutskever, arXiv 1904.10509, and the authors' code, where the local
/// context is local_blocks * block, global_blocks is called vertsize, and a head h stands for h mod num_verts.
///
/// "deepspeed", whole blocks: every row keeps its own window and the global columns, of which a last window that is
/// short has the last ones that fit; `horizontal` keeps their rows whole too. One direction keeps the blocks of the
/// window up to the row's own, and a global column for the rows from its group's first block on; the upper half of
/// blocks on the diagonal is then the mode's to hide. Source: DeepSpeed's FixedSparsityConfig, where head h stands for
/// h mod num_different_global_patterns.
class Fixed final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            choice("variant", {"original", "deepspeed"}, "whose layout").defaults_to("original"),
            integer("block", "tokens of a block; 32, or deepspeed: 16").at_least(1),
            integer("local_blocks", "blocks of a local window").defaults_to(Index{4}).at_least(1),
            integer("global_blocks", "neighbouring blocks of a window that are global; divides local_blocks")
                .defaults_to(Index{1})
                .at_least(1),
            integer("head", "which group of a window is global, from its end").defaults_to(Index{0}).at_least(0),
            choice("direction", {"bidirectional", "unidirectional"}, "deepspeed alone; bidirectional unless given"),
            boolean("horizontal", "deepspeed alone: global blocks attend to all; false unless given"),
        });
    }

    explicit Fixed(const Parameters& p)
        : Pattern(p),
          is_original_(p.text("variant") == "original"),
          blocks_(length(), p.has("block") ? p.integer("block") : (is_original_ ? 32 : 16)),
          local_(p.integer("local_blocks")),
          global_(p.integer("global_blocks")),
          is_unidirectional_(p.has("direction") && p.text("direction") == "unidirectional"),
          is_horizontal_(p.has("horizontal") && p.boolean("horizontal")) {
        if (local_ % global_ != 0) {
            p.fail("global_blocks", std::to_string(global_) + " blocks do not divide a window of " +
                                        std::to_string(local_) + "; use a divisor of local_blocks");
        }
        const Index heads = local_ / global_;
        if (p.integer("head") >= heads) {
            p.fail("head", std::to_string(p.integer("head")) + " is not there; a window has groups 0 to " +
                               std::to_string(heads - 1));
        }
        first_ = local_ - (p.integer("head") + 1) * global_;
        for (const char* key : {"direction", "horizontal"}) {
            if (is_original_ && p.has(key)) {
                p.fail(key, "the original layout has none; leave it out, or set variant = \"deepspeed\"");
            }
        }
        if (is_unidirectional_ && is_horizontal_) {
            p.fail("horizontal", "needs direction = \"bidirectional\"");
        }
    }

private:
    [[nodiscard]] Index windows() const { return (blocks_.count() - 1) / local_ + 1; }

    [[nodiscard]] Count do_entries() const override {
        const Index size = blocks_.size();
        if (is_original_) {
            const Index window = (Count(size) * local_).value();
            const Index full = length() / window;
            const Index rest = length() % window;
            const Count own = targets::triangle(window) * full + targets::triangle(rest);
            const Count rows_times_windows_before =
                targets::triangle(std::max<Index>(full - 1, 0)) * window + Count(rest) * full;
            return own + rows_times_windows_before * size * global_;
        }
        if (is_unidirectional_) {
            const Count own = targets::triangle(local_ - 1) * windows();
            const Count columns = targets::triangle(windows()) * local_ * global_;
            return (own + columns) * size * size;
        }
        const Count columns = Count(windows() - 1) * global_ + Count(local_);
        const Count rows = Count(is_horizontal_ ? windows() : 0) * global_;
        return (columns + rows) * size * length();
    }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        const Index row = blocks_.of(query);
        const Index window = row / local_;
        keys.push_back(blocks_.tokens(window * local_, is_unidirectional_ ? row + 1 : (window + 1) * local_));
        for (Index w = 0; w < (is_original_ ? window : windows()); ++w) {
            const Index group = group_of(w);
            if (is_horizontal_ && group <= row && row < group + global_) {
                keys.assign({{.begin = 0, .end = length()}});
                return;
            }
            if (!is_unidirectional_ || group <= row) {
                keys.push_back(blocks_.tokens(group, group + global_));
            }
        }
        if (is_original_) {
            keys.front().end = query + 1;
        }
    }

    /// First global block of a window. DeepSpeed moves that of a short last window to where it fits.
    [[nodiscard]] Index group_of(Index window) const {
        const Index group = window * local_ + first_;
        const bool is_short = (window + 1) * local_ > blocks_.count();
        return is_short ? std::max<Index>(std::min(group, blocks_.count() - global_), 0) : group;
    }

    bool is_original_;
    targets::Blocks blocks_;
    Index local_;
    Index global_;
    bool is_unidirectional_;
    bool is_horizontal_;
    Index first_ = 0;  ///< first global block of a window, counted from the window's first
};

}  // namespace

ATTNSPAN_PLUGIN(Fixed, "fixed", "1.0.0", "the Sparse Transformer's fixed pattern, or DeepSpeed's version of it");
