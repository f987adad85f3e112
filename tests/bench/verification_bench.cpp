// How fast verification runs, against the rate at which the same back end multiplies the same tiles in the same
// process.
//
//   build/release/bin/attnspan_bench --benchmark_filter=verify
//
// Each line times the products alone and the verification in turn, on one thread, and reports
//   share     products' time over verification's, median of the repetitions: how much of the products' speed is left
//   multiply, verify   GFLOP/s of the products (2 L^2 m flops), medians
// "measure" is what a result is reported by: double precision, with total variation (exp of every logit).

#include <benchmark/benchmark.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "attnspan/core/encode.hpp"
#include "attnspan/core/random.hpp"
#include "attnspan/core/verify.hpp"
#include "attnspan/runtime/registry.hpp"
#include "bench_support.hpp"

namespace attnspan::bench {
namespace {

constexpr Index length = 16384;
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

/// All logits, tile by tile, from gathered queries.
template <class T>
void multiply_all(const Backend& backend, const Matrix<T>& queries, const Matrix<T>& x2, Matrix<T>& tile) {
    for (Index q = 0; q < length; q += block_queries) {
        for (Index k = 0; k < length; k += tile_keys) {
            backend.multiply(T(1), Op::none, x2.view().row_block(k, k + tile_keys), Op::none,
                             queries.view().columns(q, q + block_queries), T(0), tile.view());
        }
    }
    benchmark::DoNotOptimize(tile.data());
}

/// One nonzero in every row, and limits that nothing breaks, so that no row is left early.
Problem diagonal_problem() {
    SparseMatrix target;
    target.cols = length;
    for (Index i = 0; i < length; ++i) {
        target.push(i, 1.0);
        target.end_row();
    }
    return core::encode(
        target, {.keys = length, .ranges = std::vector<KeyRange>(static_cast<std::size_t>(length), {0, length})}, {});
}

enum class Work { refute, measure };

template <class T>
void verify(benchmark::State& state, const std::string& name, Work work) {
    const auto backend = make_backend(name);
    const Index m = state.range(0);
    const Problem problem = diagonal_problem();
    const Matrix<double> x1 = normals(length, m, 1);
    const Matrix<double> x2 = normals(length, m, 2);
    const Matrix<T> queries = converted<T>(normals(m, length, 1));
    const Matrix<T> keys = converted<T>(x2);
    Matrix<T> tile(tile_keys, block_queries);
    core::Logits logits{.x1 = x1.view(), .x2 = x2.view(), .scale = 1.0};
    if constexpr (std::is_same_v<T, float>) {
        logits.x2_single = keys.view();
    }
    const core::Criterion criterion{.log_ratio = 1e9, .log_leakage = 1e9};
    const core::Verifier verifier(problem, *backend, criterion);
    const core::RowNorms norms(logits);
    tbb::task_arena one(1);
    Paired paired;
    for (auto _ : state) {
        paired.add([&] { multiply_all(*backend, queries, keys, tile); },
                   [&] {
                       one.execute([&] {
                           if (work == Work::refute) {
                               benchmark::DoNotOptimize(verifier.refute(logits, norms).has_value());
                           } else {
                               benchmark::DoNotOptimize(verifier.measure(logits).log_leakage);
                           }
                       });
                   });
    }
    const double flops = 2.0 * static_cast<double>(length) * static_cast<double>(length) * static_cast<double>(m);
    state.counters["share"] = paired.ratio();
    state.counters["multiply"] = flops * 1e-9 / paired.first_seconds();
    state.counters["verify"] = flops * 1e-9 / paired.second_seconds();
}

}  // namespace

void add_verification() {
    for (const std::string name : {"eigen", "armadillo"}) {
        const auto add = [&](const std::string& what, auto function) {
            for (const auto& [m, repetitions] : {std::pair{64, 9}, std::pair{256, 5}, std::pair{1024, 3}}) {
                benchmark::RegisterBenchmark((name + "/" + what).c_str(), function)
                    ->Arg(m)
                    ->Unit(benchmark::kMillisecond)
                    ->Iterations(repetitions);
            }
        };
        add("verify/double", [name](benchmark::State& s) { verify<double>(s, name, Work::refute); });
        add("verify/single", [name](benchmark::State& s) { verify<float>(s, name, Work::refute); });
        add("measure/double", [name](benchmark::State& s) { verify<double>(s, name, Work::measure); });
    }
}

}  // namespace attnspan::bench
