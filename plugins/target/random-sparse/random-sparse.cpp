#include <algorithm>
#include <cstddef>
#include <vector>

#include "attnspan/plugin.hpp"
#include "targets/count.hpp"
#include "targets/draw.hpp"
#include "targets/parameters.hpp"
#include "targets/weighting.hpp"

namespace {

using namespace attnspan;

/// A random pattern with the same number of entries in every row and every column. It starts from a circulant pattern
/// with random shifts whose rows and columns are permuted at random (regular for any number of entries up to the
/// length), and then exchanges the keys of random pairs of entries, which keeps rows and columns regular.
class RandomSparse final : public Target {
public:
    static ParameterSpecs parameters() {
        ParameterSpecs specs = targets::Weighting::parameters();
        specs.insert(specs.begin(), {targets::length_parameter(),
                                     parameter::integer("nonzeros", "entries in every row and every column")
                                         .defaults_to(Index{1})
                                         .at_least(1)});
        return specs;
    }

    explicit RandomSparse(const Parameters& p)
        : length_(p.integer("length")), nonzeros_(p.integer("nonzeros")), weighting_(p) {
        if (nonzeros_ > length_) {
            p.fail("nonzeros", std::to_string(nonzeros_) + " entries do not fit into rows of " +
                                   std::to_string(length_) + "; use at most the length");
        }
    }

private:
    // Purposes of the sequences drawn from the stream.
    enum Sequence : Index { row_order, column_order, shifts, exchanges, weights };
    static constexpr Index exchanges_per_entry = 4;

    [[nodiscard]] TargetShape do_shape() const override {
        return {.queries = length_, .keys = length_, .nonzeros = (targets::Count(length_) * nonzeros_).value()};
    }

    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream& random) const override {
        std::vector<Index> keys = draw_pattern(random);
        std::vector<double> values(keys.size());
        weighting_.draw(random.at(weights), values);

        GeneratedTarget out;
        out.weights.cols = length_;
        std::vector<std::pair<Index, double>> row(static_cast<std::size_t>(nonzeros_));
        Index filled = 0;
        for (Index i = 0; i < length_; ++i) {
            for (std::size_t t = 0; t < row.size(); ++t) {
                const std::size_t entry = static_cast<std::size_t>(i) * row.size() + t;
                row[t] = {keys[entry], values[entry]};
            }
            std::sort(row.begin(), row.end());
            const Index before = out.weights.nonzeros();
            for (const auto& [key, weight] : row) {
                if (visible[i].contains(key)) {
                    out.weights.push(key, weight);
                }
            }
            if (out.weights.nonzeros() == before && visible[i].contains(i)) {
                out.weights.push(i, 1.0);
                ++filled;
            }
            out.weights.end_row();
        }
        weighting_.decay(out.weights);
        if (const Index dropped = length_ * nonzeros_ + filled - out.weights.nonzeros(); dropped > 0) {
            out.facts = {{"invisible_entries_left_out", dropped}, {"diagonal_entries_filled", filled}};
        }
        return out;
    }

    /// Keys of row i stand at [i * nonzeros, (i + 1) * nonzeros), in no order.
    [[nodiscard]] std::vector<Index> draw_pattern(const RandomStream& random) const {
        const std::vector<Index> rows = targets::permutation(length_, random.at(row_order));
        const std::vector<Index> columns = targets::permutation(length_, random.at(column_order));
        const std::vector<Index> shift = targets::permutation(length_, random.at(shifts));
        std::vector<Index> keys(static_cast<std::size_t>(length_ * nonzeros_));
        for (Index i = 0; i < length_; ++i) {
            for (Index t = 0; t < nonzeros_; ++t) {
                const Index column = (i + shift[static_cast<std::size_t>(t)]) % length_;
                keys[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)] * nonzeros_ + t)] =
                    columns[static_cast<std::size_t>(column)];
            }
        }
        const auto entries = static_cast<Index>(keys.size());
        const RandomStream pairs = random.at(exchanges);
        const Index count = nonzeros_ == 1 || nonzeros_ == length_ ? 0 : exchanges_per_entry * entries;
        for (Index e = 0; e < count; ++e) {
            exchange(keys, pairs.below(entries, 2 * e), pairs.below(entries, 2 * e + 1));
        }
        return keys;
    }

    /// Gives each of two entries the other's key, unless a row would then hold a key twice.
    void exchange(std::vector<Index>& keys, Index a, Index b) const {
        const auto holds = [&](Index entry, Index key) {
            const auto begin = keys.begin() + entry / nonzeros_ * nonzeros_;
            return std::find(begin, begin + nonzeros_, key) != begin + nonzeros_;
        };
        Index& key_a = keys[static_cast<std::size_t>(a)];
        Index& key_b = keys[static_cast<std::size_t>(b)];
        if (!holds(a, key_b) && !holds(b, key_a)) {
            std::swap(key_a, key_b);
        }
    }

    Index length_;
    Index nonzeros_;
    targets::Weighting weighting_;
};

}  // namespace

ATTNSPAN_PLUGIN(RandomSparse, "random-sparse", "1.0.0", "the same number of random entries in every row and column");
