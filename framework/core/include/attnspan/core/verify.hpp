#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "attnspan/backend.hpp"
#include "attnspan/construction.hpp"
#include "attnspan/core/measures.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::core {

/// The logits S = scale * x1 x2^T, never formed: x1 is queries x m, x2 is keys x m.
struct Logits {
    ConstMatrixView<double> x1;
    ConstMatrixView<double> x2;
    double scale = 1;
    /// x2 rounded to single precision, or empty. With it refute() is faster; its verdict is the same.
    ConstMatrixView<float> x2_single{};
};

/// Euclidean norms of the rows of x1 and x2. Kept apart so that a search that grows x1 and x2 column by column can
/// grow them too.
class RowNorms {
public:
    RowNorms(Index queries, Index keys);
    /// Of all columns.
    explicit RowNorms(const Logits& logits);
    /// Takes further columns into account, on all threads of the caller's task arena.
    void add(ConstMatrixView<double> x1_columns, ConstMatrixView<double> x2_columns);

    [[nodiscard]] double x1(Index query) const { return std::sqrt(x1_[static_cast<std::size_t>(query)]); }
    /// Largest norms; NaN or infinity when an entry is not finite.
    [[nodiscard]] double x1_largest() const { return largest(x1_); }
    [[nodiscard]] double x2_largest() const { return largest(x2_); }

private:
    static double largest(const std::vector<double>& squares);

    std::vector<double> x1_;
    std::vector<double> x2_;
};

/// Why a result does not pass: a row that breaks a condition, and by how much (in logarithms, > 0).
struct Refutation {
    Condition condition = Condition::ratio;
    Index row = 0;
    std::optional<Index> key{};  ///< for leakage
    double log_excess = 0;       ///< for total variation: the difference to its limit
};

/// Measures embeddings against one problem, tile by tile, on all threads of the caller's task arena. Memory: a few MiB
/// per thread and O(queries + keys); never queries x keys.
///
/// The verdict does not depend on the back end: a row whose measure comes so close to a limit that the rounding of the
/// products could decide is computed again by a compensated inner product in a fixed order, and that value is compared
/// and reported.
class Verifier {
public:
    /// All three are kept by reference.
    Verifier(const Problem& problem, const Backend& backend, const Criterion& criterion);

    /// Rows that have support, ascending: the ones that can be refuted.
    [[nodiscard]] std::span<const Index> constrained_rows() const { return constrained_; }

    /// The measures of section 2.2. With `rows`, also those of every row (unconstrained ones keep their defaults).
    /// @throws Error(data) when an entry is not finite or the logits would overflow
    [[nodiscard]] Measures measure(const Logits& logits, std::vector<RowMeasures>* rows = nullptr) const;

    /// Whether ratio and leakage keep to the criterion. Leaves at the first block of rows that refutes them and names
    /// its worst row. With `riskiest`, also the rows that came closest to refuting or did, the worst first: where a
    /// neighbouring dimension is likely to fail. The answers do not depend on the number of threads. @throws as measure
    [[nodiscard]] std::optional<Refutation> refute(const Logits& logits, const RowNorms& norms,
                                                   std::vector<Index>* riskiest = nullptr) const;

    /// Whether ratio and leakage of these rows keep to the criterion, and if not, the worst. Column r of `products`
    /// holds x1 x2^T of row queries[r] over all keys, without the scale.
    [[nodiscard]] std::optional<Refutation> refute_rows(const Logits& logits, const RowNorms& norms,
                                                        std::span<const Index> queries,
                                                        ConstMatrixView<double> products) const;

    /// The refutation that a row's measures amount to, if any.
    [[nodiscard]] std::optional<Refutation> judge(Index query, const RowMeasures& measures) const;
    /// The same for a whole result, total variation included where the criterion limits it.
    [[nodiscard]] std::optional<Refutation> judge(const Measures& measures) const;

private:
    struct Workspace;
    class RoundingBound;

    void measure_block(const Logits& logits, const RoundingBound& bound, std::span<const Index> queries, bool softmax,
                       Workspace& work, std::span<RowMeasures> out) const;
    /// Ratio and leakage, in single precision where that decides.
    void screen_block(const Logits& logits, const RoundingBound& bound, std::span<const Index> queries, Workspace& work,
                      std::span<RowMeasures> out) const;
    [[nodiscard]] RowMeasures measure_row(const Logits& logits, const RoundingBound& bound, Index query,
                                          std::span<double> row) const;
    [[nodiscard]] RowMeasures decide_exactly(const Logits& logits, Index query, RowMeasures measured) const;
    /// Whether a logit error of this size could tip the verdict on the row.
    [[nodiscard]] bool near_limit(Index query, const RowMeasures& m, double logit_error, double largest_support) const;
    static void require_bounded(const Logits& logits, const RowNorms& norms);

    const Problem& problem_;
    const Backend& backend_;
    const Criterion& criterion_;
    std::vector<Index> constrained_;
};

}  // namespace attnspan::core
