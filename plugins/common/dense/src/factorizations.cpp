#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>

#include "dense/answers.hpp"
#include "eigen_view.hpp"
#include "variant.hpp"

namespace attnspan::dense {
namespace {

template <class Expression>
Matrix<double> copy(const Expression& from) {
    Matrix<double> to(from.rows(), from.cols());
    eigen_view(to.view()) = from;
    return to;
}

template <class Vector>
std::vector<double> copy_values(const Vector& from) {
    return {from.data(), from.data() + from.size()};
}

}  // namespace

Svd svd(ConstMatrixView<double> a) {
    require_factorization_memory("singular value decomposition", a.rows, a.cols);
    if (a.rows == 0 || a.cols == 0) {
        return empty_svd(a.rows, a.cols);
    }
    const Eigen::BDCSVD<EigenMatrix<double>> solver(eigen_view(a), Eigen::ComputeFullU | Eigen::ComputeFullV);
    if (solver.info() != Eigen::Success) {
        fail_to_converge("singular value decomposition", a.rows, a.cols);
    }
    return {copy(solver.matrixU()), copy_values(solver.singularValues()), copy(solver.matrixV())};
}

SymmetricEigen symmetric_eigen(ConstMatrixView<double> a) {
    require_factorization_memory("symmetric eigenvalue decomposition", a.rows, a.cols);
    if (a.rows == 0) {
        return {};
    }
    const Eigen::SelfAdjointEigenSolver<EigenMatrix<double>> solver(eigen_view(a));
    if (solver.info() != Eigen::Success) {
        fail_to_converge("symmetric eigenvalue decomposition", a.rows, a.cols);
    }
    return {copy_values(solver.eigenvalues()), copy(solver.eigenvectors())};
}

Qr qr(ConstMatrixView<double> a) {
    const Index least = std::min(a.rows, a.cols);
    if (least == 0) {
        return {Matrix<double>(a.rows, 0), Matrix<double>(0, a.cols)};
    }
    const Eigen::HouseholderQR<EigenMatrix<double>> solver(eigen_view(a));
    Qr answer{Matrix<double>(a.rows, least), Matrix<double>(least, a.cols)};
    eigen_view(answer.q.view()) = solver.householderQ() * EigenMatrix<double>::Identity(a.rows, least);
    eigen_view(answer.r.view()) = solver.matrixQR().topRows(least).triangularView<Eigen::Upper>();
    return answer;
}

Matrix<double> solve(ConstMatrixView<double> a, ConstMatrixView<double> b) {
    if (b.rows == 0 || b.cols == 0) {
        return {b.rows, b.cols};
    }
    const Eigen::PartialPivLU<EigenMatrix<double>> solver(eigen_view(a));
    // Not "<": an exactly zero pivot may make the estimate NaN.
    if (!(solver.rcond() >= std::numeric_limits<double>::epsilon())) {
        fail_singular(a.rows);
    }
    return copy(solver.solve(eigen_view(b)));
}

}  // namespace attnspan::dense
