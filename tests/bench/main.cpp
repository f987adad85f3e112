#include <benchmark/benchmark.h>

#include "bench_support.hpp"

int main(int argc, char** argv) {
    attnspan::bench::add_verification();
    attnspan::bench::add_projections();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
