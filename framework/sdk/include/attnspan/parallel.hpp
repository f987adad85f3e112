#pragma once

#include <algorithm>
#include <concepts>

#include "attnspan/types.hpp"

namespace attnspan {

/// The threads of the host, lent to what it calls: the one way for a plugin to spread work, so that a run keeps to the
/// number of threads it was given. Safe from any thread, also from within a body. Valid as long as the run.
class Parallel {
public:
    Parallel() = default;
    Parallel(const Parallel&) = delete;
    Parallel& operator=(const Parallel&) = delete;
    virtual ~Parallel() = default;

    /// body(i) for every i in [0, count), in no particular order, perhaps several at once; returns when all are done.
    /// The first exception of a body is thrown here. What a body computes must depend on i alone and not on the number
    /// of threads: cut work into pieces of a fixed size.
    template <class Body>
    requires std::invocable<const Body&, Index>
    void for_each(Index count, const Body& body) const {
        if (count == 1) {
            body(Index{0});
        } else if (count > 1) {
            do_for_each(
                count, [](const void* context, Index i) { (*static_cast<const Body*>(context))(i); }, &body);
        }
    }

    /// body(begin, end) for the pieces of [0, size) that are `piece` long, the last one shorter.
    template <class Body>
    requires std::invocable<const Body&, Index, Index>
    void for_each_piece(Index size, Index piece, const Body& body) const {
        for_each((size + piece - 1) / piece, [&](Index i) { body(i * piece, std::min((i + 1) * piece, size)); });
    }

private:
    virtual void do_for_each(Index count, void (*call)(const void* context, Index i), const void* context) const = 0;
};

/// Everything on the calling thread: for tests, and for hosts without threads.
class Serial final : public Parallel {
    void do_for_each(Index count, void (*call)(const void* context, Index i), const void* context) const override {
        for (Index i = 0; i < count; ++i) {
            call(context, i);
        }
    }
};

}  // namespace attnspan
