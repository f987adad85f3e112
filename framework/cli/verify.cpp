#include "attnspan/core/verify.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attnspan/core/describe.hpp"
#include "attnspan/core/encode.hpp"
#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/experiment/row_table.hpp"
#include "attnspan/io/array_file.hpp"
#include "attnspan/memory.hpp"
#include "attnspan/runtime/resolve.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "table.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;

struct Embedding {
    Matrix<double> q;  ///< queries x m
    Matrix<double> k;  ///< keys x m
};

Matrix<double> read_finite(const std::string& file, const std::string& usual_name) {
    Matrix<double> out = io::read_matrix(file, usual_name);
    for (Index i = 0; i < out.rows(); ++i) {
        for (Index j = 0; j < out.cols(); ++j) {
            if (!std::isfinite(out(i, j))) {
                throw Error(ErrorKind::data, fmt::format("{}: entry ({}, {}) is {}, but embeddings must be finite",
                                                         file, i, j, out(i, j)));
            }
        }
    }
    return out;
}

/// X W for a weight matrix in a file.
Matrix<double> projected(const Matrix<double>& x, const std::string& option, const std::string& file,
                         const std::string& usual_name, const Backend& backend) {
    const Matrix<double> w = read_finite(file, usual_name);
    if (w.rows() != x.cols()) {
        throw Error(ErrorKind::data,
                    fmt::format("--{} {}: {} x {} does not fit X with {} columns; W must have as many rows as X "
                                "has columns",
                                option, file, w.rows(), w.cols(), x.cols()));
    }
    require_memory(sizeof(double) * static_cast<double>(x.rows()) * static_cast<double>(w.cols()),
                   fmt::format("--{} {}: X W of {} x {}", option, file, x.rows(), w.cols()));
    Matrix<double> out(x.rows(), w.cols());
    backend.multiply(1.0, Op::none, x.view(), Op::none, w.view(), 0.0, out.view());
    return out;
}

Embedding read_embedding(const CommandLine& line, const Backend& backend) {
    const bool weights = line.has("x") || line.has("wq") || line.has("wk");
    const bool factors = line.has("q") || line.has("k");
    if (weights == factors) {
        line.fail("give either --x, --wq and --wk, or --q and --k");
    }
    const auto need = [&](const char* option) {
        if (!line.has(option)) {
            line.fail(fmt::format("--{} is missing", option));
        }
        return line.get<std::string>(option);
    };
    if (factors) {
        const std::string q = need("q");
        const std::string k = need("k");
        return {.q = read_finite(q, "Q"), .k = read_finite(k, "K")};
    }
    const std::string wq = need("wq");
    const std::string wk = need("wk");
    const Matrix<double> x = read_finite(need("x"), "X");
    return {.q = projected(x, "wq", wq, "W_Q", backend), .k = projected(x, "wk", wk, "W_K", backend)};
}

void require_fit(const Embedding& e, const SparseMatrix& target) {
    if (e.q.cols() != e.k.cols()) {
        throw Error(ErrorKind::data, fmt::format("queries have dimension {} and keys have {}; they must be equal",
                                                 e.q.cols(), e.k.cols()));
    }
    if (e.q.rows() != target.rows || e.k.rows() != target.cols) {
        throw Error(ErrorKind::data, fmt::format("{} queries and {} keys do not fit a target of {} x {}", e.q.rows(),
                                                 e.k.rows(), target.rows, target.cols));
    }
}

Limits read_limits(const CommandLine& line) {
    const Limits limits{.ratio = line.optional<double>("ratio"),
                        .leakage = line.optional<double>("leakage"),
                        .total_variation = line.optional<double>("total-variation")};
    for (const auto& [name, value] : {std::pair("ratio", limits.ratio), std::pair("leakage", limits.leakage),
                                      std::pair("total-variation", limits.total_variation)}) {
        if (value && !(*value >= 0 && std::isfinite(*value))) {
            line.fail(fmt::format("--{} {}: use a finite number that is not negative", name, *value));
        }
    }
    return limits;
}

core::Criterion criterion_of(const Limits& limits) {
    constexpr double none = std::numeric_limits<double>::infinity();
    return {.log_ratio = limits.ratio ? std::log1p(*limits.ratio) : none,
            .log_leakage = limits.leakage ? std::log(*limits.leakage) : none,
            .total_variation = limits.total_variation};
}

