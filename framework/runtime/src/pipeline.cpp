#include "attnspan/runtime/pipeline.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "attnspan/core/arena.hpp"
#include "attnspan/core/encode.hpp"
#include "attnspan/core/random.hpp"
#include "attnspan/error.hpp"
#include "attnspan/memory.hpp"
#include "attnspan/runtime/plugin_call.hpp"

namespace attnspan::runtime {
namespace {

class Stopwatch {
public:
    explicit Stopwatch(std::vector<std::pair<std::string, double>>& seconds) : seconds_(seconds) {}
    /// Books the time since the last lap (or the start) to a stage.
    void lap(const std::string& stage) {
        const auto now = std::chrono::steady_clock::now();
        seconds_.emplace_back(stage, std::chrono::duration<double>(now - last_).count());
        last_ = now;
    }

private:
    std::vector<std::pair<std::string, double>>& seconds_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Rows and entries, with their columns, as long as the pipeline keeps two copies of them (target and problem).
double bytes_of_target(const TargetShape& shape) {
    const double per_row = 2 * sizeof(Index) + sizeof(KeyRange);
    const double per_entry = 2 * (sizeof(Index) + sizeof(double));
    return per_row * static_cast<double>(shape.queries) + per_entry * static_cast<double>(shape.nonzeros);
}

/// The pipeline proper, on the threads of the caller's arena.
PipelineResult run_here(const PipelineConfig& config, const PipelineOptions& options) {
    PipelineResult out;
    out.threads = options.threads;
    Stopwatch watch(out.seconds);

    LoadedTarget loaded = load_target(config.target, config.mode, config.seed());
    out.target_facts = std::move(loaded.generated.facts);
    out.weights = std::move(loaded.generated.weights);
    if (out.weights.rows != out.weights.cols) {
        throw Error(ErrorKind::data,
                    fmt::format("target: it is {} x {}, and self-attention needs as many queries as keys; "
                                "`attnspan target` and `attnspan verify --q --k` take rectangles",
                                out.weights.rows, out.weights.cols),
                    loaded.origin);
    }
    if (const Index dropped = core::apply_rules(out.weights, loaded.visible, loaded.policy, loaded.origin);
        dropped > 0) {
        out.target_facts.push_back({"invisible_entries_dropped", dropped});
    }
    out.target = core::describe(out.weights);
    watch.lap("target");

    const Problem problem = core::encode(out.weights, std::move(loaded.visible), config.tolerances());
    const Product<Backend> backend = config.backend.library->make_backend(config.backend.parameters, options.threads);
    out.backend = guard_plugin_call(config.backend.library->label(), [&] { return backend->info(); });
    std::optional<Product<Projection>> projection;
    if (config.projection) {
        projection.emplace(config.projection->library->make_projection(config.projection->parameters));
    }
    const Product<Construction> construction =
        config.construction.library->make_construction(config.construction.parameters);
    const core::ArenaParallel threads;
    const ConstructionTools tools{
        .backend = *backend, .projection = projection ? &**projection : nullptr, .parallel = threads};
    const std::string who = config.construction.library->label();
    const auto prepared = guard_plugin_call(who, [&] { return construction->prepare(problem, tools); });
    out.traits = guard_plugin_call(who, [&] { return prepared->traits(); });
    watch.lap("construction");

    if (out.traits.encoded_margin && out.traits.chi_square_tail) {
        const core::BoundInput input = core::bound_input(problem, *out.traits.encoded_margin);
        out.bound = BoundReport{.query_dim = core::bound_query_dim(input, config.failure_probability()),
                                .failure_probability = config.failure_probability()};
    }
    out.plan = config.plan(out.traits);
    if (const auto refused = core::problem_of(out.plan, out.traits)) {
        config.search.parameters.fail(refused->key, refused->reason);
    }
    const core::Criterion criterion = config.limits();
    const core::PhiloxSource source;
    const core::SearchProblem what{
        .problem = problem,
        .construction = *prepared,
        .backend = *backend,
        .criterion = criterion,
        .stream =
            [&](Index sample, Index query_dim) {
                return core::stream(source, config.seed(), core::Purpose::embedding, 0,
                                    static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(query_dim));
            },
        .progress = options.progress,
    };
    out.search = guard_plugin_call(who, [&] { return core::search(out.plan, what); });
    watch.lap("search");
    // Two stages out of one: making embeddings, and judging them.
    double& search = out.seconds.back().second;
    const double embedding = std::min(out.search.embedding_seconds, search);
    search -= embedding;
    out.seconds.insert(out.seconds.end() - 1, {"embedding", embedding});
    return out;
}

}  // namespace

LoadedTarget load_target(const ResolvedTable& target, const ResolvedTable& mode, std::uint64_t seed) {
    const Product<Target> maker = target.library->make_target(target.parameters);
    const Product<Mode> view = mode.library->make_mode(mode.parameters);
    const std::string who = target.library->label();
    const TargetShape shape = guard_plugin_call(who, [&] { return maker->shape(); });
    require_memory(bytes_of_target(shape),
                   fmt::format("a target of {} x {} with up to {} entries", shape.queries, shape.keys, shape.nonzeros));
    LoadedTarget out;
    const auto path = target.parameters.entries().find("path");
    const auto* file =
        path == target.parameters.entries().end() ? nullptr : std::get_if<std::string>(&path->second.value);
    out.origin = file != nullptr ? Location{.source = *file} : target.parameters.where("");
    out.visible = guard_plugin_call(mode.library->label(), [&] { return view->visible(shape.queries, shape.keys); });
    const core::PhiloxSource source;
    out.policy = guard_plugin_call(who, [&] { return maker->policy(); });
    out.generated = guard_plugin_call(
        who, [&] { return maker->generate(out.visible, core::stream(source, seed, core::Purpose::target, 0, 0, 0)); });
    return out;
}

PipelineResult run_pipeline(const PipelineConfig& config, const PipelineOptions& options) {
    const auto threads = static_cast<std::size_t>(options.threads);
    // Plugins that spread work of their own stay within the same number.
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(options.threads));
    return arena.execute([&] { return run_here(config, options); });
}

}  // namespace attnspan::runtime
