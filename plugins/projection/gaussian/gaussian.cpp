#include <cmath>
#include <cstddef>
#include <memory>

#include "attnspan/plugin.hpp"

namespace attnspan {
namespace {

/// Column c is the sequence c of the stream, as normals.
class GaussianSampler final : public ProjectionSampler {
public:
    GaussianSampler(Index n, const RandomStream& random, const Parallel& parallel)
        : ProjectionSampler(parallel), n_(n), random_(random) {}

private:
    [[nodiscard]] Index do_n() const override { return n_; }
    [[nodiscard]] bool do_nested() const override { return true; }
    [[nodiscard]] double do_scale(Index query_dim) const override {
        return 1 / std::sqrt(static_cast<double>(query_dim));
    }
    void do_columns(const ProjectionColumns& c, MatrixView<double> out) override {
        parallel().for_each(c.count(), [&](Index j) {
            random_.at(c.begin + j).normals(0, {out.column(j), static_cast<std::size_t>(n_)});
        });
    }

    Index n_;
    RandomStream random_;
};

/// Independent entries N(0, 1/m). See docs/mathematics.md.
class Gaussian final : public Projection {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit Gaussian(const Parameters&) {}

private:
    [[nodiscard]] ProjectionTraits do_traits(Index n) const override {
        return {
            .nested = true, .largest_query_dim = {}, .default_stop = 4 * n, .chi_square_tail = true, .exact_from = {}};
    }
    [[nodiscard]] std::unique_ptr<ProjectionSampler> do_sampler(Index n, const RandomStream& random,
                                                                const Parallel& parallel) const override {
        return std::make_unique<GaussianSampler>(n, random, parallel);
    }
};

}  // namespace
}  // namespace attnspan

ATTNSPAN_PLUGIN(attnspan::Gaussian, "gaussian", "1.0.0", "independent Gaussian entries of variance 1/m");
