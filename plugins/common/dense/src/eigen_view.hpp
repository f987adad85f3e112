#pragma once

#include <Eigen/Core>

#include "attnspan/matrix.hpp"

namespace attnspan::dense {

template <class T>
using EigenMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// The same elements, seen by Eigen. Nothing is copied.
template <class T>
auto eigen_view(ConstMatrixView<T> m) {
    return Eigen::Map<const EigenMatrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>(m.data, m.rows, m.cols,
                                                                                    Eigen::OuterStride<>(m.ld));
}
template <class T>
auto eigen_view(MatrixView<T> m) {
    return Eigen::Map<EigenMatrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>(m.data, m.rows, m.cols,
                                                                              Eigen::OuterStride<>(m.ld));
}

}  // namespace attnspan::dense
