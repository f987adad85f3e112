#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <attnspan/plugin.hpp>

namespace {

using namespace attnspan;

/// Column c, unscaled: sequence c of the stream, a bit for each row.
class SignsSampler final : public ProjectionSampler {
public:
    SignsSampler(Index n, const RandomStream& random, const Parallel& parallel)
        : ProjectionSampler(parallel), n_(n), random_(random) {}

private:
    [[nodiscard]] Index do_n() const override { return n_; }
    [[nodiscard]] bool do_nested() const override { return true; }  // a column does not depend on m
    [[nodiscard]] double do_scale(Index query_dim) const override {
        return 1 / std::sqrt(static_cast<double>(query_dim));
    }
    void do_columns(const ProjectionColumns& c, MatrixView<double> out) override {
        // The host's threads: a body writes its own column and nothing else.
        parallel().for_each(c.count(), [&](Index j) {
            std::vector<std::uint64_t> words(static_cast<std::size_t>((n_ + 63) / 64));
            random_.at(c.begin + j).bits(0, words);
            for (Index i = 0; i < n_; ++i) {
                const bool positive =
                    (words[static_cast<std::size_t>(i / 64)] >> static_cast<unsigned>(i % 64) & 1U) != 0;
                out.column(j)[i] = positive ? 1.0 : -1.0;
            }
        });
    }

    Index n_;
    RandomStream random_;
};

/// Independent entries +-1/sqrt(m), each with probability 1/2: E[Y Y^T] = I. An estimated inner product of unit vectors
/// with rho = <x, y> has mean squared error (1 + rho^2 - 2 sum_i x_i^2 y_i^2) / m.
class Signs final : public Projection {
public:
    static ParameterSpecs parameters() { return {}; }
    explicit Signs(const Parameters&) {}

private:
    [[nodiscard]] ProjectionTraits do_traits(Index n) const override {
        return {
            .nested = true, .largest_query_dim = {}, .default_stop = 4 * n};  // no claim of tails, none of exactness
    }
    [[nodiscard]] std::unique_ptr<ProjectionSampler> do_sampler(Index n, const RandomStream& random,
                                                                const Parallel& parallel) const override {
        return std::make_unique<SignsSampler>(n, random, parallel);
    }
};

}  // namespace

ATTNSPAN_PLUGIN(Signs, "acme.signs", "1.0.0", "independent random signs");
