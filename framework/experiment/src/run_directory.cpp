#include "attnspan/experiment/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>
#include <utility>

#include "attnspan/error.hpp"
#include "attnspan/experiment/heat_map.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/io/atomic.hpp"
#include "attnspan/io/digest.hpp"
#include "attnspan/io/npy.hpp"
#include "attnspan/io/png.hpp"
#include "attnspan/io/safetensors.hpp"

namespace attnspan::experiment {
namespace fs = std::filesystem;
namespace {

/// X = [X1 X2].
Matrix<double> side_by_side(const Matrix<double>& x1, const Matrix<double>& x2) {
    Matrix<double> x(x1.rows(), x1.cols() + x2.cols());
    std::copy_n(x1.data(), static_cast<std::size_t>(x1.rows() * x1.cols()), x.data());
    std::copy_n(x2.data(), static_cast<std::size_t>(x2.rows() * x2.cols()), x.view().column(x1.cols()));
    return x;
}

/// The 2m x m matrix with the identity in rows [first, first + m).
Matrix<double> selection(Index m, Index first) {
    Matrix<double> w(2 * m, m, 0.0);
    for (Index c = 0; c < m; ++c) {
        w(first + c, c) = 1.0;
    }
    return w;
}

/// The files of a run as they are written, and what result.json says of them.
class RunFiles {
public:
    RunFiles(fs::path directory, runtime::WeightsFormat format, nlohmann::ordered_json& document)
        : directory_(std::move(directory)), format_(format), document_(document) {}

    /// W_Q and W_K of section 3.4, which depend on nothing but m.
    void add_weights(Index query_dim) {
        for (const auto& [name, first] : {std::pair("W_Q", Index{0}), std::pair("W_K", query_dim)}) {
            Matrix<double> w = selection(query_dim, first);
            // Of the file, as sha256sum prints it; or of the tensor's data, for the file holds the inputs as well.
            const bool is_file = format_ == runtime::WeightsFormat::npy;
            const std::string of_data = is_file ? std::string() : io::sha256_of_rows(w.view());
            const std::string place = add_array(name, std::move(w));
            const std::string digest = is_file ? io::sha256_of_file(directory_ / place) : of_data;
            weights_[name] = {{"file", place}, {"sha256", digest}};
        }
        document_["weights"] = weights_;
    }
    /// X of a target, and the weights that it goes with.
    void add_input(std::size_t target, const std::string& name, const core::Solution& found) {
        nlohmann::ordered_json& entry = document_["targets"][target];
        entry["logit_scale"] = found.logit_scale;
        entry["files"]["X"] = add_array(name, side_by_side(found.x1, found.x2));
        entry["weights_sha256"] = {{"W_Q", weights_["W_Q"]["sha256"]}, {"W_K", weights_["W_K"]["sha256"]}};
    }
    /// After the last array.
    void finish_arrays() {
        if (tensors_.empty()) {
            return;
        }
        std::vector<io::NamedMatrix> named;
        for (const auto& [name, matrix] : tensors_) {
            named.push_back({.name = name, .matrix = matrix.view()});
        }
        io::write_safetensors(directory_ / tensor_file, named);
        names_.emplace_back(tensor_file);
        tensors_.clear();
    }
    void add_heat_maps(std::size_t target, const std::string& file, const core::AttentionMaps& maps,
                       const runtime::ExportPlan& plan) {
        const HeatScale scale(maps, plan.heat_maps);
        io::write_png(directory_ / file, heat_maps_image(maps, scale, plan.heat_map_pixels),
                      {{"Title", "attention: A, P, P - A"},
                       {"Description", fmt::format("target A with rows divided by their sums, attention P, and P - A; "
                                                   "{} queries x {} keys; colours {}; grey: invisible",
                                                   maps.queries, maps.keys, scale.description())},
                       {"Software", "attnspan"}});
        names_.push_back(file);
        document_["targets"][target]["files"]["heat_maps"] = file;
    }
    /// result.json, which is complete now, and config.toml.
    void add_texts(const std::string& config) {
        const auto write = [&](const std::string& file, const std::string& text) {
            io::write_file_atomically(directory_ / file, [&](std::ostream& out) { out << text; });
        };
        write("config.toml", "# Reproduces this run: attnspan run config.toml\n\n" + config);
        write("result.json", text_of(document_) + '\n');
        names_.insert(names_.begin(), {"result.json", "config.toml"});
    }

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
    static constexpr const char* tensor_file = "weights.safetensors";

