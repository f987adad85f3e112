#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "attnspan/encoding.hpp"
#include "attnspan/memory.hpp"
#include "attnspan/plugin.hpp"

namespace {

using namespace attnspan;

constexpr double bytes_per_number = sizeof(double);

/// How the target becomes B.
struct Encoding {
    double tau = 0;
    bool margin_on_full_rows = true;
};

/// B of section 3.1: tau + log-weight on the support, nothing elsewhere.
SparseMatrix encoded(const Problem& problem, const Encoding& encoding) {
    SparseMatrix b = problem.log_weights;
    for (Index i = 0; i < b.rows; ++i) {
        const double offset = encoded_offset(problem, i, encoding.tau, encoding.margin_on_full_rows);
        const auto first = b.value.begin() + b.row_begin[static_cast<std::size_t>(i)];
        std::for_each(first, first + b.row_nonzeros(i), [&](double& w) { w += offset; });
    }
    return b;
}

ConstructionTraits traits_of(const Projection& projection, Index n, const Encoding& encoding) {
    const ProjectionTraits scheme = projection.traits(n);
    return {.nested = scheme.nested,
            .largest_query_dim = scheme.largest_query_dim,
            .default_stop = scheme.default_stop,
            .trivial_query_dim = n,
            .encoded_margin = encoding.tau,
            .margin_on_full_rows = encoding.margin_on_full_rows,
            .chi_square_tail = scheme.chi_square_tail,
            .exact_from = scheme.exact_from};
}

/// X1 = D Y and X2 = V Y for one sample of Y; how the products are made is the factorisation's affair.
class ProjectedFamily : public EmbeddingFamily {
protected:
    explicit ProjectedFamily(std::unique_ptr<ProjectionSampler> sampler) : sampler_(std::move(sampler)) {}
    [[nodiscard]] ProjectionSampler& sampler() { return *sampler_; }

private:
    [[nodiscard]] EmbedOutcome do_embed(MatrixView<double> x1, MatrixView<double> x2) override {
        write({.query_dim = x1.cols, .begin = 0, .end = x1.cols}, sampler_->scale(x1.cols), x1, x2);
        return {};
    }
    void do_columns(Index begin, MatrixView<double> x1, MatrixView<double> x2) override {
        write({.query_dim = begin + x1.cols, .begin = begin, .end = begin + x1.cols}, 1.0, x1, x2);
    }
    [[nodiscard]] double do_side_scale(Index query_dim) const override { return sampler_->scale(query_dim); }

    /// The columns of both, times `scale`.
    virtual void write(const ProjectionColumns& columns, double scale, MatrixView<double> x1,
                       MatrixView<double> x2) = 0;

    std::unique_ptr<ProjectionSampler> sampler_;
};

/// B = D V^T with D = B and V = I: X1 = B Y, X2 = Y. O(nnz m).
class DirectFamily final : public ProjectedFamily {
public:
    DirectFamily(const SparseMatrix& b, std::unique_ptr<ProjectionSampler> sampler)
        : ProjectedFamily(std::move(sampler)), b_(b) {}

private:
    void write(const ProjectionColumns& columns, double scale, MatrixView<double> x1, MatrixView<double> x2) override {
        sampler().columns_and_product(b_, columns, scale, x2, x1);
    }

    const SparseMatrix& b_;
};

/// B = D V^T with the right singular vectors V and D = B V = U Sigma: X1 = D Y, X2 = V Y. D and V stand in one matrix,
/// D above V, so that Y is drawn once for both.
class SvdFamily final : public ProjectedFamily {
public:
    SvdFamily(const Matrix<double>& factors, Index queries, const Backend& backend,
              std::unique_ptr<ProjectionSampler> sampler, const Parallel& parallel)
        : ProjectedFamily(std::move(sampler)),
          factors_(factors),
          queries_(queries),
          backend_(backend),
          parallel_(parallel) {}

private:
    void write(const ProjectionColumns& columns, double scale, MatrixView<double> x1, MatrixView<double> x2) override {
        Matrix<double> both(factors_.rows(), columns.count());
        sampler().apply(factors_.view(), backend_, columns, both.view());
        parallel_.for_each(both.cols(), [&](Index c) {
            for (Index i = 0; i < queries_; ++i) {
                x1(i, c) = scale * both(i, c);
            }
            for (Index j = queries_; j < both.rows(); ++j) {
                x2(j - queries_, c) = scale * both(j, c);
            }
        });
    }

