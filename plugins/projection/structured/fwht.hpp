#pragma once

#include <span>

namespace attnspan {

/// Walsh-Hadamard transform in place, not normalised: x becomes H x with H_ij = (-1)^popcount(i & j). The length is a
/// power of two. The same bytes on every instruction set. Fino and Algazi, Unified matrix treatment of the fast
/// Walsh-Hadamard transform (IEEE Trans. Comput. C-25, 1976).
void walsh_hadamard(std::span<double> x);
void walsh_hadamard(std::span<float> x);

}  // namespace attnspan
