#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attnspan/core/describe.hpp"
#include "attnspan/core/encode.hpp"
#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/io/matrix_market.hpp"
#include "attnspan/io/npy.hpp"
#include "attnspan/io/npz.hpp"
#include "attnspan/memory.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "session.hpp"
#include "table.hpp"

namespace attnspan::cli {
namespace {

namespace po = boost::program_options;

void require_writable_name(const CommandLine& line, const std::filesystem::path& path) {
    if (path.extension() != ".npy" && path.extension() != ".npz" && path.extension() != ".mtx") {
        line.fail(fmt::format("--write {}: the name must end in .npy, .npz or .mtx", path.string()));
    }
}

void write_target(const std::filesystem::path& path, const SparseMatrix& target) {
    if (path.extension() == ".mtx") {
        io::write_matrix_market(path, target);
        return;
    }
    if (path.extension() == ".npz") {
        io::write_sparse_npz(path, target);
        return;
    }
    require_memory(static_cast<double>(target.rows) * static_cast<double>(target.cols) * sizeof(double),
                   fmt::format("a dense {} x {} array for {} (.npz and .mtx stay sparse)", target.rows, target.cols,
                               path.string()));
    Matrix<double> dense(target.rows, target.cols, 0.0);
    for (Index i = 0; i < target.rows; ++i) {
        for (std::size_t t = 0; t < target.row_columns(i).size(); ++t) {
            dense(i, target.row_columns(i)[t]) = target.row_values(i)[t];
        }
    }
    io::write_npy(path, ConstMatrixView<double>(dense.view()));
}

Index count_invisible(const SparseMatrix& target, const VisibleRanges& visible) {
    Index count = 0;
    for (Index i = 0; i < target.rows; ++i) {
        const auto keys = target.row_columns(i);
        count += std::count_if(keys.begin(), keys.end(), [&](Index key) { return !visible[i].contains(key); });
    }
    return count;
}

CommandLine target_line() {
    CommandLine line("target CONFIG|FILE [options]",
                     "Describes a target: of a configuration (.toml), or of a data file (Matrix Market, .npy, .npz or\n"
                     ".safetensors). Empty rows and rectangles are described without complaint.",
                     {{.name = "CONFIG|FILE"}});
    line.options().add_options()("write", po::value<std::string>()->value_name("FILE"),
                                 "save it (.npy, .mtx, or .npz as SciPy does)")("json",
                                                                                "one JSON document on standard output");
    add_target_options(line);
    return line;
}

int target(const CommandLine& line) {
    const std::optional<std::string> file = line.optional<std::string>("write");
    if (file) {
        require_writable_name(line, *file);
    }
    runtime::Registry registry = open_registry(line);
    NamedTarget named = load_named_target(line, line.positional("CONFIG|FILE"), registry);
    SparseMatrix& weights = named.loaded.generated.weights;
    Facts& facts = named.loaded.generated.facts;
    if (named.loaded.policy.drop_invisible) {
        // Asked for in so many words; empty rows are only described here.
        const TargetPolicy drop{.allow_empty_rows = true, .drop_invisible = true};
        facts.push_back({"invisible_entries_dropped", core::apply_rules(weights, named.loaded.visible, drop)});
    }
    if (const Index invisible = count_invisible(weights, named.loaded.visible); invisible > 0) {
        facts.push_back({"invisible_entries", invisible});
    }
    const core::TargetSummary summary = core::describe(weights);
    if (file) {
        write_target(*file, weights);
    }
    if (line.has("json")) {
        std::cout << experiment::text_of(experiment::target_json(named.name, named.plugin, summary, facts)) << '\n';
    } else {
        print_target(std::cout, summary);
        print_facts(std::cout, facts);
        if (file) {
            std::cout << fmt::format("\n  written to {}\n", *file);
        }
    }
    return 0;
}

}  // namespace

Command target_command() {
    return {.name = "target", .summary = "describe a target, or save it", .line = target_line, .run = target};
}

}  // namespace attnspan::cli
