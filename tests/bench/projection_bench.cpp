// What a projection costs.
//
//   build/release/bin/attnspan_bench --benchmark_filter=projection
//
// "orthogonal" makes m columns of n rows, as a search does, and times it in turn with one product of 2 n m^2 flops by
// the eigen back end: "products" is how many of those it takes, on one thread. "gaussian" reports normals for each
// second, "walsh_hadamard" the time of one transform of 2^k numbers that stay in cache.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <span>
#include <vector>

#include "attnspan/core/random.hpp"
#include "attnspan/parallel.hpp"
#include "attnspan/runtime/registry.hpp"
#include "bench_support.hpp"
#include "fwht.hpp"

namespace attnspan::bench {
namespace {

runtime::Registry registry() {
    return runtime::Registry(runtime::SearchPath{.entries = {ATTNSPAN_PLUGINS}, .failures = {}});
}

void orthogonal(benchmark::State& state) {
    runtime::Registry plugins = registry();
    const auto backend = plugins.find("backend", "eigen")->make_backend({}, 1);
    const auto projection = plugins.find("projection", "orthogonal")->make_projection({});
    const Index n = state.range(0);
    const Index m = state.range(1);
    const core::PhiloxSource source;
    const Serial serial;
    const RandomStream random = core::stream(source, 1, core::Purpose::embedding);
    Matrix<double> y(n, m);
    Matrix<double> square(m, m, 1.0);
    Matrix<double> product(n, m);
    Paired paired;
    for (auto _ : state) {
        paired.add(
            [&] {
                projection->sampler(n, random, serial)->columns({m, 0, m}, y.view());
            },
            [&] {
                backend->multiply(1.0, Op::none, std::as_const(y).view(), Op::none, std::as_const(square).view(), 0.0,
                                  product.view());
            });
        benchmark::DoNotOptimize(product.data());
    }
    state.counters["products"] = paired.ratio();
}

void gaussian(benchmark::State& state) {
    const core::PhiloxSource source;
    const RandomStream random = core::stream(source, 1, core::Purpose::embedding);
    std::vector<double> column(4096);
    Index sequence = 0;
    for (auto _ : state) {
        random.at(sequence++).normals(0, column);
        benchmark::DoNotOptimize(column.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<Index>(column.size()));
}

template <class T>
void transform(benchmark::State& state) {
    std::vector<T> x(std::size_t{1} << static_cast<unsigned>(state.range(0)));
    for (auto _ : state) {
        x.assign(x.size(), T(0));  // or the numbers would grow without end; a few percent of the time
        walsh_hadamard(std::span(x));
        benchmark::DoNotOptimize(x.data());
    }
}

}  // namespace

void add_projections() {
    benchmark::RegisterBenchmark("projection/orthogonal", orthogonal)
        ->Args({3072, 832})
        ->Args({16384, 512})
        ->Unit(benchmark::kMillisecond)
        ->Iterations(5);
    benchmark::RegisterBenchmark("projection/gaussian", gaussian);
    for (const int k : {10, 14, 20}) {
        benchmark::RegisterBenchmark("projection/walsh_hadamard/double", transform<double>)->Arg(k);
        benchmark::RegisterBenchmark("projection/walsh_hadamard/single", transform<float>)->Arg(k);
    }
}

}  // namespace attnspan::bench
