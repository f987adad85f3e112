#pragma once

#include <cmath>

#include "attnspan/types.hpp"

namespace attnspan::core {

/// A sum of products as if computed in twice the working precision and rounded once (Ogita, Rump, Oishi, Accurate sum
/// and dot product, 2005, algorithm 5.3). Depends on the inputs alone, never on a back end.
class CompensatedDot {
public:
    void add(double a, double b) {
        const double product = a * b;
        const double product_error = std::fma(a, b, -product);
        const double total = sum_ + product;
        const double z = total - sum_;
        const double sum_error = (sum_ - (total - z)) + (product - z);
        sum_ = total;
        error_ += product_error + sum_error;
    }
    [[nodiscard]] double value() const { return sum_ + error_; }

private:
    double sum_ = 0;
    double error_ = 0;
};

}  // namespace attnspan::core
