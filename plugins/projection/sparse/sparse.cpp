#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attnspan/memory.hpp"
#include "attnspan/plugin.hpp"

namespace attnspan {
namespace {

/// Sequence 2m of the stream chooses the columns of the sample for m, sequence 2m + 1 their signs.
class SparseSampler final : public ProjectionSampler {
public:
    SparseSampler(Index n, Index nonzeros, const RandomStream& random, const Parallel& parallel)
        : ProjectionSampler(parallel), n_(n), nonzeros_(nonzeros), random_(random) {}

private:
    static constexpr Index row_batch = 256;  // rows that a thread takes at a time

    /// An entry of Y but for its row.
    struct Entry {
        Index column;
        double sign;
    };

    [[nodiscard]] Index do_n() const override { return n_; }
    [[nodiscard]] bool do_nested() const override { return false; }
    [[nodiscard]] double do_scale(Index query_dim) const override {
        return 1 / std::sqrt(static_cast<double>(per_row(query_dim)));
    }

    void do_columns(const ProjectionColumns& c, MatrixView<double> out) override { write_columns(c, 1.0, out); }
    void do_apply_sparse(const SparseMatrix& d, const ProjectionColumns& c, MatrixView<double> out) override {
        write_product(d, c, 1.0, out);
    }
    void do_columns_and_product(const SparseMatrix& d, const ProjectionColumns& c, double scale, MatrixView<double> out,
                                MatrixView<double> product) override {
        write_columns(c, scale, out);
        write_product(d, c, scale, product);
    }
    void do_apply_dense(ConstMatrixView<double> d, const Backend&, const ProjectionColumns& c,
                        MatrixView<double> out) override {
        draw(c.query_dim);
        clear(out);
        parallel().for_each_piece(d.rows, row_batch, [&](Index begin, Index end) {
            for (Index j = 0; j < n_; ++j) {
                const double* const from = d.column(j);
                for_each_entry(j, c, [&](Index column, double sign) {
                    double* const to = out.column(column);
                    for (Index i = begin; i < end; ++i) {
                        to[i] += sign * from[i];
                    }
                });
            }
        });
    }

    void write_columns(const ProjectionColumns& c, double scale, MatrixView<double> out) {
        draw(c.query_dim);
        clear(out);
        parallel().for_each_piece(n_, row_batch, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                for_each_entry(i, c, [&](Index column, double sign) { out(i, column) = scale * sign; });
            }
        });
    }
    void write_product(const SparseMatrix& d, const ProjectionColumns& c, double scale, MatrixView<double> out) {
        draw(c.query_dim);
        clear(out);
        parallel().for_each_piece(d.rows, row_batch, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                const auto keys = d.row_columns(i);
                const auto values = d.row_values(i);
                for (std::size_t t = 0; t < keys.size(); ++t) {
                    const double value = scale * values[t];
                    for_each_entry(keys[t], c, [&](Index column, double sign) { out(i, column) += value * sign; });
                }
            }
        });
    }

    /// use(column - c.begin, sign) for the entries of row i in the columns c of the sample that is drawn.
    template <class Use>
    void for_each_entry(Index i, const ProjectionColumns& c, const Use& use) const {
        const auto s = static_cast<std::size_t>(per_row(drawn_));
        for (const Entry& e : std::span(entries_).subspan(static_cast<std::size_t>(i) * s, s)) {
            if (c.begin <= e.column && e.column < c.end) {
                use(e.column - c.begin, e.sign);
            }
        }
    }

    /// s, or m where m is smaller: then no entry is zero.
    [[nodiscard]] Index per_row(Index query_dim) const { return std::min(nonzeros_, query_dim); }

    void clear(MatrixView<double> out) const {
        parallel().for_each(out.cols, [&](Index j) { std::fill_n(out.column(j), out.rows, 0.0); });
    }

    /// Makes entries_ the sample for m.
    void draw(Index query_dim) {
        if (drawn_ == query_dim) {
            return;
        }
        const auto s = static_cast<std::size_t>(per_row(query_dim));
        const std::size_t count = static_cast<std::size_t>(n_) * s;
        require_memory(
            static_cast<double>(count) * sizeof(Entry),
            "a sparse projection of " + std::to_string(n_) + " rows with " + std::to_string(s) + " entries each");
        drawn_ = 0;
        entries_.resize(count);
        // A whole number of words of signs for each piece of rows.
        parallel().for_each_piece(n_, row_batch, [&](Index begin, Index end) {
            std::vector<std::uint64_t> choices(static_cast<std::size_t>(end - begin) * s);
            std::vector<std::uint64_t> signs((choices.size() + 63) / 64);
            const auto first = begin * static_cast<Index>(s);
            random_.at(2 * query_dim).bits(first, choices);
            random_.at(2 * query_dim + 1).bits(first / 64, signs);
            Entry* entry = entries_.data() + first;
            for (std::size_t t = 0; t < choices.size(); ++t, ++entry) {
                // Floyd's choice of s columns out of m: in step k one of the first m - s + k + 1, or the last of these
                // where that one is taken.
                const std::size_t k = t % s;
                const Index last = query_dim - static_cast<Index>(s - k);
                const Index chosen = RandomStream::reduced(choices[t], last + 1);
                const bool taken = std::any_of(entry - k, entry, [&](const Entry& e) { return e.column == chosen; });
                *entry = {.column = taken ? last : chosen,
                          .sign = ((signs[t / 64] >> (t % 64)) & 1U) != 0 ? -1.0 : 1.0};
            }
        });
        drawn_ = query_dim;
    }

    Index n_;
    Index nonzeros_;  ///< s
    RandomStream random_;
    std::vector<Entry> entries_;  ///< row after row
    Index drawn_ = 0;             ///< the m that entries_ is for; 0: none
};

/// A few entries of +-1/sqrt(s) in every row. See docs/mathematics.md.
class Sparse final : public Projection {
public:
    static ParameterSpecs parameters() {
        return {
            parameter::integer("nonzeros", "s, entries in each row of Y (all m where m is smaller); 1 is count-sketch")
                .defaults_to(Index{64})
                .at_least(1)
                .at_most(65536)};
    }
    explicit Sparse(const Parameters& parameters) : nonzeros_(parameters.integer("nonzeros")) {}

private:
    [[nodiscard]] ProjectionTraits do_traits(Index n) const override {
        return {.nested = false,
                .largest_query_dim = {},
                .default_stop = 4 * n,
                .chi_square_tail = false,
                .exact_from = {}};
    }
    [[nodiscard]] std::unique_ptr<ProjectionSampler> do_sampler(Index n, const RandomStream& random,
                                                                const Parallel& parallel) const override {
        return std::make_unique<SparseSampler>(n, nonzeros_, random, parallel);
    }

    Index nonzeros_;
};

}  // namespace
}  // namespace attnspan

ATTNSPAN_PLUGIN(attnspan::Sparse, "sparse", "1.0.0", "a few random signs in every row (Kane and Nelson)");
