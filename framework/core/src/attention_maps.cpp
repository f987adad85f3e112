#include "attnspan/core/attention_maps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "logit_tiles.hpp"
#include "parallel.hpp"
#include "row_scan.hpp"
#include "single_precision.hpp"

namespace attnspan::core {
namespace {

/// Where the cells of one side of a map begin; one more than there are cells.
std::vector<Index> boundaries(Index size, Index cells) {
    std::vector<Index> out;
    for (Index c = 0; c <= cells; ++c) {
        out.push_back(c * (size / cells) + c * (size % cells) / cells);
    }
    return out;
}

template <class T>
double largest_of(const T* s, Index count) {
    constexpr Index few = 32;
    return count > few ? maximum(s, count) : *std::max_element(s, s + count);
}

/// The zeros of one row: the largest logit in each cell, and the sum of their exponentials.
struct Zeros {
    std::vector<double> largest;  ///< -infinity: none
    double shift = minus_infinity;
    double sum = 0;  ///< of exp(logit - shift)

    void reset(std::size_t cells) {
        largest.assign(cells, minus_infinity);
        shift = minus_infinity;
        sum = 0;
    }
    template <class T>
    void add(const T* logits, KeyRange keys, const std::vector<Index>& begins) {
        if (keys.size() == 0) {
            return;
        }
        double most = minus_infinity;
        auto cell =
            static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), keys.begin) - begins.begin() - 1);
        for (Index k = keys.begin; k < keys.end; ++cell) {
            const Index end = std::min(keys.end, begins[cell + 1]);
            largest[cell] = std::max(largest[cell], largest_of(logits + (k - keys.begin), end - k));
            most = std::max(most, largest[cell]);
            k = end;
        }
        if (most > shift) {
            sum *= std::exp(shift - most);
            shift = most;
        }
        if (shift > minus_infinity) {
            sum += sum_exp(logits, keys.size(), shift);
        }
    }
};

/// Takes the larger; NaN counts as nothing.
void raise(float& cell, double value) {
    if (!(cell >= value)) {
        cell = static_cast<float>(value);
    }
}
void raise_signed(float& cell, double value) {
    if (!(std::abs(cell) >= std::abs(value))) {
        cell = static_cast<float>(value);
    }
}

template <class T>
class Painter {
public:
    Painter(const Problem& problem, const SparseMatrix& target, ConstMatrixView<double> x1, ConstMatrixView<T> x2,
            T scale, const Backend& backend, AttentionMaps& maps)
        : problem_(problem),
          target_(target),
          x1_(x1),
          x2_(x2),
          scale_(scale),
          backend_(backend),
          maps_(maps),
          rows_(boundaries(maps.queries, maps.target.rows())),
          columns_(boundaries(maps.keys, maps.target.cols())) {}

    void paint() const {
        // Whole rows of cells, so that no two tasks write into the same one; enough queries for a good product.
        const Index rows_per_task = std::max<Index>(1, block_queries * maps_.target.rows() / maps_.queries);
        const Index tasks = (maps_.target.rows() + rows_per_task - 1) / rows_per_task;
        for_each_index<Workspace>(tasks, [&](Index task, Workspace& work) {
            const Index first = rows_[static_cast<std::size_t>(task * rows_per_task)];
            const Index last =
                rows_[static_cast<std::size_t>(std::min((task + 1) * rows_per_task, maps_.target.rows()))];
            for (Index i = first; i < last; i += block_queries) {
                paint_block(i, std::min(i + block_queries, last), work);
            }
        });
    }

private:
    static constexpr Index block_queries = 128;
    struct Workspace {
        LogitTiles<T> tiles;
        std::vector<Index> queries;
        std::vector<Zeros> zeros;
    };

