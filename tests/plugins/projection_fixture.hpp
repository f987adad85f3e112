#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attnspan/core/random.hpp"
#include "attnspan/projection.hpp"
#include "load_plugin.hpp"

namespace attnspan::test {

/// A projection of the build, with the parameters under test.
struct Scheme {
    std::string name;
    std::map<std::string, ParameterValue> parameters{};

    [[nodiscard]] std::string text() const {
        return parameters.empty() ? name : name + ' ' + std::to_string(std::get<Index>(parameters.begin()->second));
    }
};

/// The schemes whose sample for m is a prefix of the samples for larger m.
inline std::vector<Scheme> nested_schemes() {
    std::vector<Scheme> all = {{"gaussian"}, {"orthogonal"}};
    for (const Index blocks : {Index{1}, Index{2}, Index{3}}) {
        all.push_back({"structured", {{"blocks", blocks}}});
    }
    return all;
}

inline std::vector<Scheme> schemes() {
    std::vector<Scheme> all = nested_schemes();
    for (const Index nonzeros : {Index{1}, Index{4}}) {
        all.push_back({"sparse", {{"nonzeros", nonzeros}}});
    }
    return all;
}

/// Keeps library, projection and generator alive for the samplers made from them.
class LoadedScheme {
public:
    explicit LoadedScheme(const Scheme& scheme)
        : plugin_(ATTNSPAN_PLUGINS, "projection-" + scheme.name), projection_(plugin_.make(scheme.parameters)) {}

    [[nodiscard]] ProjectionTraits traits(Index n) const { return projection_->traits(n); }
    [[nodiscard]] std::unique_ptr<ProjectionSampler> sampler(Index n, std::uint64_t sample) const {
        return projection_->sampler(n, core::stream(source_, 1, core::Purpose::embedding, 0, sample), serial_);
    }

private:
    core::PhiloxSource source_;
    Serial serial_;
    LoadedPlugin<Projection> plugin_;
    std::unique_ptr<Projection> projection_;
};

/// The unscaled columns [0, m).
inline Matrix<double> columns(ProjectionSampler& sampler, Index m) {
    Matrix<double> y(sampler.n(), m);
    sampler.columns({.query_dim = m, .begin = 0, .end = m}, y.view());
    return y;
}

/// Products by their definition; nothing else.
class DefinitionBackend final : public Backend {
    [[nodiscard]] BackendInfo do_info() const override { return {"definition", "none", 1}; }
    template <class T>
    static void by_definition(T alpha, Op op_a, ConstMatrixView<T> a, Op op_b, ConstMatrixView<T> b, T beta,
                              MatrixView<T> c) {
        const Index inner = op_a == Op::none ? a.cols : a.rows;
        for (Index j = 0; j < c.cols; ++j) {
            for (Index i = 0; i < c.rows; ++i) {
                T sum = 0;
                for (Index l = 0; l < inner; ++l) {
                    sum += (op_a == Op::none ? a(i, l) : a(l, i)) * (op_b == Op::none ? b(l, j) : b(j, l));
                }
                c(i, j) = alpha * sum + (beta == T(0) ? T(0) : beta * c(i, j));
            }
        }
    }
    void do_multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                     MatrixView<double> c) const override {
        by_definition(alpha, op_a, a, op_b, b, beta, c);
    }
    void do_multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                     MatrixView<float> c) const override {
        by_definition(alpha, op_a, a, op_b, b, beta, c);
    }
    [[noreturn]] static void refuse() { throw Error(ErrorKind::plugin, "this back end only multiplies"); }
    [[nodiscard]] Svd do_svd(ConstMatrixView<double>) const override { refuse(); }
    [[nodiscard]] SymmetricEigen do_symmetric_eigen(ConstMatrixView<double>) const override { refuse(); }
    [[nodiscard]] Qr do_qr(ConstMatrixView<double>) const override { refuse(); }
    [[nodiscard]] Matrix<double> do_solve(ConstMatrixView<double>, ConstMatrixView<double>) const override { refuse(); }
};

}  // namespace attnspan::test
