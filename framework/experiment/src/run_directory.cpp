#include "attnspan/experiment/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "attnspan/error.hpp"
#include "attnspan/experiment/result_json.hpp"
#include "attnspan/io/atomic.hpp"
#include "attnspan/io/npy.hpp"

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

std::vector<std::string> write_run_directory(const fs::path& directory, bool force,
                                             const runtime::PipelineConfig& config,
                                             const runtime::PipelineResult& result,
                                             const nlohmann::ordered_json& document) {
    io::StagedDirectory stage(directory, force);
    std::vector<std::string> files{"result.json", "config.toml"};
    io::write_file_atomically(stage.path() / files[0], [&](std::ostream& out) { out << text_of(document) << '\n'; });
    io::write_file_atomically(stage.path() / files[1], [&](std::ostream& out) {
        out << "# Reproduces this run: attnspan run config.toml\n\n" << runtime::to_toml(config);
    });
    if (const auto& found = result.search.found) {
        const auto write = [&](const std::string& name, const Matrix<double>& matrix) {
            io::write_npy(stage.path() / name, matrix.view());
            files.push_back(name);
        };
        write("X.npy", side_by_side(found->x1, found->x2));
        write("W_Q.npy", selection(found->query_dim, 0));
        write("W_K.npy", selection(found->query_dim, found->query_dim));
    }
    stage.commit();
    return files;
}

}  // namespace attnspan::experiment
