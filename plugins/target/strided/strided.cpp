#include <algorithm>

#include "attnspan/plugin.hpp"
#include "targets/pattern.hpp"

namespace {

using namespace attnspan;
using targets::Count;

/// The Sparse Transformer's strided pattern. Key j <= i of row i is kept by the head "local" when i - j < stride, by
/// the head "strided" when (i - j) mod stride = 0, and by "union" when either does. Causal under every mode. Source:
/// Child, Gray, Radford, Sutskever, arXiv 1904.10509, and the authors' code; the paper's text gives "local" one key
/// more.
class Strided final : public targets::Pattern {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            integer("stride", "distance of kept keys, and length of the local context")
                .defaults_to(Index{32})
                .at_least(1),
            choice("head", {"local", "strided", "union"}, "one of the two published heads, or both in one")
                .defaults_to("union"),
        });
    }

    explicit Strided(const Parameters& p)
        : Pattern(p),
          stride_(std::min(p.integer("stride"), length())),
          is_local_(p.text("head") != "strided"),
          is_strided_(p.text("head") != "local") {}

private:
    [[nodiscard]] Count do_entries() const override {
        const Count local = targets::causal_band(length(), is_local_ ? stride_ : 1);  // the diagonal at least
        const Index full = length() / stride_;
        // Row i has floor(i / stride) keys beyond the diagonal, and none of them is local.
        const Count beyond = targets::triangle(full - 1) * stride_ + Count(length() % stride_) * full;
        return is_strided_ ? local + beyond : local;
    }

    void do_keys(Index query, const RandomStream&, targets::KeyRanges& keys) const override {
        if (is_strided_) {
            for (Index j = query % stride_; j <= query; j += stride_) {
                keys.push_back({.begin = j, .end = j + 1});
            }
        }
        if (is_local_) {
            keys.push_back({.begin = query - stride_ + 1, .end = query + 1});
        }
    }

    Index stride_;
    bool is_local_;
    bool is_strided_;
};

}  // namespace

ATTNSPAN_PLUGIN(Strided, "strided", "1.0.0", "the Sparse Transformer's strided pattern, one head or both");
