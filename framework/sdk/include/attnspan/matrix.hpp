#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "attnspan/storage.hpp"
#include "attnspan/types.hpp"

namespace attnspan {

/// A dense matrix somebody else owns, stored by columns: element (i, j) is `data[i + j * ld]`, ld >= rows.
/// Valid as long as the owner is; copying a view copies no element.
template <class T>
struct MatrixView {
    T* data = nullptr;
    Index rows = 0;
    Index cols = 0;
    Index ld = 0;  ///< leading dimension: distance between the starts of neighbouring columns, in elements

    [[nodiscard]] T& operator()(Index i, Index j) const { return data[i + j * ld]; }
    [[nodiscard]] T* column(Index j) const { return data + j * ld; }

    /// Rows [i0, i1) and columns [j0, j1).
    [[nodiscard]] MatrixView block(Index i0, Index i1, Index j0, Index j1) const {
        return {data + i0 + j0 * ld, i1 - i0, j1 - j0, ld};
    }
    [[nodiscard]] MatrixView columns(Index j0, Index j1) const { return block(0, rows, j0, j1); }
    [[nodiscard]] MatrixView row_block(Index i0, Index i1) const { return block(i0, i1, 0, cols); }

    // NOLINTNEXTLINE(google-explicit-constructor): a view of mutable elements is also a view of constant ones
    operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, ld}; }
};

template <class T>
using ConstMatrixView = MatrixView<const T>;

/// A dense matrix that owns its elements: by columns, without gaps, aligned to 64 bytes.
template <class T>
class Matrix {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Matrix() = default;
    /// Elements are left uninitialised: write them before reading.
    Matrix(Index rows, Index cols) : storage_(bytes(rows, cols)), rows_(rows), cols_(cols) {}
    Matrix(Index rows, Index cols, T value) : Matrix(rows, cols) {
        std::fill_n(data(), static_cast<std::size_t>(rows * cols), value);
    }
    Matrix(Matrix&& other) noexcept
        : storage_(std::move(other.storage_)),
          rows_(std::exchange(other.rows_, 0)),
          cols_(std::exchange(other.cols_, 0)) {}
    Matrix& operator=(Matrix&& other) noexcept {
        storage_ = std::move(other.storage_);
        std::swap(rows_, other.rows_);
        std::swap(cols_, other.cols_);
        return *this;
    }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    ~Matrix() = default;

    [[nodiscard]] Index rows() const { return rows_; }
    [[nodiscard]] Index cols() const { return cols_; }
    [[nodiscard]] T* data() { return static_cast<T*>(storage_.data()); }
    [[nodiscard]] const T* data() const { return static_cast<const T*>(storage_.data()); }
    [[nodiscard]] T& operator()(Index i, Index j) { return data()[i + j * rows_]; }
    [[nodiscard]] const T& operator()(Index i, Index j) const { return data()[i + j * rows_]; }
    [[nodiscard]] MatrixView<T> view() { return {data(), rows_, cols_, rows_}; }
    [[nodiscard]] ConstMatrixView<T> view() const { return {data(), rows_, cols_, rows_}; }

    /// Gives the matrix `cols` columns. Those it has keep their values as far as they stay, further ones are
    /// uninitialised; memory is never given back. Views of the matrix end.
    void resize_columns(Index cols) {
        storage_.grow(bytes(rows_, cols), bytes(rows_, cols_));
        cols_ = cols;
    }

private:
    static std::size_t bytes(Index rows, Index cols) { return sizeof(T) * static_cast<std::size_t>(rows * cols); }

    detail::Storage storage_;
    Index rows_ = 0;
    Index cols_ = 0;
};

}  // namespace attnspan
