#include <algorithm>
#include <armadillo>
#include <exception>
#include <string>

#include "attnspan/plugin.hpp"
#include "dense/answers.hpp"
#include "openblas.hpp"

namespace {

using namespace attnspan;

/// LAPACK's work space is counted in 32-bit integers; the largest, of a full singular value decomposition, is 7 n^2.
constexpr Index largest_side = 17'000;

/// Armadillo's own copy, because LAPACK overwrites its input and knows no leading dimension in Armadillo.
arma::mat copy(ConstMatrixView<double> a) {
    arma::mat to(static_cast<arma::uword>(a.rows), static_cast<arma::uword>(a.cols), arma::fill::none);
    for (Index j = 0; j < a.cols; ++j) {
        std::copy_n(a.column(j), a.rows, to.colptr(static_cast<arma::uword>(j)));
    }
    return to;
}

/// An Armadillo matrix of fixed size over elements that somebody else owns, for results to be written in place.
arma::mat in_place(Matrix<double>& m) {
    return {m.data(), static_cast<arma::uword>(m.rows()), static_cast<arma::uword>(m.cols()), false, true};
}

/// Armadillo over OpenBLAS.
class ArmadilloBackend final : public Backend {
public:
    static ParameterSpecs parameters() { return {}; }
    ArmadilloBackend(const Parameters&, Index threads) : threads_(threads) {
        const openblas::ThreadScope leaves_one_thread(1);
    }

private:
    [[nodiscard]] BackendInfo do_info() const override {
        using version = arma::arma_version;
        return {.library = "Armadillo " + std::to_string(version::major) + '.' + std::to_string(version::minor) + '.' +
                           std::to_string(version::patch) + " with " + openblas::name(),
                .instruction_set = openblas::instruction_set(),
                .threads = threads_};
    }

    void do_multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
                     MatrixView<double> c) const override {
        openblas::multiply(alpha, op_a, a, op_b, b, beta, c);
    }
    void do_multiply(float alpha, Op op_a, ConstMatrixView<float> a, Op op_b, ConstMatrixView<float> b, float beta,
                     MatrixView<float> c) const override {
        openblas::multiply(alpha, op_a, a, op_b, b, beta, c);
    }

    [[nodiscard]] Svd do_svd(ConstMatrixView<double> a) const override {
        dense::require_factorization_memory("singular value decomposition", a.rows, a.cols);
        if (a.rows == 0 || a.cols == 0) {
            return dense::empty_svd(a.rows, a.cols);
        }
        Svd answer{Matrix<double>(a.rows, a.rows), {}, Matrix<double>(a.cols, a.cols)};
        factorize("singular value decomposition", a.rows, a.cols, [&] {
            arma::mat u = in_place(answer.u);
            arma::mat v = in_place(answer.v);
            arma::vec sigma;
            const bool converged = arma::svd(u, sigma, v, copy(a), "dc");
            answer.sigma.assign(sigma.begin(), sigma.end());
            return converged;
        });
        return answer;
    }

    [[nodiscard]] SymmetricEigen do_symmetric_eigen(ConstMatrixView<double> a) const override {
        dense::require_factorization_memory("symmetric eigenvalue decomposition", a.rows, a.cols);
        if (a.rows == 0) {
            return {};
        }
        SymmetricEigen answer{{}, Matrix<double>(a.rows, a.rows)};
        factorize("symmetric eigenvalue decomposition", a.rows, a.cols, [&] {
            arma::mat vectors = in_place(answer.vectors);
            arma::vec values;
            // Armadillo reads the upper triangle, the contract names the lower.
            const bool converged = arma::eig_sym(values, vectors, arma::symmatl(copy(a)), "dc");
            answer.values.assign(values.begin(), values.end());
            return converged;
        });
        return answer;
    }

    [[nodiscard]] Qr do_qr(ConstMatrixView<double> a) const override {
        const Index least = std::min(a.rows, a.cols);
        Qr answer{Matrix<double>(a.rows, least), Matrix<double>(least, a.cols)};
        if (least > 0) {
            factorize("QR decomposition", a.rows, a.cols, [&] {
                arma::mat q = in_place(answer.q);
                arma::mat r = in_place(answer.r);
                return arma::qr_econ(q, r, copy(a));
            });
        }
        return answer;
    }

    [[nodiscard]] Matrix<double> do_solve(ConstMatrixView<double> a, ConstMatrixView<double> b) const override {
        Matrix<double> answer(b.rows, b.cols);
        if (b.rows == 0 || b.cols == 0) {
            return answer;
        }
        factorize("linear solve", a.rows, a.cols, [&] {
            arma::mat x = in_place(answer);
            // LU whatever the pattern of `a` looks like, and no least-squares answer instead of a refusal.
            const auto plain_lu = arma::solve_opts::no_approx + arma::solve_opts::no_band +
                                  arma::solve_opts::no_trimat + arma::solve_opts::no_sympd;
            if (!arma::solve(x, copy(a), copy(b), plain_lu)) {
                dense::fail_singular(a.rows);
            }
            return true;
        });
        return answer;
    }

    /// Runs `work`, which says whether it converged, with all threads; every failure becomes an Error.
    template <class Work>
    void factorize(const std::string& operation, Index rows, Index cols, Work work) const {
        if (std::max(rows, cols) > largest_side) {
            throw Error(ErrorKind::resource, operation + " of a " + dense::shape_text(rows, cols) +
                                                 " matrix: the 32-bit integers of OpenBLAS allow at most " +
                                                 std::to_string(largest_side) +
                                                 " rows and columns; use the back end \"eigen\"");
        }
        const openblas::ThreadScope threads(threads_);
        try {
            if (!work()) {
                dense::fail_to_converge(operation, rows, cols);
            }
        } catch (const Error&) {
            throw;
        } catch (const std::exception& e) {
            throw Error(ErrorKind::resource, operation + " of a " + dense::shape_text(rows, cols) +
                                                 " matrix failed inside Armadillo: " + e.what());
        }
    }

    Index threads_;
};

}  // namespace

ATTNSPAN_PLUGIN(ArmadilloBackend, "armadillo", "1.0.0",
                "products and factorisations by Armadillo over OpenBLAS; factorisations use every thread");
