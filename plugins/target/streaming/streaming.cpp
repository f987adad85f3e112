#include <algorithm>

#include "attnspan/plugin.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// StreamingLLM: key j of row i is kept when j <= i and (j < sinks or i - j < recent). Causal under every mode. Source:
/// Xiao, Tian, Chen, Han, Lewis, arXiv 2309.17453, and the class StartRecentKVCache of the authors' code.
class Streaming final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            integer("sinks", "first tokens, which every later token attends to").defaults_to(Index{4}).at_least(0),
            integer("recent", "tokens before this one, itself counted").defaults_to(Index{512}).at_least(1),
        });
    }

    explicit Streaming(const Parameters& p)
        : Pattern(p),
          sinks_(std::min(p.integer("sinks"), length())),
          recent_(std::min(p.integer("recent"), length())) {}

private:
    [[nodiscard]] Count do_entries() const override {
        return targets::causal_band(length(), (Count(sinks_) + Count(recent_)).value());
    }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        keys.push_back({.begin = 0, .end = std::min(sinks_, query + 1)});
        keys.push_back({.begin = query - recent_ + 1, .end = query + 1});
    }

    Index sinks_;
    Index recent_;
};

}  // namespace

ATTNSPAN_PLUGIN(Streaming, "streaming", "1.0.0", "StreamingLLM: attention sinks and a window of recent tokens");
