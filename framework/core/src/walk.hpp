#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attnspan/core/search.hpp"

namespace attnspan::core {

/// One sample of a construction, tested at one dimension after another.
class Walk {
public:
    Walk() = default;
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    virtual ~Walk() = default;

    /// Tests the dimension; total variation is looked at only when ratio and leakage pass.
    [[nodiscard]] virtual Attempt test(Index query_dim) = 0;
    /// The embedding at the dimension and its measures; nothing where the construction has none.
    [[nodiscard]] virtual std::optional<Solution> solution(Index query_dim) = 0;
};

/// The quick one for nested families: X1 and X2 grow by columns, and the rows that refuted earlier dimensions are kept
/// with their logits over all keys, so that most dimensions cost one update of these few rows.
[[nodiscard]] std::unique_ptr<Walk> nested_walk(const SearchProblem& what, const Verifier& verifier, Index sample);

/// The general one: every dimension is embedded on its own. `resample`: from a stream of its own, too.
[[nodiscard]] std::unique_ptr<Walk> fresh_walk(const SearchProblem& what, const Verifier& verifier, Index sample,
                                               bool resample);

}  // namespace attnspan::core
