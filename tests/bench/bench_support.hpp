#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace attnspan::bench {

/// Two things timed in turn. On a shared machine the ratio within a pair says more than either time.
class Paired {
public:
    template <class First, class Second>
    void add(const First& first, const Second& second) {
        first_.push_back(seconds_of(first));
        second_.push_back(seconds_of(second));
        ratios_.push_back(first_.back() / second_.back());
    }

    /// Medians: of the first's seconds over the second's within a pair, and of each.
    [[nodiscard]] double ratio() const { return median(ratios_); }
    [[nodiscard]] double first_seconds() const { return median(first_); }
    [[nodiscard]] double second_seconds() const { return median(second_); }

private:
    template <class Work>
    static double seconds_of(const Work& work) {
        const auto start = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    static double median(std::vector<double> values) {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }

    std::vector<double> first_;
    std::vector<double> second_;
    std::vector<double> ratios_;
};

// Each file adds its benchmarks.
void add_verification();
void add_projections();

}  // namespace attnspan::bench
