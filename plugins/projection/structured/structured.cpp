#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnspan/memory.hpp"
#include "attnspan/plugin.hpp"
#include "fwht.hpp"

namespace attnspan {
namespace {

/// N, the least power of two that holds n.
Index padded(Index n) {
    return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

/// P = (H D_r) ... (H D_1) and the coordinates chosen from it. Sequence 0 of the stream gives the choice, sequence q
/// the signs D_q.
class StructuredSampler final : public ProjectionSampler {
public:
    StructuredSampler(Index n, Index blocks, const RandomStream& random, const Parallel& parallel)
        : ProjectionSampler(parallel), n_(n), size_(padded(n)), random_(random) {
        require_memory(static_cast<double>(sizeof(double)) * static_cast<double>(size_) *
                           static_cast<double>(blocks + 1 + row_batch),
                       "a structured projection of " + std::to_string(size_) + " padded rows");
        for (Index q = 1; q <= blocks; ++q) {
            signs_.push_back(draw_signs(q));
            normalisation_ /= std::sqrt(static_cast<double>(size_));
        }
        coordinates_.resize(static_cast<std::size_t>(size_));
        std::iota(coordinates_.begin(), coordinates_.end(), Index{0});
    }

private:
    // Rows of a dense factor transformed together: the doubles of one cache line of its columns.
    static constexpr Index row_batch = 8;
    // Columns that share a scratch vector.
    static constexpr Index column_batch = 16;

    [[nodiscard]] Index do_n() const override { return n_; }
    [[nodiscard]] bool do_nested() const override { return true; }
    [[nodiscard]] double do_scale(Index query_dim) const override {
        return std::sqrt(static_cast<double>(size_) / static_cast<double>(query_dim));
    }

    // Column c is the first n entries of P^T e = D_1 H D_2 ... D_r H e, e the chosen unit vector: H e is known.
    void do_columns(const ProjectionColumns& c, MatrixView<double> out) override {
        choose(c.end);
        parallel().for_each_piece(c.count(), column_batch, [&](Index begin, Index end) {
            std::vector<double> y(static_cast<std::size_t>(size_));
            for (Index j = begin; j < end; ++j) {
                hadamard_column(coordinates_[static_cast<std::size_t>(c.begin + j)], y);
                for (std::size_t q = signs_.size() - 1; q > 0; --q) {
                    multiply(y, signs_[q]);
                    walsh_hadamard(y);
                }
                multiply(y, signs_[0]);
                std::copy_n(y.data(), n_, out.column(j));
            }
        });
    }

    void do_apply_dense(ConstMatrixView<double> d, const Backend&, const ProjectionColumns& c,
                        MatrixView<double> out) override {
        choose(c.end);
        parallel().for_each_piece(d.rows, row_batch, [&](Index begin, Index end) {
            const Index count = end - begin;
            std::vector<std::vector<double>> rows(static_cast<std::size_t>(count),
                                                  std::vector<double>(static_cast<std::size_t>(size_)));
            for (Index i = 0; i < n_; ++i) {
                for (Index r = 0; r < count; ++r) {
                    rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)] = d(begin + r, i);
                }
            }
            for (Index r = 0; r < count; ++r) {
                std::vector<double>& row = rows[static_cast<std::size_t>(r)];
                for (const std::vector<double>& signs : signs_) {
                    multiply(row, signs);
                    walsh_hadamard(row);
                }
                for (Index j = 0; j < c.count(); ++j) {
                    out(begin + r, j) =
                        normalisation_ *
                        row[static_cast<std::size_t>(coordinates_[static_cast<std::size_t>(c.begin + j)])];
                }
            }
        });
    }

    [[nodiscard]] std::vector<double> draw_signs(Index sequence) const {
        std::vector<std::uint64_t> words(static_cast<std::size_t>((size_ + 63) / 64));
        random_.at(sequence).bits(0, words);
        std::vector<double> signs(static_cast<std::size_t>(size_));
        for (std::size_t i = 0; i < signs.size(); ++i) {
            signs[i] = ((words[i / 64] >> (i % 64)) & 1U) != 0 ? -1.0 : 1.0;
        }
        return signs;
    }

    /// Fisher-Yates as far as needed: coordinates_[0, count) become final.
    void choose(Index count) {
        for (; chosen_ < count; ++chosen_) {
            const Index other = chosen_ + random_.at(0).below(size_ - chosen_, chosen_);
            std::swap(coordinates_[static_cast<std::size_t>(chosen_)], coordinates_[static_cast<std::size_t>(other)]);
        }
    }

    /// y = normalisation times column p of H, by doubling.
    void hadamard_column(Index p, std::vector<double>& y) const {
        y[0] = normalisation_;
        for (std::size_t half = 1; half < y.size(); half *= 2) {
            const double sign = (static_cast<std::size_t>(p) & half) != 0 ? -1.0 : 1.0;
            for (std::size_t i = 0; i < half; ++i) {
                y[half + i] = sign * y[i];
            }
        }
    }

    static void multiply(std::vector<double>& x, const std::vector<double>& signs) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] *= signs[i];
        }
    }

    Index n_;
    Index size_;  ///< N
    RandomStream random_;
    std::vector<std::vector<double>> signs_;  ///< D_1, ..., D_r
    double normalisation_ = 1;                ///< N^(-r/2)
    std::vector<Index> coordinates_;          ///< a permutation; only the first chosen_ are drawn
    Index chosen_ = 0;
};

/// Sampled coordinates of (H D_r) ... (H D_1), H the Walsh-Hadamard matrix. See docs/mathematics.md.
class Structured final : public Projection {
public:
    // One block has the least squared error of the three, and <Y e_i, Y e_j> takes but N values up to sign instead of
    // one per pair, so that the worst of all pairs is smaller: the search ends at a lower m and the transforms are
    // fewer.
    static ParameterSpecs parameters() {
        return {parameter::integer("blocks", "sign flips and Hadamard transforms; one suits keys that are unit vectors")
                    .defaults_to(Index{1})
                    .at_least(1)
                    .at_most(3)};
    }
    explicit Structured(const Parameters& parameters) : blocks_(parameters.integer("blocks")) {}

private:
    [[nodiscard]] ProjectionTraits do_traits(Index n) const override {
        return {.nested = true,
                .largest_query_dim = padded(n),
                .default_stop = padded(n),
                .chi_square_tail = false,
                .exact_from = padded(n)};
    }
    [[nodiscard]] std::unique_ptr<ProjectionSampler> do_sampler(Index n, const RandomStream& random,
                                                                const Parallel& parallel) const override {
        return std::make_unique<StructuredSampler>(n, blocks_, random, parallel);
    }

    Index blocks_;
};

}  // namespace
}  // namespace attnspan

ATTNSPAN_PLUGIN(attnspan::Structured, "structured", "1.0.0", "sampled coordinates of randomised Hadamard transforms");
