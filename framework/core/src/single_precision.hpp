#pragma once

#include <algorithm>

#include "attnspan/matrix.hpp"
#include "parallel.hpp"

namespace attnspan::core {

/// Entries rounded to single precision, on the threads of the calling task arena. Equal shapes.
inline void round_to_single(ConstMatrixView<double> from, MatrixView<float> to) {
    for_each_index(from.cols, [&](Index j) {
        std::transform(from.column(j), from.column(j) + from.rows, to.column(j),
                       [](double x) { return static_cast<float>(x); });
    });
}

}  // namespace attnspan::core
