#include <algorithm>
#include <cmath>
#include <memory>

#include "attnspan/plugin.hpp"
#include "haar_columns.hpp"

namespace attnspan {
namespace {

class OrthogonalSampler final : public ProjectionSampler {
public:
    OrthogonalSampler(Index n, const RandomStream& random, const Parallel& parallel)
        : ProjectionSampler(parallel), haar_(n, random, parallel) {}

private:
    [[nodiscard]] Index do_n() const override { return haar_.n(); }
    [[nodiscard]] bool do_nested() const override { return true; }
    [[nodiscard]] double do_scale(Index query_dim) const override {
        return std::sqrt(static_cast<double>(haar_.n()) / static_cast<double>(query_dim));
    }
    void do_columns(const ProjectionColumns& c, MatrixView<double> out) override {
        const ConstMatrixView<double> q = haar_.columns(c.begin, c.end);
        parallel().for_each(q.cols, [&](Index j) { std::copy_n(q.column(j), q.rows, out.column(j)); });
    }
    void do_apply_dense(ConstMatrixView<double> d, const Backend& backend, const ProjectionColumns& c,
                        MatrixView<double> out) override {
        multiply_by_rows(d, backend, haar_.columns(c.begin, c.end), out);
    }

    HaarColumns haar_;
};

/// sqrt(n/m) times the first m columns of a Haar orthogonal matrix. See docs/mathematics.md.
class Orthogonal final : public Projection {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit Orthogonal(const Parameters&) {}

private:
    [[nodiscard]] ProjectionTraits do_traits(Index n) const override {
        return {.nested = true, .largest_query_dim = n, .default_stop = n, .chi_square_tail = true, .exact_from = n};
    }
    [[nodiscard]] std::unique_ptr<ProjectionSampler> do_sampler(Index n, const RandomStream& random,
                                                                const Parallel& parallel) const override {
        return std::make_unique<OrthogonalSampler>(n, random, parallel);
    }
};

}  // namespace
}  // namespace attnspan

ATTNSPAN_PLUGIN(attnspan::Orthogonal, "orthogonal", "1.0.0", "columns of a Haar-distributed orthogonal matrix");
