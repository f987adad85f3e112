#include "attnspan/plugin.hpp"
#include "dense/kernels.hpp"

namespace {

using namespace attnspan;

/// Eigen, compiled for the processor this runs on. Everything happens on the calling thread.
class EigenBackend final : public Backend {
public:
    static ParameterSpecs parameters() { return {}; }
    EigenBackend(const Parameters&, Index) {}

private:
    [[nodiscard]] BackendInfo do_info() const override {
        return {.library = kernels_.library, .instruction_set = kernels_.instruction_set, .threads = 1};
    }
    void do_multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                     MatrixView<double> c) const override {
        kernels_.multiply_f64(alpha, op_a, a, op_b, b, beta, c);
    }
    void do_multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                     MatrixView<float> c) const override {
        kernels_.multiply_f32(alpha, op_a, a, op_b, b, beta, c);
    }
    [[nodiscard]] Svd do_svd(ConstMatrixView<double> a) const override { return kernels_.svd(a); }
    [[nodiscard]] SymmetricEigen do_symmetric_eigen(ConstMatrixView<double> a) const override {
        return kernels_.symmetric_eigen(a);
    }
    [[nodiscard]] Qr do_qr(ConstMatrixView<double> a) const override { return kernels_.qr(a); }
    [[nodiscard]] Matrix<double> do_solve(ConstMatrixView<double> a, ConstMatrixView<double> b) const override {
        return kernels_.solve(a, b);
    }

    const dense::Kernels& kernels_ = dense::kernels();
};

}  // namespace

ATTNSPAN_PLUGIN(EigenBackend, "eigen", "1.0.0",
                "products and factorisations by Eigen, compiled for this processor; needs no other library");
