#pragma once

#include "attnspan/parallel.hpp"

namespace attnspan::core {

/// The threads of the task arena that the caller is in.
class ArenaParallel final : public Parallel {
    void do_for_each(Index count, void (*call)(const void* context, Index i), const void* context) const override;
};

}  // namespace attnspan::core
