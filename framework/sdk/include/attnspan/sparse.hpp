#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnspan/error.hpp"
#include "attnspan/types.hpp"

namespace attnspan {

/// A sparse matrix in compressed rows (CSR). Entry t of row i, row_begin[i] <= t < row_begin[i + 1], stands in column
/// column[t] with value[t]; columns ascend strictly within a row.
struct SparseMatrix {
    Index rows = 0;
    Index cols = 0;
    std::vector<Index> row_begin = {0};  ///< rows + 1 offsets
    std::vector<Index> column;
    std::vector<double> value;

    [[nodiscard]] Index nonzeros() const { return static_cast<Index>(column.size()); }
    [[nodiscard]] Index row_nonzeros(Index i) const {
        return row_begin[static_cast<std::size_t>(i) + 1] - row_begin[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::span<const Index> row_columns(Index i) const {
        return std::span(column).subspan(offset(i), static_cast<std::size_t>(row_nonzeros(i)));
    }
    [[nodiscard]] std::span<const double> row_values(Index i) const {
        return std::span(value).subspan(offset(i), static_cast<std::size_t>(row_nonzeros(i)));
    }

    /// Appends an entry to the last row begun; call end_row() after the last entry of each row.
    void push(Index key, double weight) {
        column.push_back(key);
        value.push_back(weight);
    }
    /// Closes the row: entries pushed since the last call are its entries, and `rows` counts it.
    void end_row() {
        row_begin.push_back(nonzeros());
        ++rows;
    }

private:
    [[nodiscard]] std::size_t offset(Index i) const {
        return static_cast<std::size_t>(row_begin[static_cast<std::size_t>(i)]);
    }
};

/// out[i] = (a x)[i], each sum in the order of the row's columns: the same bytes wherever it is computed. x has a.cols
/// and out a.rows elements; they do not overlap.
inline void multiply(const SparseMatrix& a, const double* x, double* out) {
    for (Index i = 0; i < a.rows; ++i) {
        const auto columns = a.row_columns(i);
        const auto values = a.row_values(i);
        double sum = 0;
        for (std::size_t t = 0; t < columns.size(); ++t) {
            sum += values[t] * x[columns[t]];
        }
        out[i] = sum;
    }
}

/// Checks everything SparseMatrix promises: offsets, column range and order. `what` names the matrix in the message.
/// @throws Error(plugin) naming the row
inline void require_well_formed(const SparseMatrix& m, const std::string& what) {
    const auto fail = [&](const std::string& why) { throw Error(ErrorKind::plugin, what + ": " + why); };
    if (m.rows < 0 || m.cols < 0 || m.row_begin.size() != static_cast<std::size_t>(m.rows) + 1 ||
        m.row_begin.front() != 0 || m.row_begin.back() != m.nonzeros() || m.value.size() != m.column.size()) {
        fail("row offsets, columns and values do not fit together for " + std::to_string(m.rows) + " x " +
             std::to_string(m.cols));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(m.rows); ++i) {
        if (m.row_begin[i] > m.row_begin[i + 1] || m.row_begin[i + 1] > m.nonzeros()) {
            fail("row " + std::to_string(i) + " ends before it begins");
        }
    }
    for (Index i = 0; i < m.rows; ++i) {
        Index previous = -1;
        for (const Index j : m.row_columns(i)) {
            if (j <= previous || j >= m.cols) {
                fail("row " + std::to_string(i) + " holds column " + std::to_string(j) + " after " +
                     std::to_string(previous) + "; columns must ascend below " + std::to_string(m.cols));
            }
            previous = j;
        }
    }
}

}  // namespace attnspan
