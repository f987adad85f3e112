#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/experiment/row_table.hpp"
#include "attnspan/experiment/run_directory.hpp"
#include "attnspan/experiment/terminal_map.hpp"
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

/// The last dimension that a search tries.
Index last_dimension(const core::SearchPlan& plan) {
    return plan.dimension(plan.count() - 1);
}

std::string passed_samples(const core::PassCount& count) {
    return fmt::format("{} of {} (95% interval of the probability: {} to {})", count.passed, count.samples,
                       text(count.lower), text(count.upper));
}

/// What standard output can show.
struct TerminalLook {
    Index columns = 100;
    experiment::TerminalColours colours = experiment::TerminalColours::none;
};

Limits limits_of(const runtime::PipelineConfig& config) {
    const Parameters& p = config.criterion.parameters;
    return {.ratio = p.real("ratio"),
            .leakage = p.real("leakage"),
            .total_variation = p.has("total_variation") ? std::optional(p.real("total_variation")) : std::nullopt};
}

double total_seconds(const runtime::PipelineResult& result) {
    double total = 0;
    for (const auto& [stage, time] : result.seconds) {
        total += time;
    }
    return total;
}

/// What holds for the run as a whole.
void print_summary(const runtime::PipelineConfig& config, const runtime::PipelineResult& result) {
    std::cout << fmt::format("{}: {}\n\n", config.name(), result.query_dim ? "passed" : "not passed");
    std::vector<std::vector<std::string>> rows;
    std::size_t attempts = 0;
    for (const runtime::TargetResult& target : result.targets) {
        attempts += target.search.attempts.size();
    }
    rows.push_back({"query dimension m", result.query_dim ? both(*result.query_dim)
                                                          : fmt::format("none up to {}", last_dimension(result.plan))});
    if (result.bound) {
        rows.push_back({"bound on m", result.bound->query_dim
                                          ? fmt::format("{} with probability {}", both(*result.bound->query_dim),
                                                        text(1 - result.bound->failure_probability))
                                          : std::string("no finite bound")});
    } else {
        rows.push_back({"bound on m", "none known for this scheme"});
    }
    rows.push_back({"trivial m", both(result.trivial_query_dim)});
    if (result.targets.size() == 1) {
        const core::TargetSummary& a = result.targets.front().summary;
        rows.push_back({"target", fmt::format("{}: {} x {}, {} nonzeros, at most {} per row, variation {}",
                                              result.targets.front().name, a.rows, a.cols, a.nonzeros,
                                              a.max_row_nonzeros, text(a.variation))});
    }
    rows.push_back({"search", fmt::format("{} attempts, {} s", attempts, text(total_seconds(result)))});
    if (const auto& count = result.targets.front().search.pass_count; count && result.targets.size() == 1) {
        rows.push_back({"samples passed", passed_samples(*count)});
    }
    print_table(std::cout, rows, false);
}

/// The one target, in full.
void print_target_result(const runtime::PipelineConfig& config, const runtime::TargetResult& target) {
    if (!target.facts.empty()) {
        std::cout << "\n";
        print_facts(std::cout, target.facts);
    }
    if (const core::Solution* shown = target.solution()) {
        std::cout << (target.search.found
                          ? "\n"
                          : fmt::format("\n  best attempt: m = {}, sample {}\n", shown->query_dim, shown->sample));
        print_measures(std::cout, shown->measures, limits_of(config));
        print_facts(std::cout, shown->facts);
    } else {
        std::cout << fmt::format("\n  no attempt was feasible{}\n",
                                 target.search.attempts.empty() ? "" : ": " + target.search.attempts.back().infeasible);
    }
}

/// Several targets, a line for each, with the digest of the weights that it is met with.
void print_targets(const runtime::PipelineResult& result, const nlohmann::ordered_json& document) {
    const auto short_digest = [&](std::size_t t, const char* weights) {
        constexpr std::size_t shown = 8;
        return document["targets"][t]["weights_sha256"][weights].get<std::string>().substr(0, shown);
    };
    std::vector<std::vector<std::string>> rows{{"target", "size", "nonzeros", "k", "variation", "m alone", "sample",
                                                "ratio", "leakage", "total variation", "W_Q", "W_K"}};
    for (std::size_t t = 0; t < result.targets.size(); ++t) {
        const runtime::TargetResult& target = result.targets[t];
        const core::TargetSummary& a = target.summary;
        const core::Solution* shown = target.solution();
        std::vector<std::string> row{target.name,
                                     fmt::format("{} x {}", a.rows, a.cols),
                                     std::to_string(a.nonzeros),
                                     std::to_string(a.max_row_nonzeros),
                                     text(a.variation),
                                     target.search.alone ? std::to_string(*target.search.alone) : "none"};
        if (shown != nullptr) {
            row.insert(row.end(),
                       {std::to_string(shown->sample), text(std::expm1(shown->measures.log_ratio)),
                        text(std::exp(shown->measures.log_leakage)), text(shown->measures.total_variation_max)});
        }
        if (result.query_dim) {
            row.insert(row.end(), {short_digest(t, "W_Q"), short_digest(t, "W_K")});
        }
        rows.push_back(std::move(row));
    }
    std::cout << '\n';
    print_table(std::cout, rows, true);
    if (result.query_dim) {
        std::cout << fmt::format(
            "\n  The weights never changed: the same W_Q and W_K meet all {} targets, each with an X "
            "of its own.\n  Their SHA-256 begins as shown beside each row; result.json has it "
            "whole.\n",
            result.targets.size());
    } else {
        std::cout << "\n  The measures are those of the best attempt of each target; no one m passes for all.\n";
    }
}

