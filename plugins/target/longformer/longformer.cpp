#include <algorithm>
#include <string>
#include <vector>

#include "attnspan/plugin.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// Longformer: key j of row i is kept when i - j = m dilation with |m| <= window, or when i or j is a global token.
/// Source: Beltagy, Peters, Cohan, arXiv 2004.05150, and the authors' code, whose attention_window is one-sided as
/// here.
class Longformer final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            integer("window", "keys on each side of a token").defaults_to(Index{256}).at_least(0),
            integer("dilation", "distance of neighbouring keys of the window").defaults_to(Index{1}).at_least(1),
            integers("global", "tokens that attend to all and that all attend to, from 0")
                .defaults_to(std::vector<Index>{})
                .at_least(0),
        });
    }

    explicit Longformer(const Parameters& p)
        : Pattern(p),
          dilation_(std::min(p.integer("dilation"), length())),
          steps_(std::min(p.integer("window"), (length() - 1) / dilation_)),
          global_(p.integers("global")) {
        std::ranges::sort(global_);
        global_.erase(std::unique(global_.begin(), global_.end()), global_.end());
        if (!global_.empty() && global_.back() >= length()) {
            p.fail("global", "there is no token " + std::to_string(global_.back()) + "; a length of " +
                                 std::to_string(length()) + " has tokens 0 to " + std::to_string(length() - 1));
        }
    }

private:
    [[nodiscard]] Count do_entries() const override {
        return targets::band(length(), steps_, dilation_) + Count(length()) * 2 * static_cast<Index>(global_.size());
    }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        if (std::ranges::binary_search(global_, query)) {
            keys.push_back({.begin = 0, .end = length()});
            return;
        }
        if (dilation_ == 1) {
            keys.push_back({.begin = query - steps_, .end = query + steps_ + 1});
        } else {
            const Index first = query - std::min(steps_, query / dilation_) * dilation_;
            const Index last = std::min(query + steps_ * dilation_, length() - 1);
            for (Index j = first; j <= last; j += dilation_) {
                keys.push_back({.begin = j, .end = j + 1});
            }
        }
        for (const Index j : global_) {
            keys.push_back({.begin = j, .end = j + 1});
        }
    }

    Index dilation_;
    Index steps_;
    std::vector<Index> global_;  ///< ascending
};

}  // namespace

ATTNSPAN_PLUGIN(Longformer, "longformer", "1.0.0", "Longformer: a window, dilated or not, and global tokens");
