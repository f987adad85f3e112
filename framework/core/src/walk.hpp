#pragma once

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "attnspan/core/search.hpp"

namespace attnspan::core {

/// What each of X1 and X2 is multiplied by for the head they are meant for, and how that head scales their logits.
struct Fold {
    Fold(const SearchProblem& what, Index query_dim)
        : side(what.divided_by_sqrt_dim ? std::sqrt(std::sqrt(static_cast<double>(query_dim))) : 1),
          scale(what.divided_by_sqrt_dim ? 1 / std::sqrt(static_cast<double>(query_dim)) : 1) {}
    double side;
    double scale;
};

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
    /// Time spent so far on making X1 and X2.
    [[nodiscard]] double embedding_seconds() const { return embedding_seconds_; }

protected:
    /// work(), booked as the making of X1 and X2.
    template <class Work>
    auto embedding(const Work& work) {
        struct Lap {
            double& seconds;
            std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
            ~Lap() { seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
        };
        const Lap lap{embedding_seconds_};
        return work();
    }

private:
    double embedding_seconds_ = 0;
};

/// The quick one for nested families: X1 and X2 grow by columns, and the rows that refuted earlier dimensions are kept
/// with their logits over all keys, so that most dimensions cost one update of these few rows.
[[nodiscard]] std::unique_ptr<Walk> nested_walk(const SearchProblem& what, const Verifier& verifier, Index sample);

/// The general one: every dimension is embedded on its own. `resample`: from a stream of its own, too.
[[nodiscard]] std::unique_ptr<Walk> fresh_walk(const SearchProblem& what, const Verifier& verifier, Index sample,
                                               bool resample);

}  // namespace attnspan::core
