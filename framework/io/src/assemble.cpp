#include "assemble.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace attnspan::io::detail {

ReadWeights assemble(std::vector<Entry> entries, Index rows, Index cols, Duplicates duplicates,
                     const DuplicateErrors& errors) {
    const auto before = [](const Entry& a, const Entry& b) {
        return std::tie(a.row, a.col, a.place) < std::tie(b.row, b.col, b.place);
    };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) {
        std::sort(entries.begin(), entries.end(), before);
    }
    ReadWeights result;
    result.stored = static_cast<Index>(entries.size());
    result.explicit_zeros = std::ranges::count(entries, 0.0, &Entry::weight);
    SparseMatrix& m = result.matrix;
    m.cols = cols;
    auto entry = entries.begin();
    for (Index i = 0; i < rows; ++i) {
        while (entry != entries.end() && entry->row == i) {
            const Entry& first = *entry;
            double sum = 0;
            for (; entry != entries.end() && entry->row == first.row && entry->col == first.col; ++entry) {
                sum += entry->weight;
                if (&*entry == &first) {
                    continue;
                }
                ++result.duplicates;
                if (duplicates == Duplicates::refuse) {
                    errors.repeated(first, *entry);
                }
                if (!std::isfinite(sum)) {
                    errors.overflow(*entry);
                }
            }
            if (sum != 0) {
                m.push(first.col, sum);
            }
        }
        m.end_row();
    }
    return result;
}

}  // namespace attnspan::io::detail
