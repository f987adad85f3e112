#include "attnspan/runtime/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace attnspan::runtime {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
    // Rows i - 2, i - 1 and i of the table of distances between the first i letters of a and the first j of b.
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
    std::optional<std::string> best;
    std::size_t least = 0;
    for (const std::string& candidate : known) {
        const std::size_t longer = std::max(word.size(), candidate.size());
        const std::size_t changes = distance(word, candidate);
        if (changes <= std::max<std::size_t>(1, longer / 3) && changes < longer && (!best || changes < least)) {
            best = candidate;
            least = changes;
        }
    }
    return best;
}

}  // namespace attnspan::runtime
