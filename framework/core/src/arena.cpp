#include "attnspan/core/arena.hpp"

#include "parallel.hpp"

namespace attnspan::core {

void ArenaParallel::do_for_each(Index count, void (*call)(const void* context, Index i), const void* context) const {
    for_each_index(count, [&](Index i) { call(context, i); });
}

}  // namespace attnspan::core
