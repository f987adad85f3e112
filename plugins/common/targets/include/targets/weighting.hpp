#pragma once

#include <span>

#include "attnspan/parameters.hpp"
#include "attnspan/random.hpp"
#include "attnspan/sparse.hpp"

namespace attnspan::targets {

/// The weights of the entries of a pattern, by its keys `weights` and `variation` (gamma):
///
/// * log-uniform: independent, log-uniform in [1, gamma]; exactly 1 for gamma = 1
/// * uniform: 1
/// * decaying: gamma^((f - |i - j|) / (f - n)) at key j of row i, where n and f are the distances of the row's nearest
///   and farthest entry: geometric from gamma down to 1, as ALiBi decays (Press, Smith, Lewis, arXiv 2108.12409), the
///   row's variation being gamma. 1 where all entries of a row are equally far
/// * given: what the maker of the pattern read from a file
class Weighting {
public:
    enum class Source { made_up, file };

    /// `file` allows "given", and makes it the default.
    static ParameterSpecs parameters(Source source = Source::made_up);
    /// @throws Error(config) for a variation that the weights do not have
    explicit Weighting(const Parameters& p);

    /// Weights that do not depend on the place; 1 where they do, and what is there where they are given. Uses numbers
    /// [0, weights.size()) of the stream.
    void draw(const RandomStream& random, std::span<double> weights) const;
    /// Weights that depend on the place; nothing where they do not.
    void decay(SparseMatrix& matrix) const;
    /// Both, the entries drawn for in the order of the rows.
    void apply(SparseMatrix& matrix, const RandomStream& random) const {
        draw(random, matrix.value);
        decay(matrix);
    }

private:
    enum class Weights { log_uniform, uniform, decaying, given };

    Weights weights_;
    double variation_;
};

}  // namespace attnspan::targets
