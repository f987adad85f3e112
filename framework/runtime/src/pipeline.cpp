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
    const double per_column = 2 * sizeof(Index);  // its entries are counted
    return per_row * static_cast<double>(shape.queries) + per_column * static_cast<double>(shape.keys) +
           per_entry * static_cast<double>(shape.nonzeros);
}

/// A target as section 2.2 wants it, encoded.
TargetResult encode_target(const TargetTable& target, const PipelineConfig& config) {
    LoadedTarget loaded = load_target(target, config.mode, config.seed());
    TargetResult out;
    out.name = target.name;
    out.plugin = target.table.library->info().name;
    out.facts = std::move(loaded.generated.facts);
    out.weights = std::move(loaded.generated.weights);
    if (out.weights.rows != out.weights.cols) {
        throw Error(ErrorKind::data,
                    fmt::format("{}: it is {} x {}, and self-attention needs as many queries as keys; "
                                "`attnspan target` and `attnspan verify --q --k` take rectangles",
                                target.table.path, out.weights.rows, out.weights.cols),
                    loaded.origin);
    }
    if (const Index dropped = core::apply_rules(out.weights, loaded.visible, loaded.policy, loaded.origin);
        dropped > 0) {
        out.facts.push_back({"invisible_entries_dropped", dropped});
    }
    out.summary = core::describe(out.weights);
    out.problem =
        std::make_unique<const Problem>(core::encode(out.weights, std::move(loaded.visible), config.tolerances()));
    return out;
}

/// The bound at which all targets pass together: a union bound over them.
std::optional<BoundReport> joint_bound(const std::vector<TargetResult>& targets, double failure_probability) {
    BoundReport out{.query_dim = 0, .failure_probability = failure_probability};
    for (const TargetResult& target : targets) {
        if (!target.traits.encoded_margin || !target.traits.chi_square_tail) {
            return std::nullopt;
        }
        const core::BoundInput input =
            core::bound_input(*target.problem, *target.traits.encoded_margin, target.traits.margin_on_full_rows);
        const std::optional<Index> one =
            core::bound_query_dim(input, failure_probability / static_cast<double>(targets.size()));
        out.query_dim = one && out.query_dim ? std::optional(std::max(*out.query_dim, *one)) : std::nullopt;
    }
    return out;
}

void draw_maps(TargetResult& target, const Backend& backend, Index cells) {
    if (const core::Solution* shown = target.solution()) {
        target.maps = core::attention_maps(
            *target.problem, target.weights,
            {.x1 = shown->x1.view(), .x2 = shown->x2.view(), .scale = shown->logit_scale}, backend, cells);
    }
}

/// The pipeline proper, on the threads of the caller's arena.
PipelineResult run_here(const PipelineConfig& config, const PipelineOptions& options) {
    PipelineResult out;
    out.threads = options.threads;
    Stopwatch watch(out.seconds);

    for (const TargetTable& target : config.targets) {
        out.targets.push_back(encode_target(target, config));
    }
    watch.lap("target");

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
    std::vector<std::unique_ptr<PreparedConstruction>> prepared;
    std::vector<ConstructionTraits> traits;
    for (TargetResult& target : out.targets) {
        prepared.push_back(guard_plugin_call(who, [&] { return construction->prepare(*target.problem, tools); }));
        target.traits = guard_plugin_call(who, [&] { return prepared.back()->traits(); });
        traits.push_back(target.traits);
        out.trivial_query_dim = std::max(out.trivial_query_dim, target.traits.trivial_query_dim);
    }
    watch.lap("construction");

    out.bound = joint_bound(out.targets, config.failure_probability());
    out.plan = config.plan(traits);
    if (const auto refused = core::problem_of(out.plan, traits)) {
        config.search.parameters.fail(refused->key, refused->reason);
    }
    const core::Criterion criterion = config.limits();
    const core::PhiloxSource source;
    std::vector<core::SearchProblem> problems;
    for (std::size_t t = 0; t < out.targets.size(); ++t) {
        problems.push_back({
            .problem = *out.targets[t].problem,
            .construction = *prepared[t],
            .backend = *backend,
            .criterion = criterion,
            // The same samples for every target: what one passes with does not depend on the others.
            .stream =
                [&](Index sample, Index query_dim) {
                    return core::stream(source, config.seed(), core::Purpose::embedding, 0,
                                        static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(query_dim));
                },
            .progress =
                [&, t](core::SearchProgress p) {
                    if (options.progress) {
                        p.done = (static_cast<double>(t) + p.done) / static_cast<double>(problems.size());
                        options.progress(p);
                    }
                },
            .divided_by_sqrt_dim = config.export_plan().divided_by_sqrt_dim,
        });
    }
    std::vector<core::SearchOutcome> outcomes =
        guard_plugin_call(who, [&] { return core::search(out.plan, problems); });
    watch.lap("search");
    // Two stages out of one: making embeddings, and judging them.
    double embedding = 0;
    for (std::size_t t = 0; t < outcomes.size(); ++t) {
        embedding += outcomes[t].embedding_seconds;
        out.targets[t].search = std::move(outcomes[t]);
    }
    if (const auto& found = out.targets.front().search.found) {
        out.query_dim = found->query_dim;
    }
    double& search = out.seconds.back().second;
    embedding = std::min(embedding, search);
    search -= embedding;
    out.seconds.insert(out.seconds.end() - 1, {"embedding", embedding});

    if (options.map_cells > 0) {
        for (TargetResult& target : out.targets) {
            draw_maps(target, *backend, options.map_cells);
        }
        watch.lap("maps");
    }
    return out;
}

}  // namespace

LoadedTarget load_target(const TargetTable& target, const ResolvedTable& mode, std::uint64_t seed) {
    const Parameters& parameters = target.table.parameters;
    const Product<Target> maker = target.table.library->make_target(parameters);
    const Product<Mode> view = mode.library->make_mode(mode.parameters);
    const std::string who = target.table.library->label();
    const TargetShape shape = guard_plugin_call(who, [&] { return maker->shape(); });
    require_memory(bytes_of_target(shape),
                   fmt::format("a target of {} x {} with up to {} entries", shape.queries, shape.keys, shape.nonzeros));
    LoadedTarget out;
    const auto path = parameters.entries().find("path");
    const auto* file = path == parameters.entries().end() ? nullptr : std::get_if<std::string>(&path->second.value);
    out.origin = file != nullptr ? Location{.source = *file} : parameters.where("");
    out.visible = guard_plugin_call(mode.library->label(), [&] { return view->visible(shape.queries, shape.keys); });
    const core::PhiloxSource source;
    out.policy = guard_plugin_call(who, [&] { return maker->policy(); });
    const RandomStream random =
        core::stream(source, seed, core::Purpose::target, 0, static_cast<std::uint64_t>(target.number), 0);
    out.generated = guard_plugin_call(who, [&] { return maker->generate(out.visible, random); });
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
