#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

/// The decomposition of a matrix with rows >= cols >= 1.
///
/// Eigen's own divide and conquer (BDCSVD of 3.4) returns factors that are neither orthogonal nor give the matrix back
/// where many singular values are equal or zero, as they are for sparse targets; its Jacobi method is slow. Here the
/// eigenvectors Z of T^T T are the right vectors and T Z = Q R the left ones, R being diagonal up to
/// epsilon |T|^2 / r_ii. So the values within a decade of the largest are done, and the rest of R, at most a tenth in
/// size, is the next T. Every factor is a product of orthogonal ones, and what is dropped is of the order of
/// epsilon |a|.
Svd tall_svd(const EigenMatrix<double>& a) {
    const Index n = a.cols();
    const double scale = std::max(a.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
    const Eigen::HouseholderQR<EigenMatrix<double>> square(a / scale);
    EigenMatrix<double> u = square.householderQ();
    EigenMatrix<double> v = EigenMatrix<double>::Identity(n, n);
    Eigen::VectorXd sigma = Eigen::VectorXd::Zero(n);
    EigenMatrix<double> rest = square.matrixQR().topRows(n).triangularView<Eigen::Upper>();
    const double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    for (Index done = 0; done < n && rest.norm() > rounding * sigma(0);) {
        const Index left = n - done;
        const Eigen::SelfAdjointEigenSolver<EigenMatrix<double>> gram(rest.transpose() * rest);
        if (gram.info() != Eigen::Success) {
            fail_to_converge("singular value decomposition", a.rows(), a.cols());
        }
        const EigenMatrix<double> z = gram.eigenvectors().rowwise().reverse();
        const Eigen::HouseholderQR<EigenMatrix<double>> step(rest * z);
        const EigenMatrix<double> q = step.householderQ();
        u.middleCols(done, left) *= q;
        v.rightCols(left) *= z;
        const Eigen::VectorXd diagonal = step.matrixQR().diagonal();
        Index resolved = 0;
        while (resolved < left && std::abs(diagonal(resolved)) >= 0.1 * std::abs(diagonal(0))) {
            sigma(done + resolved) = std::abs(diagonal(resolved));
            u.col(done + resolved) *= std::copysign(1.0, diagonal(resolved));
            ++resolved;
        }
        done += resolved;
        rest = step.matrixQR().bottomRightCorner(n - done, n - done).triangularView<Eigen::Upper>();
    }

    // Neighbours may have changed places by rounding.
    Eigen::VectorXi order = Eigen::VectorXi::LinSpaced(static_cast<int>(n), 0, static_cast<int>(n) - 1);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return sigma(i) > sigma(j); });
    u.leftCols(n) = EigenMatrix<double>(u(Eigen::all, order));
    return {copy(u), copy_values(Eigen::VectorXd(scale * sigma(order))), copy(v(Eigen::all, order))};
}

}  // namespace

Svd svd(ConstMatrixView<double> a) {
    require_factorization_memory("singular value decomposition", a.rows, a.cols);
    if (a.rows == 0 || a.cols == 0) {
        return empty_svd(a.rows, a.cols);
    }
    if (a.rows >= a.cols) {
        return tall_svd(eigen_view(a));
    }
    Svd answer = tall_svd(eigen_view(a).transpose());
    std::swap(answer.u, answer.v);
    return answer;
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
