#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "attnspan/matrix.hpp"
#include "attnspan/memory.hpp"

namespace attnspan::core {

/// A matrix of fixed height that gains columns. Large blocks grow in place (realloc remaps pages), so that growing
/// neither copies nor doubles the memory.
template <class T>
class GrowingColumns {
public:
    explicit GrowingColumns(Index rows) : rows_(rows) {}

    [[nodiscard]] Index cols() const { return cols_; }
    /// The first `count` columns; valid until the next append.
    [[nodiscard]] MatrixView<T> first(Index count) { return {data_.get(), rows_, count, rows_}; }
    [[nodiscard]] MatrixView<T> range(Index begin, Index end) { return first(cols_).columns(begin, end); }

    /// Adds uninitialised columns. @throws Error(resource) when they do not fit
    void append(Index count) {
        // In floating point first: what passes fits into the integers, too.
        require_memory(static_cast<double>(rows_) * static_cast<double>(count) * sizeof(T),
                       "an embedding of " + std::to_string(rows_) + " x " + std::to_string(cols_ + count));
        const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_ + count);
        void* grown = std::realloc(data_.get(), std::max<std::size_t>(1, bytes));
        if (grown == nullptr) {
            throw std::bad_alloc();
        }
        // realloc has released the old block or kept it as the new one.
        (void)data_.release();
        data_.reset(static_cast<T*>(grown));
        cols_ += count;
    }

private:
    struct Free {
        void operator()(T* p) const { std::free(p); }
    };
    std::unique_ptr<T[], Free> data_;
    Index rows_;
    Index cols_ = 0;
};

}  // namespace attnspan::core
