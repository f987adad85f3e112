#include "attnspan/experiment/row_table.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <system_error>

#include "attnspan/error.hpp"
#include "attnspan/experiment/run_directory.hpp"
#include "attnspan/io/atomic.hpp"
#include "attnspan/io/npy.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::experiment {

namespace {

void require_known_ending(const std::filesystem::path& path) {
    if (path.extension() != ".csv" && path.extension() != ".npy") {
        throw Error(ErrorKind::usage, fmt::format("--rows {}: the name must end in .csv or .npy", path.string()));
    }
}

}  // namespace

void require_row_table_place(const std::filesystem::path& path, const std::filesystem::path& run_directory) {
    namespace fs = std::filesystem;
    require_known_ending(path);
    const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
    if (!run_directory.empty() && folder == fs::absolute(run_directory).lexically_normal()) {
        const std::string name = path.filename().string();
        if (name == "X.npy" || name == "W_Q.npy" || name == "W_K.npy" || name.starts_with("X-")) {
            throw Error(ErrorKind::usage,
                        fmt::format("--rows {}: the run writes a file of that name; choose another", path.string()));
        }
        return;
    }
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) {
        throw Error(ErrorKind::resource,
                    fmt::format("--rows {}: there is no folder {}", path.string(), folder.string()));
    }
    require_writable_parent(path, fmt::format("--rows {}", path.string()));
}

void write_row_table(const std::filesystem::path& path, const std::vector<core::RowMeasures>& rows) {
    require_known_ending(path);
    if (path.extension() == ".npy") {
        Matrix<double> table(static_cast<Index>(rows.size()), 6);
        for (Index i = 0; i < table.rows(); ++i) {
            const core::RowMeasures& m = rows[static_cast<std::size_t>(i)];
            const std::array<double, 6> line{static_cast<double>(i), m.log_ratio,
                                             m.log_leakage,          static_cast<double>(m.leakage_key),
                                             m.total_variation,      m.support_mass};
            for (Index c = 0; c < 6; ++c) {
                table(i, c) = line[static_cast<std::size_t>(c)];
            }
        }
        io::write_npy(path, ConstMatrixView<double>(table.view()));
        return;
    }
    io::write_file_atomically(path, [&](std::ostream& out) {
        out << "row,log_ratio,log_leakage,leakage_key,total_variation,support_mass\n";
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const core::RowMeasures& m = rows[i];
            out << fmt::format("{},{},{},{},{},{}\n", i, m.log_ratio, m.log_leakage, m.leakage_key, m.total_variation,
                               m.support_mass);
        }
    });
}

}  // namespace attnspan::experiment
