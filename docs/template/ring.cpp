#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <attnspan/plugin.hpp>

namespace {

using namespace attnspan;

/// Every token attends to the tokens that follow it on a ring, with random weights.
class Ring final : public Target {
public:
    static ParameterSpecs parameters() {
        return {
            parameter::integer("length", "number of queries and of keys").required().at_least(1).at_most(1e6),
            parameter::integer("neighbours", "tokens that each token attends to").defaults_to(Index{1}).at_least(1),
            parameter::real("variation", "weights lie between 1 and this").defaults_to(1.0).at_least(1).at_most(1e300),
        };
    }
    explicit Ring(const Parameters& p)
        : length_(p.integer("length")), neighbours_(p.integer("neighbours")), variation_(p.real("variation")) {
        if (neighbours_ > length_) {
            p.fail("neighbours", std::to_string(neighbours_) + " do not fit on a ring of " + std::to_string(length_) +
                                     "; use at most the length");
        }
    }

private:
    [[nodiscard]] TargetShape do_shape() const override {
        return {.queries = length_, .keys = length_, .nonzeros = length_ * neighbours_};  // at most 1e12
    }
    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream& random) const override {
        GeneratedTarget out;
        out.weights.cols = length_;
        std::vector<Index> keys(static_cast<std::size_t>(neighbours_));
        std::vector<double> draws(keys.size());
        for (Index i = 0; i < length_; ++i) {
            std::generate(keys.begin(), keys.end(), [&, key = i]() mutable { return key = (key + 1) % length_; });
            std::sort(keys.begin(), keys.end());  // columns ascend within a row
            random.at(i).uniforms(0, draws);      // one sequence per row
            for (std::size_t t = 0; t < keys.size(); ++t) {
                if (visible[i].contains(keys[t])) {
                    out.weights.push(keys[t], std::pow(variation_, draws[t]));
                }
            }
            out.weights.end_row();
        }
        return out;
    }

    Index length_, neighbours_;
    double variation_;
};

}  // namespace

ATTNSPAN_PLUGIN(Ring, "acme.ring", "1.0.0", "every token attends to the tokens after it on a ring");
