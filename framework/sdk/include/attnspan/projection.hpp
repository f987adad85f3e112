#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "attnspan/backend.hpp"
#include "attnspan/error.hpp"
#include "attnspan/interface.hpp"
#include "attnspan/matrix.hpp"
#include "attnspan/parallel.hpp"
#include "attnspan/random.hpp"
#include "attnspan/sparse.hpp"

namespace attnspan {

/// Columns [begin, end) of the sample for query dimension m. Nested samplers give the same columns whatever m is.
struct ProjectionColumns {
    Index query_dim = 0;  ///< m
    Index begin = 0;
    Index end = 0;

    [[nodiscard]] Index count() const { return end - begin; }
};

/// One random Y, n x m for any m, with E[Y Y^T] = I: Y = scale(m) times the columns [0, m) handed out here.
/// An object may keep what it has drawn so far, so each is used by one thread at a time; asking for columns in
/// ascending order is the cheap way. Equal streams give equal bytes, whatever the order, the pieces, the thread count
/// or the back end.
class ProjectionSampler {
public:
    /// `parallel` is kept by reference.
    explicit ProjectionSampler(const Parallel& parallel) : parallel_(parallel) {}
    ProjectionSampler(const ProjectionSampler&) = delete;
    ProjectionSampler& operator=(const ProjectionSampler&) = delete;
    virtual ~ProjectionSampler() = default;

    /// Rows of Y.
    [[nodiscard]] Index n() const { return do_n(); }
    /// Whether the columns for m are the first m of the columns for every larger m.
    [[nodiscard]] bool nested() const { return do_nested(); }
    /// The factor that turns the unscaled columns into the sample for m.
    [[nodiscard]] double scale(Index query_dim) const { return do_scale(query_dim); }

    /// out = the columns themselves (n x count), unscaled.
    void columns(const ProjectionColumns& c, MatrixView<double> out) {
        check(c, n(), out);
        do_columns(c, out);
    }
    /// out = d times the columns (d.rows x count), unscaled; d has n columns.
    void apply(const SparseMatrix& d, const ProjectionColumns& c, MatrixView<double> out) {
        check_factor(d.cols);
        check(c, d.rows, out);
        do_apply_sparse(d, c, out);
    }
    /// The same for a dense d. `backend` is for schemes that multiply; fast transforms do not need it.
    void apply(ConstMatrixView<double> d, const Backend& backend, const ProjectionColumns& c, MatrixView<double> out) {
        check_factor(d.cols);
        check(c, d.rows, out);
        do_apply_dense(d, backend, c, out);
    }
    /// out = `scale` times the columns and product = d out: both at once, as one of them often comes with the other.
    void columns_and_product(const SparseMatrix& d, const ProjectionColumns& c, double scale, MatrixView<double> out,
                             MatrixView<double> product) {
        check_factor(d.cols);
        check(c, n(), out);
        check(c, d.rows, product);
        do_columns_and_product(d, c, scale, out, product);
    }

protected:
    /// Threads to spread the work over.
    [[nodiscard]] const Parallel& parallel() const { return parallel_; }
    /// out = d y, in pieces of rows that do not depend on the number of threads.
    void multiply_by_rows(ConstMatrixView<double> d, const Backend& backend, ConstMatrixView<double> y,
                          MatrixView<double> out) const {
        parallel_.for_each_piece(d.rows, 512, [&](Index begin, Index end) {
            backend.multiply(1.0, Op::none, d.row_block(begin, end), Op::none, y, 0.0, out.row_block(begin, end));
        });
    }

private:
    void check_factor(Index cols) const {
        if (cols != n()) {
            throw Error(ErrorKind::plugin, "projection: a factor with " + std::to_string(cols) +
                                               " columns against a sample with n = " + std::to_string(n()) + " rows");
        }
    }
    static void check(const ProjectionColumns& c, Index rows, MatrixView<double> out) {
        if (c.begin < 0 || c.begin > c.end || c.end > c.query_dim || out.rows != rows || out.cols != c.count()) {
            throw Error(ErrorKind::plugin, "projection: columns [" + std::to_string(c.begin) + ", " +
                                               std::to_string(c.end) + ") of " + std::to_string(c.query_dim) +
                                               " do not fit an output of " + std::to_string(out.rows) + " x " +
                                               std::to_string(out.cols));
        }
    }

