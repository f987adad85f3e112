#pragma once

#include <cstddef>
#include <vector>

#include "attnspan/types.hpp"

namespace attnspan {

/// The keys [begin, end) that a query sees.
struct KeyRange {
    Index begin = 0;
    Index end = 0;

    [[nodiscard]] Index size() const { return end - begin; }
    [[nodiscard]] bool contains(Index key) const { return begin <= key && key < end; }
    friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// What a mode decides: one contiguous key range per query, 0 <= begin <= end <= keys.
struct VisibleRanges {
    Index keys = 0;
    std::vector<KeyRange> ranges;  ///< one per query

    [[nodiscard]] Index queries() const { return static_cast<Index>(ranges.size()); }
    [[nodiscard]] const KeyRange& operator[](Index query) const { return ranges[static_cast<std::size_t>(query)]; }
    /// Number of visible (query, key) pairs.
    [[nodiscard]] Index pairs() const {
        Index sum = 0;
        for (const KeyRange& r : ranges) {
            sum += r.size();
        }
        return sum;
    }
};

}  // namespace attnspan