    void paint_block(Index first, Index last, Workspace& work) const {
        work.queries.resize(static_cast<std::size_t>(last - first));
        std::iota(work.queries.begin(), work.queries.end(), first);
        work.zeros.resize(std::max(work.zeros.size(), work.queries.size()));
        for (Zeros& row : work.zeros) {
            row.reset(columns_.size() - 1);
        }
        work.tiles.visit(problem_, backend_, x1_, x2_, scale_, work.queries,
                         [&](Index r, const T* logits, KeyRange keys) {
                             work.zeros[static_cast<std::size_t>(r)].add(logits, keys, columns_);
                         });
        std::size_t begin = 0;
        for (std::size_t r = 0; r < work.queries.size(); ++r) {
            const Index i = work.queries[r];
            const auto count = static_cast<std::size_t>(target_.row_nonzeros(i));
            paint_row(i, work.zeros[r], work.tiles.support().subspan(begin, count));
            begin += count;
        }
    }

    void paint_row(Index i, const Zeros& zeros, std::span<const double> support) const {
        const Index row = static_cast<Index>(std::upper_bound(rows_.begin(), rows_.end(), i) - rows_.begin()) - 1;
        const auto weights = target_.row_values(i);
        const auto keys = target_.row_columns(i);
        double shift = zeros.shift;
        double heaviest = 0;
        for (std::size_t t = 0; t < support.size(); ++t) {
            shift = std::max(shift, support[t]);
            heaviest = std::max(heaviest, weights[t]);
        }
        double total = zeros.sum * (zeros.shift > minus_infinity ? std::exp(zeros.shift - shift) : 0);
        double weight = 0;
        for (std::size_t t = 0; t < support.size(); ++t) {
            total += std::exp(support[t] - shift);
            weight += weights[t] / heaviest;
        }
        for (std::size_t c = 0; c < zeros.largest.size(); ++c) {
            if (zeros.largest[c] > minus_infinity) {
                const double p = std::exp(zeros.largest[c] - shift) / total;
                const auto column = static_cast<Index>(c);
                raise(maps_.target(row, column), 0);
                raise(maps_.attention(row, column), p);
                raise_signed(maps_.difference(row, column), p);
            }
        }
        for (std::size_t t = 0; t < support.size(); ++t) {
            const double p = std::exp(support[t] - shift) / total;
            const double a = weights[t] / heaviest / weight;
            const Index column =
                static_cast<Index>(std::upper_bound(columns_.begin(), columns_.end(), keys[t]) - columns_.begin()) - 1;
            raise(maps_.target(row, column), a);
            raise(maps_.attention(row, column), p);
            raise_signed(maps_.difference(row, column), p - a);
        }
    }

    const Problem& problem_;
    const SparseMatrix& target_;
    ConstMatrixView<double> x1_;
    ConstMatrixView<T> x2_;
    T scale_;
    const Backend& backend_;
    AttentionMaps& maps_;
    std::vector<Index> rows_;
    std::vector<Index> columns_;
};

}  // namespace

AttentionMaps attention_maps(const Problem& problem, const SparseMatrix& target, const Logits& logits,
                             const Backend& backend, Index cells) {
    const Index rows = std::min(cells, problem.queries());
    const Index cols = std::min(cells, problem.keys());
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    AttentionMaps out{.queries = problem.queries(),
                      .keys = problem.keys(),
                      .target = Matrix<float>(rows, cols, nothing),
                      .attention = Matrix<float>(rows, cols, nothing),
                      .difference = Matrix<float>(rows, cols, nothing)};
    const RowNorms norms(logits);
    constexpr double largest_single = 1e30;
    if (norms.x1_largest() * norms.x2_largest() * std::abs(logits.scale) < largest_single &&
        std::max(norms.x1_largest(), norms.x2_largest()) < largest_single) {
        Matrix<float> x2(logits.x2.rows, logits.x2.cols);
        round_to_single(logits.x2, x2.view());
        Painter<float>(problem, target, logits.x1, std::as_const(x2).view(), static_cast<float>(logits.scale), backend,
                       out)
            .paint();
    } else {
        Painter<double>(problem, target, logits.x1, logits.x2, logits.scale, backend, out).paint();
    }
    return out;
}

}  // namespace attnspan::core
