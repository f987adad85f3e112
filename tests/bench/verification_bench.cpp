// How fast verification runs, against the rate at which the same back end multiplies the same tiles in the same
// process.
//
//   build/release/bin/attnspan_bench --benchmark_filter=armadillo
//
// Every line reports GFLOP/s of the products alone (2 L^2 m flops), so that "verify" divided by "multiply" is the share
// of the product's speed that is left. One thread.

#include <benchmark/benchmark.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attnspan/core/encode.hpp"
#include "attnspan/core/random.hpp"
#include "attnspan/core/verify.hpp"
#include "attnspan/runtime/registry.hpp"

namespace {

using namespace attnspan;

constexpr Index length = 8192;
constexpr Index block_queries = 256;  // as the verifier cuts them
constexpr Index tile_keys = 512;

runtime::Product<Backend> make_backend(const std::string& name) {
    runtime::Registry registry(runtime::SearchPath{.entries = {ATTNSPAN_PLUGINS}, .failures = {}});
    return registry.find("backend", name)->make_backend({}, 1);
}

Matrix<double> normals(Index rows, Index cols, std::uint64_t seed) {
    const core::PhiloxSource source;
    Matrix<double> out(rows, cols);
    for (Index c = 0; c < cols; ++c) {
        core::stream(source, seed, core::Purpose::embedding)
            .at(c)
            .normals(0, {out.view().column(c), static_cast<std::size_t>(rows)});
    }
    return out;
}

template <class T>
Matrix<T> converted(const Matrix<double>& from) {
    Matrix<T> to(from.rows(), from.cols());
    std::transform(from.data(), from.data() + from.rows() * from.cols(), to.data(),
                   [](double x) { return static_cast<T>(x); });
    return to;
}

void report(benchmark::State& state, Index m) {
    const double flops = 2.0 * static_cast<double>(length) * static_cast<double>(length) * static_cast<double>(m);
    state.counters["GFLOP/s"] =
        benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

/// The products alone.
template <class T>
void multiply(benchmark::State& state, const std::string& name) {
    const auto backend = make_backend(name);
    const Index m = state.range(0);
    const Matrix<T> x1 = converted<T>(normals(m, length, 1));  // rows of queries, gathered
    const Matrix<T> x2 = converted<T>(normals(length, m, 2));
    Matrix<T> tile(tile_keys, block_queries);
    for (auto _ : state) {
        for (Index q = 0; q < length; q += block_queries) {
            for (Index k = 0; k < length; k += tile_keys) {
                backend->multiply(T(1), Op::none, x2.view().row_block(k, k + tile_keys), Op::none,
                                  x1.view().columns(q, q + block_queries), T(0), tile.view());
            }
        }
        benchmark::DoNotOptimize(tile.data());
    }
    report(state, m);
}

/// Ratio and leakage of every row, with limits that nothing breaks, so that no row is left early.
void verify(benchmark::State& state, const std::string& name, bool single) {
    const auto backend = make_backend(name);
    const Index m = state.range(0);
    SparseMatrix target;
    target.cols = length;
    for (Index i = 0; i < length; ++i) {
        target.push(i, 1.0);
        target.end_row();
    }
    const Problem problem = core::encode(
        target, {.keys = length, .ranges = std::vector<KeyRange>(static_cast<std::size_t>(length), {0, length})}, {});
    const Matrix<double> x1 = normals(length, m, 1);
    const Matrix<double> x2 = normals(length, m, 2);
    const Matrix<float> x1_single = converted<float>(x1);
    const Matrix<float> x2_single = converted<float>(x2);
    core::Logits logits{.x1 = x1.view(), .x2 = x2.view(), .scale = 1.0};
    if (single) {
        logits.x1_single = x1_single.view();
        logits.x2_single = x2_single.view();
    }
    const core::Criterion criterion{.log_ratio = 1e9, .log_leakage = 1e9};
    const core::Verifier verifier(problem, *backend, criterion);
    const core::RowNorms norms(logits);
    tbb::task_arena arena(1);
    for (auto _ : state) {
        const bool refuted = arena.execute([&] { return verifier.refute(logits, norms).has_value(); });
        benchmark::DoNotOptimize(refuted);
    }
    report(state, m);
}

}  // namespace

int main(int argc, char** argv) {
    for (const std::string name : {"eigen", "armadillo"}) {
        const auto add = [&](const std::string& what, auto function) {
            benchmark::RegisterBenchmark((name + "/" + what).c_str(), function)
                ->Arg(64)
                ->Arg(256)
                ->Arg(1024)
                ->Unit(benchmark::kMillisecond)
                ->Iterations(3);
        };
        add("multiply/double", [name](benchmark::State& s) { multiply<double>(s, name); });
        add("verify/double", [name](benchmark::State& s) { verify(s, name, false); });
        add("multiply/single", [name](benchmark::State& s) { multiply<float>(s, name); });
        add("verify/single", [name](benchmark::State& s) { verify(s, name, true); });
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
