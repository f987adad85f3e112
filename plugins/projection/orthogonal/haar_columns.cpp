#include "haar_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "attnspan/memory.hpp"
#include "dense/kernels.hpp"

namespace attnspan {
namespace {

// Products are cut into panels of this many rows: for the threads, and to skip the zeros of V, a trapezoid.
constexpr Index panel_rows = 256;

void multiply(double alpha, Op op_a, ConstMatrixView<double> a, Op op_b, ConstMatrixView<double> b, double beta,
              MatrixView<double> c) {
    dense::kernels().multiply_f64(alpha, op_a, a, op_b, b, beta, c);
}

/// In eight partial sums, an order that vector units can keep.
double sum_of_squares(const double* x, Index size) {
    std::array<double, 8> partial{};
    Index i = 0;
    for (; i + 8 <= size; i += 8) {
        for (Index lane = 0; lane < 8; ++lane) {
            partial[static_cast<std::size_t>(lane)] += x[i + lane] * x[i + lane];
        }
    }
    for (; i < size; ++i) {
        partial[0] += x[i] * x[i];
    }
    double sum = 0;
    for (const double p : partial) {
        sum += p;
    }
    return sum;
}

/// Upper triangular s with (I - u_0 u_0^T)(I - u_1 u_1^T) ... = I - u s u^T for columns of squared norm 2.
void block_triangle(ConstMatrixView<double> u, MatrixView<double> s) {
    Matrix<double> gram(u.cols, u.cols);
    multiply(1, Op::transpose, u, Op::none, u, 0, gram.view());
    for (Index j = 0; j < u.cols; ++j) {
        for (Index l = 0; l < j; ++l) {
            for (Index i = 0; i <= l; ++i) {
                s(i, j) -= s(i, l) * gram(l, j);
            }
        }
        s(j, j) = 1;
    }
}

}  // namespace

ConstMatrixView<double> HaarColumns::columns(Index begin, Index end) {
    while (made_ < end) {
        append_block();
    }
    return std::as_const(q_).view().columns(begin, end);
}

// With B = I - U S U^T the new block of reflectors, P = I - V T V^T the product of the earlier ones and E the unit
// columns of the block, the new columns of Q are P B E. V^T B E follows from G = V^T U, which T's new columns need
// anyway: so the tall V enters two products per block, as it would with an explicit QR.
void HaarColumns::append_block() {
    const Index first = made_;
    const Index width = std::min(block_width, n_ - first);
    require_memory(2.0 * sizeof(double) * static_cast<double>(n_) * static_cast<double>(width),
                   "an orthogonal projection of " + std::to_string(n_) + " x " + std::to_string(first + width));
    q_.resize_columns(first + width);
    v_.resize_columns(first + width);
    const std::array<double, block_width> signs = draw_reflectors(first, width);
    const ConstMatrixView<double> v = std::as_const(v_).view().columns(0, first + width);
    const ConstMatrixView<double> u = v.block(first, n_, first, first + width);
    Matrix<double>& t = t_.emplace_back(first + width, width, 0.0);
    const MatrixView<double> s = t.view().row_block(first, first + width);
    block_triangle(u, s);

    // B E = E - U K with K = S (first rows of U)^T.
    Matrix<double> k(width, width);
    multiply(1, Op::none, s, Op::transpose, u.row_block(0, width), 0, k.view());
    const MatrixView<double> q = q_.view().columns(first, first + width);
    const ConstMatrixView<double> before = v.columns(0, first);
    Matrix<double> outer(first, 2 * width, 0.0);
    if (first > 0) {
        Matrix<double> g(first, width);
        parallel_.for_each_piece(first, panel_rows / 2, [&](Index l0, Index l1) {
            multiply(1, Op::transpose, before.block(first, n_, l0, l1), Op::none, u, 0, g.view().row_block(l0, l1));
        });

        // T times [V^T B E, G S]: the first half updates Q, the second is T's new part.
        Matrix<double> inner(first, 2 * width);
        const MatrixView<double> update = inner.view().columns(0, width);
        for (Index j = 0; j < width; ++j) {
            for (Index i = 0; i < first; ++i) {
                update(i, j) = before(first + j, i);
            }
        }
        multiply(-1, Op::none, g.view(), Op::none, k.view(), 1, update);
        multiply(1, Op::none, g.view(), Op::none, s, 0, inner.view().columns(width, 2 * width));
        for (Index l = 0; l < first; l += block_width) {
            multiply(1, Op::none, t_[static_cast<std::size_t>(l / block_width)].view(), Op::none,
                     inner.view().row_block(l, l + block_width), 1, outer.view().row_block(0, l + block_width));
        }
        for (Index j = 0; j < width; ++j) {
            for (Index i = 0; i < first; ++i) {
                t(i, j) = -outer(i, width + j);
            }
        }
    }
    parallel_.for_each_piece(n_, panel_rows, [&](Index begin, Index end) {
        const MatrixView<double> panel = q.row_block(begin, end);
        for (Index j = 0; j < width; ++j) {
            std::fill_n(panel.column(j), panel.rows, 0.0);
        }
        if (end > first) {
            const Index own = std::max(begin, first);
            multiply(-1, Op::none, v.block(own, end, first, first + width), Op::none, k.view(), 0,
                     q.row_block(own, end));
            for (Index j = own - first; j < std::min(end - first, width); ++j) {
                q(first + j, j) += 1;
            }
        }
        if (const Index inner = std::min(end, first); inner > 0) {
            multiply(-1, Op::none, before.block(begin, end, 0, inner), Op::none, outer.view().block(0, inner, 0, width),
                     1, panel);
        }
        for (Index j = 0; j < width; ++j) {
            for (Index i = 0; i < panel.rows; ++i) {
                panel(i, j) *= signs[static_cast<std::size_t>(j)];
            }
        }
    });
    made_ += width;
}

// Reflector j maps the Gaussian x of n - j numbers to -sgn(x_0) |x| e_0: what QR would do to the rest of a Gaussian
// column. Its sign makes R_jj positive.
std::array<double, HaarColumns::block_width> HaarColumns::draw_reflectors(Index first, Index width) {
    std::array<double, block_width> signs{};
    parallel_.for_each(width, [&](Index in_block) {
        const Index j = first + in_block;
        const Index size = n_ - j;
        std::fill_n(v_.view().column(j), j, 0.0);
        double* const x = v_.view().column(j) + j;
        random_.at(j).normals(0, {x, static_cast<std::size_t>(size)});
        const double norm = std::sqrt(sum_of_squares(x, size));
        const double factor = 1 / std::sqrt(norm * (norm + std::abs(x[0])));
        signs[static_cast<std::size_t>(in_block)] = -std::copysign(1.0, x[0]);
        x[0] += std::copysign(norm, x[0]);
        for (Index i = 0; i < size; ++i) {
            x[i] *= factor;
        }
    });
    return signs;
}

}  // namespace attnspan
