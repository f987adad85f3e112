#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/experiment/row_table.hpp"
#include "attnspan/experiment/run_directory.hpp"
#include "attnspan/runtime/pipeline.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "progress.hpp"
#include "session.hpp"
#include "table.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;

std::string both(Index m) {
    return fmt::format("{} (hidden dimension d = {})", m, 2 * m);
}

Limits limits_of(const runtime::PipelineConfig& config) {
    const Parameters& p = config.criterion.parameters;
    return {.ratio = p.real("ratio"),
            .leakage = p.real("leakage"),
            .total_variation = p.has("total_variation") ? std::optional(p.real("total_variation")) : std::nullopt};
}

void print_outcome(const runtime::PipelineConfig& config, const runtime::PipelineResult& result) {
    const core::SearchOutcome& search = result.search;
    std::cout << fmt::format("{}: {}\n\n", config.name(), search.found ? "passed" : "not passed");
    std::vector<std::vector<std::string>> rows;
    if (search.found) {
        rows.push_back({"query dimension m", both(search.found->query_dim)});
    } else {
        rows.push_back({"query dimension m",
                        fmt::format("none up to {}",
                                    search.attempts.empty() ? result.plan.stop : search.attempts.back().query_dim)});
    }
    if (result.bound) {
        rows.push_back({"bound on m", result.bound->query_dim
                                          ? fmt::format("{} with probability {}", both(*result.bound->query_dim),
                                                        text(1 - result.bound->failure_probability))
                                          : std::string("no finite bound")});
    } else {
        rows.push_back({"bound on m", "none known for this scheme"});
    }
    rows.push_back({"trivial m", both(result.traits.trivial_query_dim)});
    rows.push_back(
        {"target", fmt::format("{}: {} x {}, {} nonzeros, at most {} per row, variation {}",
                               config.target.library->info().name, result.target.rows, result.target.cols,
                               result.target.nonzeros, result.target.max_row_nonzeros, text(result.target.variation))});
    rows.push_back({"search", fmt::format("{} attempts, {} s", search.attempts.size(), text([&] {
                                              double total = 0;
                                              for (const auto& [stage, time] : result.seconds) {
                                                  total += time;
                                              }
                                              return total;
                                          }()))});
    if (const auto& count = search.pass_count) {
        rows.push_back(
            {"samples passed", fmt::format("{} of {} (95% interval of the probability: {} to {})", count->passed,
                                           count->samples, text(count->lower), text(count->upper))});
    }
    print_table(std::cout, rows, false);
    if (!result.target_facts.empty()) {
        std::cout << "\n";
        print_facts(std::cout, result.target_facts);
    }
    if (const auto& shown = search.found ? search.found : search.best) {
        std::cout << (search.found
                          ? "\n"
                          : fmt::format("\n  best attempt: m = {}, sample {}\n", shown->query_dim, shown->sample));
        print_measures(std::cout, shown->measures, limits_of(config));
        print_facts(std::cout, shown->facts);
    } else {
        std::cout << fmt::format("\n  no attempt was feasible{}\n",
                                 search.attempts.empty() ? "" : ": " + search.attempts.back().infeasible);
    }
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
    CommandLine line(
        "run CONFIG [options]",
        "Runs one pipeline: makes the target, searches the least dimension that meets the criterion, verifies\n"
        "it and writes the run directory. Exit code 0: passed, 1: no dimension of the search passed.",
        {{.name = "CONFIG"}});
    line.options().add_options()("out", po::value<std::string>()->value_name("DIR"),
                                 "the run directory (default: runs/<name>, then runs/<name>-2, ...)")(
        "force", "replace an earlier run at --out")("rows", po::value<std::string>()->value_name("FILE"),
                                                    "write the measures of every row (.csv or .npy)")(
        "json", "one JSON document on standard output");
    add_thread_option(line);
    add_config_options(line);
    if (!line.parse(words)) {
        return 0;
    }
    const std::optional<std::string> rows = line.optional<std::string>("rows");
    runtime::Registry registry = open_registry(line);
    const runtime::PipelineConfig config = runtime::resolve(read_document(line, line.positional("CONFIG")), registry);
    std::optional<std::filesystem::path> out;
    if (line.has("out")) {
        out = line.get<std::string>("out");
    }
    const bool force = line.has("force");
    // Before the work, so that a refusal costs nothing.
    std::filesystem::path directory = experiment::choose_run_directory(out, config.name(), force);
    if (rows) {
        experiment::require_row_table_place(*rows, directory);
    }

    const runtime::PipelineResult result = [&] {
        Progress progress;
        return runtime::run_pipeline(
            config, {.threads = threads(line), .progress = [&](const core::SearchProgress& p) { progress.show(p); }});
    }();
    const nlohmann::ordered_json document = experiment::result_json(config, result);
    const std::vector<std::string> files = [&] {
        while (true) {
            try {
                return experiment::write_run_directory(directory, force, config, result, document);
            } catch (const Error&) {
                // Somebody else may have taken the name meanwhile; the result is worth another one.
                std::error_code ignored;
                if (out || !std::filesystem::exists(directory, ignored)) {
                    throw;
                }
                directory = experiment::choose_run_directory(out, config.name(), force);
            }
        }
    }();
    if (const auto& shown = result.search.found ? result.search.found : result.search.best; rows && shown) {
        experiment::write_row_table(*rows, shown->rows);
    }
    if (line.has("json")) {
        std::cout << experiment::text_of(document) << '\n';
    } else {
        print_outcome(config, result);
        std::cout << fmt::format("\n  files: {}/ ({})\n", directory.string(), fmt::join(files, ", "));
    }
    return result.search.found ? 0 : 1;
}

}  // namespace attnspan::cli
