#pragma once

#include <cmath>
#include <string>

#include "attnspan/error.hpp"
#include "attnspan/fact.hpp"
#include "attnspan/interface.hpp"
#include "attnspan/random.hpp"
#include "attnspan/sparse.hpp"
#include "attnspan/visible.hpp"

namespace attnspan {

/// Known before anything is generated, so that the host can refuse what does not fit into memory.
struct TargetShape {
    Index queries = 0;
    Index keys = 0;
    Index nonzeros = 0;  ///< an upper bound on the number of entries
};

/// What the host does with a target that breaks the rules of section 2.2. Strict by default.
struct TargetPolicy {
    bool allow_empty_rows = false;  ///< a row without a visible entry is unconstrained instead of an error
    bool drop_invisible = false;    ///< entries at invisible pairs are removed and counted instead of an error
};

/// A generated target and what its maker wants reported with it (explicit zeros dropped, mass dropped, ...).
struct GeneratedTarget {
    SparseMatrix weights;  ///< queries x keys, entries finite and > 0; zeros are not stored
    Facts facts;
};

/// Makes the matrix A that the attention head must reproduce.
class Target : public Interface {
public:
    /// @throws Error(plugin) when the plugin answers with a negative size
    [[nodiscard]] TargetShape shape() const {
        const TargetShape answer = do_shape();
        if (answer.queries < 0 || answer.keys < 0 || answer.nonzeros < 0) {
            throw Error(ErrorKind::plugin, "target: a shape of " + std::to_string(answer.queries) + " x " +
                                               std::to_string(answer.keys) + " is not possible");
        }
        return answer;
    }

    [[nodiscard]] TargetPolicy policy() const { return do_policy(); }

    /// The weights. `visible` has shape().queries ranges over shape().keys keys. All randomness comes from `random`:
    /// the same stream gives the same bytes.
    /// @throws Error(plugin) when the answer has another shape or more entries than promised, is not in order, or holds
    /// weights that are not finite and > 0
    [[nodiscard]] GeneratedTarget generate(const VisibleRanges& visible, const RandomStream& random) const {
        const TargetShape promised = shape();
        if (visible.queries() != promised.queries || visible.keys != promised.keys) {
            throw Error(ErrorKind::plugin, "target: asked for " + std::to_string(visible.queries()) + " x " +
                                               std::to_string(visible.keys) + " but its shape is " +
                                               std::to_string(promised.queries) + " x " +
                                               std::to_string(promised.keys));
        }
        GeneratedTarget answer = do_generate(visible, random);
        const SparseMatrix& a = answer.weights;
        require_well_formed(a, "target");
        if (a.rows != promised.queries || a.cols != promised.keys) {
            throw Error(ErrorKind::plugin, "target: the matrix is " + std::to_string(a.rows) + " x " +
                                               std::to_string(a.cols) + " but the shape promised " +
                                               std::to_string(promised.queries) + " x " +
                                               std::to_string(promised.keys));
        }
        if (a.nonzeros() > promised.nonzeros) {
            throw Error(ErrorKind::plugin, "target: " + std::to_string(a.nonzeros()) +
                                               " entries, but the shape promised at most " +
                                               std::to_string(promised.nonzeros));
        }
        for (Index i = 0; i < a.rows; ++i) {
            for (std::size_t t = 0; t < a.row_values(i).size(); ++t) {
                if (const double w = a.row_values(i)[t]; !(std::isfinite(w) && w > 0)) {
                    throw Error(ErrorKind::plugin, "target: entry (" + std::to_string(i) + ", " +
                                                       std::to_string(a.row_columns(i)[t]) + ") is " +
                                                       std::to_string(w) + "; weights must be finite and > 0");
                }
            }
        }
        return answer;
    }

private:
    [[nodiscard]] virtual TargetShape do_shape() const = 0;
    [[nodiscard]] virtual TargetPolicy do_policy() const { return {}; }
    [[nodiscard]] virtual GeneratedTarget do_generate(const VisibleRanges& visible,
                                                      const RandomStream& random) const = 0;
};

}  // namespace attnspan
