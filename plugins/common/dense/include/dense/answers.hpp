#pragma once

#include <algorithm>
#include <string>

#include "attnspan/backend.hpp"
#include "attnspan/error.hpp"
#include "attnspan/memory.hpp"

/// What every back end answers alike: empty matrices, and the errors of Backend's contract.
namespace attnspan::dense {

inline std::string shape_text(Index rows, Index cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
}

inline Matrix<double> identity(Index n) {
    Matrix<double> eye(n, n, 0.0);
    for (Index i = 0; i < n; ++i) {
        eye(i, i) = 1;
    }
    return eye;
}

/// The decomposition of a matrix without rows or without columns: no singular value, any orthogonal u and v.
inline Svd empty_svd(Index rows, Index cols) {
    return {identity(rows), {}, identity(cols)};
}

/// Refuses a factorisation of a rows x cols matrix whose full square factors and work space do not fit into memory.
/// @throws Error(resource)
inline void require_factorization_memory(const std::string& operation, Index rows, Index cols) {
    const auto r = static_cast<double>(rows);
    const auto c = static_cast<double>(cols);
    const double least = std::min(r, c);
    require_memory(sizeof(double) * (2 * r * r + 2 * c * c + 2 * r * c + 3 * least * least),
                   operation + " of a " + shape_text(rows, cols) + " matrix");
}

[[noreturn]] inline void fail_to_converge(const std::string& operation, Index rows, Index cols) {
    throw Error(ErrorKind::resource, operation + " of a " + shape_text(rows, cols) +
                                         " matrix: the iteration did not converge; try another back end");
}

[[noreturn]] inline void fail_singular(Index n) {
    throw Error(ErrorKind::data,
                "linear solve: the " + shape_text(n, n) +
                    " matrix is singular to working precision (reciprocal condition number below 2.2e-16)");
}

}  // namespace attnspan::dense
