#include "attnspan/core/describe.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attnspan::core {
namespace {

/// Neumaier's sum: the rounding errors are kept apart and added at the end.
class CompensatedSum {
public:
    void add(double x) {
        const double total = sum_ + x;
        error_ += std::abs(sum_) >= std::abs(x) ? (sum_ - total) + x : (x - total) + sum_;
        sum_ = total;
    }
    [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + error_ : sum_; }

private:
    double sum_ = 0;
    double error_ = 0;
};

}  // namespace

TargetSummary describe(const SparseMatrix& target) {
    TargetSummary out{.rows = target.rows, .cols = target.cols, .nonzeros = target.nonzeros()};
    CompensatedSum sum;
    std::vector<Index> in_column(static_cast<std::size_t>(target.cols), 0);
    for (Index i = 0; i < target.rows; ++i) {
        const Index count = target.row_nonzeros(i);
        out.min_row_nonzeros = i == 0 ? count : std::min(out.min_row_nonzeros, count);
        out.max_row_nonzeros = std::max(out.max_row_nonzeros, count);
        if (count == 0) {
            ++out.empty_rows;
            out.first_empty_row = out.first_empty_row.value_or(i);
            continue;
        }
        for (const Index j : target.row_columns(i)) {
            ++in_column[static_cast<std::size_t>(j)];
        }
        const auto values = target.row_values(i);
        for (const double w : values) {
            sum.add(w);
        }
        const auto [least, largest] = std::minmax_element(values.begin(), values.end());
        out.variation = std::max(out.variation, *largest / *least);
        out.log_variation = std::max(out.log_variation, std::log(*largest) - std::log(*least));
    }
    if (!in_column.empty()) {
        const auto [least, largest] = std::minmax_element(in_column.begin(), in_column.end());
        out.min_col_nonzeros = *least;
        out.max_col_nonzeros = *largest;
    }
    out.sum = sum.value();
    return out;
}

}  // namespace attnspan::core