    const Matrix<double>& factors_;
    Index queries_;
    const Backend& backend_;
    const Parallel& parallel_;
};

class Direct final : public PreparedConstruction {
public:
    Direct(const Problem& problem, const ConstructionTools& tools, const Encoding& encoding)
        : b_(encoded(problem, encoding)),
          projection_(*tools.projection),
          parallel_(tools.parallel),
          encoding_(encoding) {}

private:
    [[nodiscard]] ConstructionTraits do_traits() const override { return traits_of(projection_, b_.cols, encoding_); }
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> do_family(const RandomStream& random) const override {
        return std::make_unique<DirectFamily>(b_, projection_.sampler(b_.cols, random, parallel_));
    }

    SparseMatrix b_;
    const Projection& projection_;
    const Parallel& parallel_;
    Encoding encoding_;
};

class Factorised final : public PreparedConstruction {
public:
    Factorised(const Problem& problem, const ConstructionTools& tools, const Encoding& encoding)
        : queries_(problem.queries()),
          keys_(problem.keys()),
          backend_(tools.backend),
          projection_(*tools.projection),
          parallel_(tools.parallel),
          encoding_(encoding) {
        const auto n = static_cast<double>(keys_);
        // B^T B and what a back end takes to decompose it, then the factors.
        require_memory((static_cast<double>(queries_) + 10 * n) * n * bytes_per_number,
                       "factorization = \"svd\" of a " + std::to_string(queries_) + " x " + std::to_string(keys_) +
                           " matrix (\"direct\" does without)");
        const SparseMatrix b = encoded(problem, encoding);
        // The eigenvectors of B^T B are the right singular vectors, zero singular values included; D = B V then holds
        // B = D V^T to rounding for whatever orthogonal V comes out.
        Matrix<double> gram(keys_, keys_, 0.0);
        for (Index i = 0; i < b.rows; ++i) {
            const auto at = b.row_columns(i);
            const auto values = b.row_values(i);
            for (std::size_t s = 0; s < at.size(); ++s) {
                for (std::size_t t = 0; t < at.size(); ++t) {
                    gram(at[s], at[t]) += values[s] * values[t];
                }
            }
        }
        const Matrix<double> v = backend_.symmetric_eigen(std::as_const(gram).view()).vectors;
        factors_ = Matrix<double>(queries_ + keys_, keys_);
        parallel_.for_each(keys_, [&](Index c) {
            multiply(b, v.view().column(c), factors_.view().column(c));
            for (Index j = 0; j < keys_; ++j) {
                factors_(queries_ + j, c) = v(j, c);
            }
        });
    }

private:
    [[nodiscard]] ConstructionTraits do_traits() const override { return traits_of(projection_, keys_, encoding_); }
    [[nodiscard]] std::unique_ptr<EmbeddingFamily> do_family(const RandomStream& random) const override {
        return std::make_unique<SvdFamily>(factors_, queries_, backend_, projection_.sampler(keys_, random, parallel_),
                                           parallel_);
    }

    Index queries_;
    Index keys_;
    const Backend& backend_;
    const Projection& projection_;
    const Parallel& parallel_;
    Encoding encoding_;
    Matrix<double> factors_;
};

/// The paper's construction. Source: arXiv 2106.03764, section 3 of the contract.
class RandomProjection final : public Construction {
public:
    static constexpr bool uses_projection = true;

    static ParameterSpecs parameters() {
        return {
            parameter::choice("factorization", {"direct", "svd"},
                              "B = D V^T by D = B, V = I (sparse, fast) or by the singular vectors (the paper's form)")
                .defaults_to("direct"),
            parameter::real("margin_scale",
                            "the margin tau in units of the paper's; larger is often easier with one nonzero per row")
                .defaults_to(1.0)
                .above(0)
                .at_most(1e6),
            parameter::choice("full_rows", {"margin", "ratios"},
                              "rows without a visible zero: the margin all the same (the paper), or their ratios alone")
                .defaults_to("margin"),
        };
    }

    explicit RandomProjection(const Parameters& p)
        : svd_(p.text("factorization") == "svd"),
          margin_on_full_rows_(p.text("full_rows") == "margin"),
          margin_scale_(p.real("margin_scale")) {}

private:
    [[nodiscard]] std::unique_ptr<PreparedConstruction> do_prepare(const Problem& problem,
                                                                   const ConstructionTools& tools) const override {
        const Encoding encoding{.tau = encoded_margin(problem.tolerances, margin_scale_),
                                .margin_on_full_rows = margin_on_full_rows_};
        if (svd_) {
            return std::make_unique<Factorised>(problem, tools, encoding);
        }
        return std::make_unique<Direct>(problem, tools, encoding);
    }

    bool svd_;
    bool margin_on_full_rows_;
    double margin_scale_;
};

}  // namespace

ATTNSPAN_PLUGIN(RandomProjection, "random-projection", "1.0.0",
                "the paper's construction: encode, factorise, project at random");
