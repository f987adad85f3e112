#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <attnspan/error.hpp>
#include <attnspan/sparse.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace attnspan::test {

/// A folder of its own for a test, removed with everything in it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "attnspan-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }
    /// Names of everything inside.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            out.push_back(entry.path().filename().string());
        }
        return out;
    }

private:
    std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The Error that `action` must throw.
template <class Action>
Error error_of(const Action& action) {
    try {
        static_cast<void>(action());
    } catch (const Error& error) {
        return error;
    }
    FAIL("nothing was refused");
    return {ErrorKind::usage, ""};
}

inline bool contains(const Error& error, std::string_view part) {
    return std::string_view(error.what()).find(part) != std::string_view::npos;
}

/// The matrix by rows, zeros included.
inline std::vector<double> dense(const SparseMatrix& m) {
    require_well_formed(m, "read");
    std::vector<double> out(static_cast<std::size_t>(m.rows * m.cols), 0.0);
    for (Index i = 0; i < m.rows; ++i) {
        for (std::size_t t = 0; t < m.row_columns(i).size(); ++t) {
            out[static_cast<std::size_t>(i * m.cols + m.row_columns(i)[t])] = m.row_values(i)[t];
        }
    }
    return out;
}

}  // namespace attnspan::test
