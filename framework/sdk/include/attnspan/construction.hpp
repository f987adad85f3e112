#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "attnspan/backend.hpp"
#include "attnspan/error.hpp"
#include "attnspan/fact.hpp"
#include "attnspan/interface.hpp"
#include "attnspan/matrix.hpp"
#include "attnspan/parallel.hpp"
#include "attnspan/projection.hpp"
#include "attnspan/random.hpp"
#include "attnspan/sparse.hpp"
#include "attnspan/visible.hpp"

namespace attnspan {

/// The two epsilons of section 2.2.
struct Tolerances {
    double ratio = 0;    ///< epsilon_1
    double leakage = 0;  ///< epsilon_2
    Location where{};    ///< of the leakage, for messages
};

/// The encoded problem: what every construction starts from. Owned by the host, which keeps it alive and unchanged as
/// long as anything made from it.
struct Problem {
    /// queries x keys. The pattern is the visible support; the values are ln(A_ij / min over S_i of A_i.) >= 0, stored
    /// even where they are 0. Rows without entries are unconstrained.
    SparseMatrix log_weights;
    VisibleRanges visible;
    Tolerances tolerances;

    [[nodiscard]] Index queries() const { return log_weights.rows; }
    [[nodiscard]] Index keys() const { return log_weights.cols; }
};

/// How a construction behaves on one problem, so that the host can plan the search and print bounds.
struct ConstructionTraits {
    bool nested = false;  ///< whether EmbeddingFamily::columns may be used
    std::optional<Index> largest_query_dim{};
    Index default_stop = 0;       ///< where a search ends unless told otherwise
    Index trivial_query_dim = 0;  ///< dimension of the obvious exact answer
    /// The target is encoded by logits margin + log_weights on the support and 0 elsewhere (section 3.1); tau of 3.6.
    std::optional<double> encoded_margin{};
    bool margin_on_full_rows = true;    ///< see encoded_offset
    bool chi_square_tail = false;       ///< inner products obey the tail of 3.6
    std::optional<Index> exact_from{};  ///< from this m on the logits are the encoded ones
};

/// Whether there is an embedding at the m asked for, and if not, why.
struct EmbedOutcome {
    bool feasible = true;
    std::string reason;  ///< for people; empty when feasible
};

/// The embeddings of one sample: X1 (queries x m) and X2 (keys x m) for every m; logits are X1 X2^T. May keep what it
/// has made so far; used by one thread at a time. Equal samples give equal bytes.
class EmbeddingFamily {
public:
    EmbeddingFamily() = default;
    EmbeddingFamily(const EmbeddingFamily&) = delete;
    EmbeddingFamily& operator=(const EmbeddingFamily&) = delete;
    virtual ~EmbeddingFamily() = default;

    /// Writes X1 and X2 for m = x1.cols = x2.cols, scaled: logits are exactly X1 X2^T. Nothing useful is written when
    /// the outcome is not feasible.
    [[nodiscard]] EmbedOutcome embed(MatrixView<double> x1, MatrixView<double> x2) {
        require_same(x1, x2);
        return do_embed(x1, x2);
    }
    /// Nested families only: columns [begin, begin + x1.cols), unscaled. X1 for m is side_scale(m) times columns [0,
    /// m), X2 likewise.
    void columns(Index begin, MatrixView<double> x1, MatrixView<double> x2) {
        require_same(x1, x2);
        do_columns(begin, x1, x2);
    }
    /// Nested families only: the factor on each of X1 and X2.
    [[nodiscard]] double side_scale(Index query_dim) const { return do_side_scale(query_dim); }

    /// What the construction wants reported of its embedding at m (margin, largest logit, ...).
    [[nodiscard]] Facts facts(Index query_dim) const { return do_facts(query_dim); }

private:
    static void require_same(MatrixView<double> x1, MatrixView<double> x2) {
        if (x1.cols != x2.cols) {
            throw Error(ErrorKind::plugin, "construction: X1 has " + std::to_string(x1.cols) + " columns and X2 has " +
                                               std::to_string(x2.cols));
        }
    }
    [[nodiscard]] virtual EmbedOutcome do_embed(MatrixView<double> x1, MatrixView<double> x2) = 0;
    virtual void do_columns(Index, MatrixView<double>, MatrixView<double>) {
        throw Error(ErrorKind::plugin, "construction: this family is not nested");
    }
    [[nodiscard]] virtual double do_side_scale(Index) const { return 1.0; }
    [[nodiscard]] virtual Facts do_facts(Index) const { return {}; }
};

/// A construction that has seen its problem (and factorised it, if it does such things).
class PreparedConstruction {
public:
    PreparedConstruction() = default;
    PreparedConstruction(const PreparedConstruction&) = delete;
    PreparedConstruction& operator=(const PreparedConstruction&) = delete;
    virtual ~PreparedConstruction() = default;

    /// @throws Error(plugin) for dimensions or a margin that cannot be
    [[nodiscard]] ConstructionTraits traits() const {
        const ConstructionTraits t = do_traits();
        require_search_range("construction", t.default_stop, t.largest_query_dim);
        if (t.encoded_margin && !(*t.encoded_margin > 0 && std::isfinite(*t.encoded_margin))) {
            throw Error(ErrorKind::plugin, "construction: an encoded margin of " + std::to_string(*t.encoded_margin) +
                                               " is not finite and positive");
        }
        return t;
    }
    /// The family drawn from `random`. May be called from several threads; the family must not outlive this object.
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> family(const RandomStream& random) const {
        std::unique_ptr<EmbeddingFamily> made = do_family(random);
        if (!made) {
            throw Error(ErrorKind::plugin, "construction: no family for a sample");
        }
        return made;
    }

private:
    [[nodiscard]] virtual ConstructionTraits do_traits() const = 0;
    [[nodiscard]] virtual std::unique_ptr<EmbeddingFamily> do_family(const RandomStream& random) const = 0;
};

/// What a construction works with besides the problem. Owned by the host; outlives everything made from it.
struct ConstructionTools {
    const Backend& backend;
    const Projection* projection;  ///< null unless the construction declares that it uses one
    const Parallel& parallel;      ///< threads to spread work over
};

/// A way to build X with fixed W_Q, W_K (section 3.4). See docs/mathematics.md.
class Construction : public Interface {
public:
    /// @throws Error(config) for tolerances it cannot meet, Error(data) for a problem it cannot encode, Error(resource)
    [[nodiscard]] std::unique_ptr<PreparedConstruction> prepare(const Problem& problem,
                                                                const ConstructionTools& tools) const {
        std::unique_ptr<PreparedConstruction> made = do_prepare(problem, tools);
        if (!made) {
            throw Error(ErrorKind::plugin, "construction: prepared nothing");
        }
        return made;
    }

private:
    [[nodiscard]] virtual std::unique_ptr<PreparedConstruction> do_prepare(const Problem& problem,
                                                                           const ConstructionTools& tools) const = 0;
};

}  // namespace attnspan
