#include "adjacency.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace attnspan::graph {
namespace {

SparseMatrix transposed(const SparseMatrix& a) {
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    std::vector<std::vector<std::pair<Index, double>>> rows(at(a.cols));
    for (Index i = 0; i < a.rows; ++i) {
        for (std::size_t t = 0; t < a.row_columns(i).size(); ++t) {
            rows[at(a.row_columns(i)[t])].emplace_back(i, a.row_values(i)[t]);
        }
    }
    SparseMatrix out;
    out.cols = a.rows;
    for (const auto& row : rows) {
        for (const auto& [key, weight] : row) {
            out.push(key, weight);
        }
        out.end_row();
    }
    return out;
}

}  // namespace

SparseMatrix symmetric(const SparseMatrix& directed) {
    const SparseMatrix back = transposed(directed);
    SparseMatrix out;
    out.cols = directed.cols;
    for (Index i = 0; i < directed.rows; ++i) {
        const auto a = directed.row_columns(i);
        const auto b = back.row_columns(i);
        std::size_t s = 0;
        std::size_t t = 0;
        while (s < a.size() || t < b.size()) {
            const Index key = t == b.size() || (s < a.size() && a[s] < b[t]) ? a[s] : b[t];
            double weight = 0;
            if (s < a.size() && a[s] == key) {
                weight = directed.row_values(i)[s++];
            }
            if (t < b.size() && b[t] == key) {
                weight = std::max(weight, back.row_values(i)[t++]);
            }
            out.push(key, weight);
        }
        out.end_row();
    }
    return out;
}

SparseMatrix with_self_loops(const SparseMatrix& graph, SelfLoops rule) {
    if (rule == SelfLoops::keep) {
        return graph;
    }
    SparseMatrix out;
    out.cols = graph.cols;
    for (Index i = 0; i < graph.rows; ++i) {
        bool is_missing = rule == SelfLoops::add;
        const auto keys = graph.row_columns(i);
        for (std::size_t t = 0; t < keys.size(); ++t) {
            if (is_missing && keys[t] >= i) {
                if (keys[t] > i) {
                    out.push(i, 1.0);
                }
                is_missing = false;
            }
            if (keys[t] != i || rule == SelfLoops::add) {
                out.push(keys[t], graph.row_values(i)[t]);
            }
        }
        if (is_missing) {
            out.push(i, 1.0);
        }
        out.end_row();
    }
    return out;
}

}  // namespace attnspan::graph
