#pragma once

#include <algorithm>

#include "targets/pattern.hpp"

namespace attnspan::targets {

/// Key j of row i is kept when j <= i and (j < sinks or i - j < recent). Causal under every mode.
class SinksAndRecent : public Pattern {
protected:
    /// sinks >= 0, recent >= 1; what is longer than the pattern counts as long as it.
    SinksAndRecent(const Parameters& p, Index sinks, Index recent)
        : Pattern(p), sinks_(std::min(sinks, length())), recent_(std::min(recent, length())) {}

private:
    [[nodiscard]] Count do_entries() const final {
        return causal_band(length(), (Count(sinks_) + Count(recent_)).value());
    }

    void do_keys(Index query, const RandomStream&, KeyRanges& keys) const final {
        keys.push_back({.begin = 0, .end = std::min(sinks_, query + 1)});
        keys.push_back({.begin = query - recent_ + 1, .end = query + 1});
    }

    Index sinks_;
    Index recent_;
};

}  // namespace attnspan::targets
