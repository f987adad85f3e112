#include "attnspan/core/bound.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attnspan/core/describe.hpp"
#include "attnspan/core/encode.hpp"
#include "attnspan/encoding.hpp"
#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "table.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;

struct Answer {
    Index n = 0;  ///< the trivial dimension
    core::BoundInput input;
};

/// The worst case over all targets of the given size.
Answer from_numbers(const CommandLine& line, const Tolerances& tolerances, double tau) {
    const auto length = line.optional<Index>("length");
    if (!length) {
        line.fail("--length is missing (or give a --target)");
    }
    if (line.has("slice") || !line.all("set").empty()) {
        line.fail("--slice and --set go with a --target");
    }
    const Index nonzeros = line.get<Index>("nonzeros");
    const double variation = line.get<double>("variation");
    const std::string mode = line.optional<std::string>("mode").value_or("bidirectional");
    constexpr Index largest = Index{1} << 53;
    if (*length > largest) {
        line.fail(fmt::format("--length {}: use at most {}", *length, largest));
    }
    if (*length < 1 || nonzeros < 1 || nonzeros > *length || !(variation >= 1) || std::isinf(variation)) {
        line.fail(fmt::format(
            "--length {} --nonzeros {} --variation {}: lengths start at 1, nonzeros go from 1 to the length, "
            "the variation is finite and at least 1",
            *length, nonzeros, variation));
    }
    if (mode != "bidirectional" && mode != "causal") {
        line.fail(fmt::format("--mode {}: without a --target the mode is bidirectional or causal", mode));
    }
    const auto l = static_cast<double>(*length);
    const double pairs = mode == "causal" ? l * (l + 1) / 2 : l * l;
    return {.n = *length, .input = core::bound_input(nonzeros, std::log(variation), tolerances, tau, pairs)};
}

Answer from_target(const CommandLine& line, const Tolerances& tolerances, double tau) {
    for (const char* option : {"length", "nonzeros", "variation"}) {
        if (line.has(option)) {
            line.fail(fmt::format("--{} and --target exclude each other", option));
        }
    }
    runtime::Registry registry = open_registry(line);
    runtime::LoadedTarget loaded = load_named_target(line, line.get<std::string>("target"), registry).loaded;
    core::apply_rules(loaded.generated.weights, loaded.visible, loaded.policy, loaded.origin);
    const Problem problem = core::encode(loaded.generated.weights, std::move(loaded.visible), tolerances);
    return {.n = problem.keys(), .input = core::bound_input(problem, tau)};
}

CommandLine bound_line() {
    CommandLine line(
        "bound (--length L [--nonzeros K] [--variation G] | --target CONFIG|FILE) [options]",
        "The query dimension m at which a Gaussian or a Haar projection succeeds with the stated probability:\n"
        "for every target of the given size, or for one --target.",
        {});
    line.options().add_options()("length", po::value<Index>()->value_name("L"), "queries and keys")(
        "nonzeros", po::value<Index>()->default_value(1)->value_name("K"), "entries per row")(
        "variation", po::value<double>()->default_value(1.0, "1")->value_name("G"),
        "largest over smallest entry of a row")(
        "ratio", po::value<double>()->default_value(0.5, "0.5")->value_name("E1"), "epsilon_1")(
        "leakage", po::value<double>()->default_value(0.5, "0.5")->value_name("E2"), "epsilon_2")(
        "margin-scale", po::value<double>()->default_value(1.0, "1")->value_name("C"),
        "margin in units of the paper's")("failure-probability",
                                          po::value<double>()->default_value(0.01, "0.01")->value_name("P"), "p")(
        "target", po::value<std::string>()->value_name("FILE"), "a configuration or a data file, instead of a size")(
        "json", "one JSON document on standard output");
    add_target_options(line);
    return line;
}

int bound(const CommandLine& line) {
    const Tolerances tolerances{
        .ratio = line.get<double>("ratio"), .leakage = line.get<double>("leakage"), .where = {.source = "--leakage"}};
    const double scale = line.get<double>("margin-scale");
    const double probability = line.get<double>("failure-probability");
    if (!(tolerances.ratio >= 0) || !(tolerances.leakage > 0) || std::isinf(tolerances.ratio) ||
        std::isinf(tolerances.leakage)) {
        line.fail(fmt::format("--ratio {} --leakage {}: the ratio is at least 0, the leakage above 0, both finite",
                              tolerances.ratio, tolerances.leakage));
    }
    if (!(scale > 0) || std::isinf(scale) || !(probability > 0 && probability < 1)) {
        line.fail(
            fmt::format("--margin-scale {} --failure-probability {}: the scale is above 0 and finite, the probability "
                        "between 0 and 1",
                        scale, probability));
    }
    const double tau = encoded_margin(tolerances, scale);
    const Answer answer = line.has("target") ? from_target(line, tolerances, tau) : from_numbers(line, tolerances, tau);
    const std::optional<Index> m = core::bound_query_dim(answer.input, probability);

    if (line.has("json")) {
        nlohmann::ordered_json out{
            {"query_dim", nullptr},          {"hidden_dim", nullptr},   {"failure_probability", probability},
            {"trivial_query_dim", answer.n}, {"eta", answer.input.eta}, {"visible_pairs", answer.input.visible_pairs}};
        if (m) {
            out["query_dim"] = *m;
            out["hidden_dim"] = 2 * *m;
        } else {
            out["query_dim_status"] = "no finite bound";
        }
        std::cout << experiment::text_of(out) << '\n';
        return 0;
    }
    const auto both = [](Index value) { return fmt::format("{} (hidden dimension d = {})", value, 2 * value); };
    print_table(std::cout,
                {{"bound on the query dimension m", m ? both(*m) : "none: these tolerances leave no room for an error"},
                 {"holds with probability", text(1 - probability)},
                 {"trivial query dimension n", both(answer.n)}},
                false);
    if (m && *m > answer.n) {
        std::cout << "\n  The bound lies beyond n, where an orthogonal projection is exact: use m = " << answer.n
                  << ".\n";
    }
    return 0;
}

}  // namespace

Command bound_command() {
    return {.name = "bound", .summary = "the proven bound on the query dimension", .line = bound_line, .run = bound};
}

}  // namespace attnspan::cli
