#include <string>

#include "attnspan/plugin.hpp"
#include "targets/draw.hpp"
#include "targets/parameters.hpp"

namespace {

using namespace attnspan;

/// Every query attends to one key and every key is attended to once.
class Permutation final : public Target {
public:
    static ParameterSpecs parameters() { return {targets::length_parameter()}; }

    explicit Permutation(const Parameters& p) : length_(p.integer("length")), where_(p.where("length")) {}

private:
    [[nodiscard]] TargetShape do_shape() const override {
        return {.queries = length_, .keys = length_, .nonzeros = length_};
    }

    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream& random) const override {
        for (Index i = 0; i < length_; ++i) {
            if (visible[i].size() != length_) {
                throw Error(ErrorKind::config,
                            "target: a random permutation needs every key visible, but the mode lets query " +
                                std::to_string(i) + " see keys [" + std::to_string(visible[i].begin) + ", " +
                                std::to_string(visible[i].end) +
                                "); under a causal mode only the identity fits. Use mode \"bidirectional\", or target "
                                "\"random-sparse\"",
                            where_);
            }
        }
        GeneratedTarget out;
        out.weights.cols = length_;
        for (const Index key : targets::permutation(length_, random)) {
            out.weights.push(key, 1.0);
            out.weights.end_row();
        }
        return out;
    }

    Index length_;
    Location where_;
};

}  // namespace

ATTNSPAN_PLUGIN(Permutation, "permutation", "1.0.0", "a random permutation matrix (bidirectional modes only)");