TerminalLook terminal_look() {
    TerminalLook look;
    if (isatty(STDOUT_FILENO) != 1) {
        return look;
    }
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): main thread
        return std::string_view(value == nullptr ? "" : value);
    };
    if (winsize size{}; ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        look.columns = size.ws_col;
    }
    const std::string_view depth = variable("COLORTERM");
    const std::string_view terminal = variable("TERM");
    if (!variable("NO_COLOR").empty() || terminal == "dumb") {
        return look;
    }
    look.colours = depth == "truecolor" || depth == "24bit"              ? experiment::TerminalColours::rgb
                   : terminal.find("256color") != std::string_view::npos ? experiment::TerminalColours::indexed_256
                                                                         : experiment::TerminalColours::none;
    return look;
}

void show_maps(const runtime::PipelineResult& result, runtime::HeatMaps scale) {
    const TerminalLook look = terminal_look();
    for (const runtime::TargetResult& target : result.targets) {
        if (target.maps) {
            std::cout << fmt::format("\n  {}, {} x {}\n", target.name, target.maps->queries, target.maps->keys);
            experiment::draw_in_terminal(
                std::cout, *target.maps,
                {*target.maps, scale == runtime::HeatMaps::none ? runtime::HeatMaps::logarithmic : scale}, look.columns,
                look.colours);
        }
    }
}

/// "rows.csv", or "rows-<target>.csv" where there are several targets.
void write_rows(const std::filesystem::path& file, const runtime::PipelineResult& result) {
    for (const runtime::TargetResult& target : result.targets) {
        if (const core::Solution* shown = target.solution()) {
            experiment::write_row_table(
                file.parent_path() /
                    experiment::array_name(result, target, file.stem().string(), file.extension().string()),
                shown->rows);
        }
    }
}

CommandLine run_line() {
    CommandLine line(
        "run CONFIG [options]",
        "Runs one pipeline: makes the target, searches the least dimension that meets the criterion, verifies\n"
        "it and writes the run directory. Exit code 0: passed, 1: no dimension of the search passed.",
        {{.name = "CONFIG"}});
    line.options().add_options()("out", po::value<std::string>()->value_name("DIR"),
                                 "the run directory (default: runs/<name>, then runs/<name>-2, ...)")(
        "force", "replace an earlier run at --out")("rows", po::value<std::string>()->value_name("FILE"),
                                                    "write the measures of every row (.csv or .npy)")(
        "show", "draw A and P on standard output")("json", "one JSON document on standard output");
    add_thread_option(line);
    add_config_options(line);
    return line;
}

int run(const CommandLine& line) {
    if (line.has("show") && line.has("json")) {
        line.fail("--show and --json exclude each other");
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

    const runtime::ExportPlan exports = config.export_plan();
    const bool wants_maps = exports.heat_maps != runtime::HeatMaps::none || line.has("show");
    const runtime::PipelineResult result = [&] {
        Progress progress;
        return runtime::run_pipeline(config, {.threads = threads(line),
                                              .progress = [&](const core::SearchProgress& p) { progress.show(p); },
                                              .map_cells = wants_maps ? exports.heat_map_pixels : 0});
    }();
    nlohmann::ordered_json document = experiment::result_json(config, result);
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
    if (rows) {
        write_rows(*rows, result);
    }
    if (line.has("json")) {
        std::cout << experiment::text_of(document) << '\n';
    } else {
        print_summary(config, result);
        if (result.targets.size() == 1) {
            print_target_result(config, result.targets.front());
        } else {
            print_targets(result, document);
        }
        if (line.has("show")) {
            show_maps(result, exports.heat_maps);
        }
        std::cout << fmt::format("\n  files: {}/ ({})\n", directory.string(), fmt::join(files, ", "));
    }
    return result.query_dim ? 0 : 1;
}

}  // namespace

Command run_command() {
    return {.name = "run",
            .summary = "one pipeline: find (or test) the dimension, write the run directory",
            .line = run_line,
            .run = run};
}

}  // namespace attnspan::cli
