#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "attnspan/matrix.hpp"
#include "attnspan/memory.hpp"

namespace attnspan::core {

/// A matrix of fixed height that gains columns. Room is taken ahead in growing steps; what is not yet written costs no
/// memory.
template <class T>
class GrowingColumns {
public:
    explicit GrowingColumns(Index rows) : store_(rows, 0) {}

    [[nodiscard]] Index cols() const { return cols_; }
    /// The first `count` columns; valid until the next append.
    [[nodiscard]] MatrixView<T> first(Index count) { return store_.view().columns(0, count); }
    [[nodiscard]] MatrixView<T> range(Index begin, Index end) { return store_.view().columns(begin, end); }

    /// Adds uninitialised columns. @throws Error(resource) when they do not fit
    void append(Index count) {
        if (cols_ + count > store_.cols()) {
            // In floating point first: what passes fits into the integers, too.
            require_memory(static_cast<double>(store_.rows()) * static_cast<double>(cols_ + count) * sizeof(T),
                           "an embedding of " + std::to_string(store_.rows()) + " x " + std::to_string(cols_ + count));
            Matrix<T> larger(store_.rows(), std::max(cols_ + count, store_.cols() + store_.cols() / 2));
            std::copy_n(store_.data(), static_cast<std::size_t>(store_.rows() * cols_), larger.data());
            store_ = std::move(larger);
        }
        cols_ += count;
    }

private:
    Matrix<T> store_;
    Index cols_ = 0;
};

}  // namespace attnspan::core
