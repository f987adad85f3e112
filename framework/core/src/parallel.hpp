#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "attnspan/types.hpp"

namespace attnspan::core {

#ifdef ATTNSPAN_PLAIN_THREADS

/// As below, on plain threads, for the thread sanitizer: it sees neither hand-off nor join of a oneTBB that is not
/// built with it, and would report every body. What the bodies share is the same.
template <class Workspace, class Body>
void for_each_index(Index count, const Body& body) {
    std::atomic<Index> next = 0;
    std::mutex guard;
    std::exception_ptr failure;
    const auto work = [&] {
        Workspace workspace;
        try {
            for (Index i = next++; i < count; i = next++) {
                body(i, workspace);
            }
        } catch (...) {
            next = count;
            const std::lock_guard lock(guard);
            failure = failure ? failure : std::current_exception();
        }
    };
    std::vector<std::thread> others;
    const Index threads = std::min<Index>(count, tbb::this_task_arena::max_concurrency());
    for (Index t = 1; t < threads; ++t) {
        others.emplace_back(work);
    }
    work();
    for (std::thread& other : others) {
        other.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

#else

/// body(i, workspace) for every i in [0, count), on the threads of the calling task arena, in no particular order; each
/// thread has a workspace of its own, made when it first needs one. The first exception of a body ends the loop and is
/// thrown here.
template <class Workspace, class Body>
void for_each_index(Index count, const Body& body) {
    tbb::enumerable_thread_specific<Workspace> workspaces;
    tbb::parallel_for(Index{0}, count, [&](Index i) { body(i, workspaces.local()); });
}

#endif

/// The same where no workspace is needed: body(i).
template <class Body>
void for_each_index(Index count, const Body& body) {
    struct Nothing {};
    for_each_index<Nothing>(count, [&](Index i, Nothing&) { body(i); });
}

}  // namespace attnspan::core
