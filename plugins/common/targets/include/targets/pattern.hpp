#pragma once

#include <vector>

#include "attnspan/target.hpp"
#include "targets/count.hpp"
#include "targets/weighting.hpp"

namespace attnspan::targets {

/// Keys of a row, as ranges in any order that may overlap and may reach beyond the keys there are.
using KeyRanges = std::vector<KeyRange>;

/// A square target whose entries stand where a rule says: at the keys that the rule gives to a row and that the mode
/// lets the row see. So there is never an entry at an invisible pair, and the mode decides nothing else.
class Pattern : public Target {
protected:
    /// The pattern's own keys between `length` and those of the weights.
    static ParameterSpecs parameters_with(ParameterSpecs own);
    explicit Pattern(const Parameters& p);

    [[nodiscard]] Index length() const { return length_; }

private:
    [[nodiscard]] TargetShape do_shape() const final;
    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream& random) const final;

    /// An upper bound on the number of entries when every key is visible. In constant time.
    [[nodiscard]] virtual Count do_entries() const = 0;
    /// Appends the keys of a row, in time proportional to their number. Sequence 0 of the stream is taken by the
    /// weights.
    virtual void do_keys(Index query, const RandomStream& random, KeyRanges& keys) const = 0;

    Index length_;
    Weighting weighting_;
};

}  // namespace attnspan::targets
