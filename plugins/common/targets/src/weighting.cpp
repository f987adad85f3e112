#include "targets/weighting.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace attnspan::targets {

ParameterSpecs Weighting::parameters(Source source) {
    using namespace parameter;
    ParameterSpec weights =
        source == Source::file
            ? choice("weights", {"given", "uniform", "log-uniform", "decaying"},
                     "those of the file, all 1, random in [1, variation], or falling with the distance")
                  .defaults_to("given")
            : choice("weights", {"uniform", "log-uniform", "decaying"},
                     "all 1, random in [1, variation], or falling with the distance from variation to 1")
                  .defaults_to("log-uniform");
    return {std::move(weights),
            real("variation", "largest quotient of two weights of a row").defaults_to(1.0).at_least(1).at_most(1e300)};
}

Weighting::Weighting(const Parameters& p) : variation_(p.real("variation")) {
    const std::string& weights = p.text("weights");
    weights_ = weights == "log-uniform" ? Weights::log_uniform
               : weights == "uniform"   ? Weights::uniform
               : weights == "decaying"  ? Weights::decaying
                                        : Weights::given;
    if (variation_ != 1 && (weights_ == Weights::uniform || weights_ == Weights::given)) {
        p.fail("variation", "has no meaning where weights = \"" + weights +
                                "\"; leave it out, or choose weights = \"log-uniform\" or \"decaying\"");
    }
}

void Weighting::draw(const RandomStream& random, std::span<double> weights) const {
    if (weights_ == Weights::given) {
        return;
    }
    if (weights_ != Weights::log_uniform) {
        std::fill(weights.begin(), weights.end(), 1.0);
        return;
    }
    random.uniforms(0, weights);
    const double log_variation = std::log(variation_);
    for (double& w : weights) {
        w = std::exp(w * log_variation);
    }
}

void Weighting::decay(SparseMatrix& matrix) const {
    if (weights_ != Weights::decaying) {
        return;
    }
    const double log_variation = std::log(variation_);
    auto weight = matrix.value.begin();
    for (Index i = 0; i < matrix.rows; ++i) {
        const auto keys = matrix.row_columns(i);
        if (keys.empty()) {
            continue;
        }
        const auto distance = [i](Index j) { return std::abs(i - j); };
        const auto [near, far] = std::ranges::minmax(keys, {}, distance);
        const auto span = static_cast<double>(distance(far) - distance(near));
        for (const Index j : keys) {
            const auto rest = static_cast<double>(distance(far) - distance(j));
            *weight++ = span == 0 ? 1.0 : std::exp(log_variation * (rest / span));
        }
    }
}

}  // namespace attnspan::targets