    [[nodiscard]] virtual Index do_n() const = 0;
    [[nodiscard]] virtual bool do_nested() const = 0;
    [[nodiscard]] virtual double do_scale(Index query_dim) const = 0;
    virtual void do_columns(const ProjectionColumns& c, MatrixView<double> out) = 0;

    /// By default the columns are formed and multiplied in a fixed order.
    virtual void do_apply_sparse(const SparseMatrix& d, const ProjectionColumns& c, MatrixView<double> out) {
        Matrix<double> y(n(), c.count());
        do_columns_and_product(d, c, 1.0, y.view(), out);
    }
    /// By default the columns are formed and multiplied by the back end.
    virtual void do_apply_dense(ConstMatrixView<double> d, const Backend& backend, const ProjectionColumns& c,
                                MatrixView<double> out) {
        Matrix<double> y(n(), c.count());
        do_columns(c, y.view());
        multiply_by_rows(d, backend, y.view(), out);
    }
    /// By default the columns are formed and multiplied in a fixed order.
    virtual void do_columns_and_product(const SparseMatrix& d, const ProjectionColumns& c, double scale,
                                        MatrixView<double> out, MatrixView<double> product) {
        do_columns(c, out);
        parallel_.for_each(c.count(), [&](Index j) {
            double* const y = out.column(j);
            if (scale != 1) {
                std::transform(y, y + out.rows, y, [scale](double entry) { return scale * entry; });
            }
            multiply(d, y, product.column(j));
        });
    }

    const Parallel& parallel_;
};

/// What a scheme says about itself for n rows.
struct ProjectionTraits {
    bool nested = true;
    std::optional<Index> largest_query_dim{};  ///< no sample exists beyond it; none: any m
    Index default_stop = 0;                    ///< where a search ends unless told otherwise
    /// Whether an estimated inner product obeys the chi-square tail that bound 3.6 rests on.
    bool chi_square_tail = false;
    std::optional<Index> exact_from{};  ///< from this m on inner products are exact; none: never
};

/// Refuses a search range that a plugin cannot mean. @throws Error(plugin)
inline void require_search_range(const std::string& who, Index default_stop, std::optional<Index> largest_query_dim) {
    if (default_stop < 1 || (largest_query_dim && *largest_query_dim < default_stop)) {
        throw Error(ErrorKind::plugin,
                    who + ": a search that ends at m = " + std::to_string(default_stop) +
                        (largest_query_dim ? " of at most " + std::to_string(*largest_query_dim) : std::string()) +
                        " is not possible; it must end at 1 or later and not beyond the largest dimension");
    }
}

/// A distribution of random matrices Y. See docs/mathematics.md.
class Projection : public Interface {
public:
    /// n >= 1.
    [[nodiscard]] ProjectionTraits traits(Index n) const {
        require_size(n);
        const ProjectionTraits t = do_traits(n);
        require_search_range("projection", t.default_stop, t.largest_query_dim);
        return t;
    }
    /// A sample; equal streams give equal samples. The sampler must not outlive this object or `parallel`.
    [[nodiscard]] std::unique_ptr<ProjectionSampler> sampler(Index n, const RandomStream& random,
                                                             const Parallel& parallel) const {
        require_size(n);
        std::unique_ptr<ProjectionSampler> made = do_sampler(n, random, parallel);
        if (!made || made->n() != n) {
            throw Error(ErrorKind::plugin, "projection: no sampler for n = " + std::to_string(n));
        }
        return made;
    }

private:
    static void require_size(Index n) {
        if (n < 1) {
            throw Error(ErrorKind::plugin, "projection: n = " + std::to_string(n) + " is not positive");
        }
    }
    [[nodiscard]] virtual ProjectionTraits do_traits(Index n) const = 0;
    [[nodiscard]] virtual std::unique_ptr<ProjectionSampler> do_sampler(Index n, const RandomStream& random,
                                                                        const Parallel& parallel) const = 0;
};

}  // namespace attnspan