CommandLine verify_line() {
    CommandLine line(
        "verify --target CONFIG|FILE (--x FILE --wq FILE --wk FILE | --q FILE --k FILE) [options]",
        "Measures embeddings against a target: the logits are scale (X W_Q)(X W_K)^T, or scale Q K^T. A FILE of these\n"
        "is .npy, .npz or .safetensors; of several arrays in one, FILE:NAME names one (default X, W_Q, W_K, Q or K).\n"
        "With a limit the exit code says whether it is kept (0) or not (1).",
        {});
    line.options().add_options()("target", po::value<std::string>()->value_name("FILE"),
                                 "a configuration (.toml) or a data file")(
        "x", po::value<std::string>()->value_name("FILE"), "the input X, L x d")(
        "wq", po::value<std::string>()->value_name("FILE"), "W_Q, d x m")(
        "wk", po::value<std::string>()->value_name("FILE"), "W_K, d x m")(
        "q", po::value<std::string>()->value_name("FILE"), "queries, n_q x m, instead of X and the weights")(
        "k", po::value<std::string>()->value_name("FILE"), "keys, n_k x m")(
        "scale", po::value<double>()->default_value(1.0, "1")->value_name("S"), "factor on the logits")(
        "ratio", po::value<double>()->value_name("E1"), "limit on the ratio error, epsilon_1")(
        "leakage", po::value<double>()->value_name("E2"), "limit on the leakage, epsilon_2")(
        "total-variation", po::value<double>()->value_name("T"), "limit on the total variation of a row")(
        "backend", po::value<std::string>()->default_value("eigen")->value_name("BACKEND"), "back end plugin")(
        "rows", po::value<std::string>()->value_name("FILE"), "write the measures of every row (.csv or .npy)")(
        "json", "one JSON document on standard output");
    add_thread_option(line);
    add_target_options(line);
    return line;
}

int verify(const CommandLine& line) {
    if (!line.has("target")) {
        line.fail("--target is missing");
    }
    const std::optional<std::string> rows_file = line.optional<std::string>("rows");
    if (rows_file) {
        experiment::require_row_table_place(*rows_file, {});
    }
    const Limits limits = read_limits(line);
    const double scale = line.get<double>("scale");
    if (!std::isfinite(scale)) {
        line.fail(fmt::format("--scale {}: use a finite number", scale));
    }
    const Index thread_count = threads(line);
    runtime::Registry registry = open_registry(line);
    const auto library = registry.find("backend", line.get<std::string>("backend"));
    const runtime::Product<Backend> backend = library->make_backend(
        runtime::resolve_parameters(nullptr, "backend", {.source = "--backend"}, library->parameters()), thread_count);

    NamedTarget named = load_named_target(line, line.get<std::string>("target"), registry);
    SparseMatrix& weights = named.loaded.generated.weights;
    const Embedding embedding = read_embedding(line, *backend);
    require_fit(embedding, weights);
    Facts& facts = named.loaded.generated.facts;
    if (const Index dropped =
            core::apply_rules(weights, named.loaded.visible, named.loaded.policy, named.loaded.origin);
        dropped > 0) {
        facts.push_back({"invisible_entries_dropped", dropped});
    }
    const Problem problem = core::encode(weights, std::move(named.loaded.visible), {});
    const core::Criterion criterion = criterion_of(limits);
    const core::Verifier verifier(problem, *backend, criterion);

    std::vector<core::RowMeasures> rows;
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(thread_count));
    tbb::task_arena arena(static_cast<int>(thread_count));
    const core::Measures measures = arena.execute(
        [&] { return verifier.measure({.x1 = embedding.q.view(), .x2 = embedding.k.view(), .scale = scale}, &rows); });
    const bool judged = limits.ratio || limits.leakage || limits.total_variation;
    const bool passed = core::passes(measures, criterion);
    if (rows_file) {
        experiment::write_row_table(*rows_file, rows);
    }
    const core::TargetSummary summary = core::describe(weights);
    if (line.has("json")) {
        nlohmann::ordered_json out = experiment::target_json(named.name, named.plugin, summary, facts);
        out["query_dim"] = embedding.q.cols();
        out["measures"] = experiment::measures_json(measures);
        out["passed"] = judged ? nlohmann::ordered_json(passed) : nlohmann::ordered_json();
        std::cout << experiment::text_of(out) << '\n';
    } else {
        if (judged) {
            std::cout << (passed ? "passed\n\n" : "not passed\n\n");
        }
        print_measures(std::cout, measures, limits);
        print_facts(std::cout, facts);
    }
    return judged && !passed ? 1 : 0;
}

}  // namespace

Command verify_command() {
    return {.name = "verify",
            .summary = "measure embeddings against a target, whoever made them",
            .line = verify_line,
            .run = verify};
}

}  // namespace attnspan::cli
