#pragma once

#include <algorithm>

#include "attnspan/types.hpp"

namespace attnspan::core {

/// Largest of s[0 .. count); minus infinity for none. No NaN among them.
[[nodiscard]] double maximum(const double* s, Index count);
[[nodiscard]] float maximum(const float* s, Index count);

/// Position of the first element equal to `value`, which is among s[0 .. count).
template <class T>
[[nodiscard]] Index position_of(const T* s, Index count, T value) {
    return std::find(s, s + count, value) - s;
}

/// Sum of exp(s[i] - shift), each shift >= s[i]; minus infinity counts as 0. Relative error below 1e-14; the order of
/// summation does not depend on the processor.
[[nodiscard]] double sum_exp(const double* s, Index count, double shift);

/// squares[i] += x[i] * x[i].
void add_squares(const double* x, Index count, double* squares);

}  // namespace attnspan::core
