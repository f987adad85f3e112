#pragma once

#include "attnspan/types.hpp"

namespace attnspan::core {

/// Largest of s[0 .. count); minus infinity for none. No NaN among them.
[[nodiscard]] double maximum(const double* s, Index count);
[[nodiscard]] float maximum(const float* s, Index count);

/// Position of the first element of s[0 .. count) equal to `value`; count where there is none.
[[nodiscard]] Index position_of(const double* s, Index count, double value);
[[nodiscard]] Index position_of(const float* s, Index count, float value);

/// Sum of exp(s[i] - shift), each shift >= s[i]; minus infinity counts as 0. Relative error below 1e-14; the order of
/// summation does not depend on the processor.
[[nodiscard]] double sum_exp(const double* s, Index count, double shift);
[[nodiscard]] double sum_exp(const float* s, Index count, double shift);

/// squares[i] += x[i] * x[i].
void add_squares(const double* x, Index count, double* squares);

}  // namespace attnspan::core