    /// Where the array is, as `verify` takes it.
    std::string add_array(const std::string& name, Matrix<double> matrix) {
        if (format_ == runtime::WeightsFormat::safetensors) {
            tensors_.emplace_back(name, std::move(matrix));
            return std::string(tensor_file) + ':' + name;
        }
        names_.push_back(name + ".npy");
        io::write_npy(directory_ / names_.back(), ConstMatrixView<double>(matrix.view()));
        return names_.back();
    }

    fs::path directory_;
    runtime::WeightsFormat format_;
    nlohmann::ordered_json& document_;
    nlohmann::ordered_json weights_;
    std::vector<std::pair<std::string, Matrix<double>>> tensors_;  ///< that wait for their one file
    std::vector<std::string> names_;
};

}  // namespace

void require_writable_parent(const fs::path& path, const std::string& what) {
    std::error_code ignored;
    fs::path parent = fs::absolute(path).lexically_normal().parent_path();
    while (!fs::exists(parent, ignored) && parent.has_relative_path()) {
        parent = parent.parent_path();
    }
    if (!fs::is_directory(parent, ignored)) {
        throw Error(ErrorKind::resource, fmt::format("{}: {} is no folder", what, parent.string()));
    }
    if (access(parent.c_str(), W_OK | X_OK) != 0) {
        throw Error(ErrorKind::resource, fmt::format("{}: the folder {} cannot be written to: {}", what,
                                                     parent.string(), std::generic_category().message(errno)));
    }
}

fs::path choose_run_directory(const std::optional<fs::path>& out, const std::string& name, bool force) {
    std::error_code ignored;
    if (out) {
        if (out->empty()) {
            throw Error(ErrorKind::usage, "--out is empty; name a folder");
        }
        // "runs/a/" names runs/a
        fs::path path = out->has_filename() ? *out : out->parent_path();
        require_writable_parent(path, fmt::format("--out {}", path.string()));
        if (!fs::exists(fs::symlink_status(path, ignored))) {
            return path;
        }
        if (path == "." || path == ".." || fs::is_symlink(path, ignored)) {
            throw Error(ErrorKind::resource, fmt::format("--out {}: a link or the working directory itself cannot be "
                                                         "replaced; name the folder",
                                                         path.string()));
        }
        if (!force) {
            throw Error(ErrorKind::resource,
                        fmt::format("--out {}: it exists; choose another name, or --force to replace an earlier run",
                                    path.string()));
        }
        const bool empty = fs::is_directory(path, ignored) && fs::is_empty(path, ignored);
        if (!empty && !fs::is_regular_file(path / "result.json", ignored)) {
            throw Error(ErrorKind::resource,
                        fmt::format("--out {}: --force replaces earlier runs only, and this holds no result.json",
                                    path.string()));
        }
        return path;
    }
    const fs::path base = fs::path("runs") / name;
    require_writable_parent(base, fmt::format("run directory {}", base.string()));
    fs::path path = base;
    for (int n = 2; fs::exists(fs::symlink_status(path, ignored)); ++n) {
        path = fmt::format("{}-{}", base.string(), n);
    }
    return path;
}

std::string array_name(const runtime::PipelineResult& result, const runtime::TargetResult& target,
                       const std::string& stem, const std::string& ending) {
    return stem + (result.targets.size() > 1 ? '-' + target.name : std::string()) + ending;
}

std::vector<std::string> write_run_directory(const fs::path& directory, bool force,
                                             const runtime::PipelineConfig& config,
                                             const runtime::PipelineResult& result, nlohmann::ordered_json& document) {
    io::StagedDirectory stage(directory, force);
    const runtime::ExportPlan plan = config.export_plan();
    RunFiles files(stage.path(), plan.weights, document);
    if (result.query_dim) {
        files.add_weights(*result.query_dim);
    }
    for (std::size_t t = 0; t < result.targets.size(); ++t) {
        const runtime::TargetResult& target = result.targets[t];
        if (const auto& found = target.search.found) {
            files.add_input(t, array_name(result, target, "X", ""), *found);
        }
        if (target.maps && plan.heat_maps != runtime::HeatMaps::none) {
            files.add_heat_maps(t, array_name(result, target, "attention", ".png"), *target.maps, plan);
        }
    }
    files.finish_arrays();
    files.add_texts(runtime::to_toml(config));
    stage.commit();
    return files.names();
}

}  // namespace attnspan::experiment
