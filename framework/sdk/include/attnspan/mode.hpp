#pragma once

#include <cstddef>
#include <string>

#include "attnspan/error.hpp"
#include "attnspan/interface.hpp"
#include "attnspan/visible.hpp"

namespace attnspan {

/// Decides which keys each query sees.
class Mode : public Interface {
public:
    /// One range per query.
    /// @throws Error(plugin) when the plugin answers with a range outside [0, keys); whatever do_visible refuses with
    [[nodiscard]] VisibleRanges visible(Index queries, Index keys) const {
        VisibleRanges out{.keys = keys, .ranges = std::vector<KeyRange>(static_cast<std::size_t>(queries))};
        for (Index i = 0; i < queries; ++i) {
            const KeyRange range = do_visible(i, queries, keys);
            if (range.begin < 0 || range.begin > range.end || range.end > keys) {
                throw Error(ErrorKind::plugin, "mode: query " + std::to_string(i) + " sees keys [" +
                                                   std::to_string(range.begin) + ", " + std::to_string(range.end) +
                                                   "), which is no range inside [0, " + std::to_string(keys) + ")");
            }
            out.ranges[static_cast<std::size_t>(i)] = range;
        }
        return out;
    }

private:
    /// The keys that `query` sees, 0 <= query < queries. Called once for each query, in ascending order.
    [[nodiscard]] virtual KeyRange do_visible(Index query, Index queries, Index keys) const = 0;
};

}  // namespace attnspan
