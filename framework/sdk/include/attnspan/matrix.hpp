#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

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
public:
    Matrix() = default;
    /// Elements are left uninitialised: write them before reading.
    Matrix(Index rows, Index cols) : data_(allocate(rows * cols)), rows_(rows), cols_(cols) {}
    Matrix(Index rows, Index cols, T value) : Matrix(rows, cols) {
        std::fill_n(data_.get(), static_cast<std::size_t>(rows * cols), value);
    }

    [[nodiscard]] Index rows() const { return rows_; }
    [[nodiscard]] Index cols() const { return cols_; }
    [[nodiscard]] T* data() { return data_.get(); }
    [[nodiscard]] const T* data() const { return data_.get(); }
    [[nodiscard]] T& operator()(Index i, Index j) { return data_[static_cast<std::size_t>(i + j * rows_)]; }
    [[nodiscard]] const T& operator()(Index i, Index j) const { return data_[static_cast<std::size_t>(i + j * rows_)]; }
    [[nodiscard]] MatrixView<T> view() { return {data_.get(), rows_, cols_, rows_}; }
    [[nodiscard]] ConstMatrixView<T> view() const { return {data_.get(), rows_, cols_, rows_}; }

private:
    struct Free {
        void operator()(T* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };
    static std::unique_ptr<T[], Free> allocate(Index count) {
        static_assert(std::is_trivially_copyable_v<T>);
        return std::unique_ptr<T[], Free>(
            static_cast<T*>(::operator new[](sizeof(T) * static_cast<std::size_t>(count), std::align_val_t{64})));
    }

    std::unique_ptr<T[], Free> data_;
    Index rows_ = 0;
    Index cols_ = 0;
};

}  // namespace attnspan
