#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "attnspan/runtime/entry.hpp"

namespace loader_test {

namespace fs = std::filesystem;

/// A folder of the test's own that everyone may enter, removed at the end.
class Folder {
public:
    Folder() : path_((fs::temp_directory_path() / "attnspan-test-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw std::runtime_error("no temporary folder");
        }
        path_ = fs::canonical(path_).string();
        fs::permissions(path_, fs::perms{0755});
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { fs::remove_all(path_); }

    [[nodiscard]] fs::path operator/(std::string_view name) const { return fs::path(path_) / name; }
    [[nodiscard]] fs::path path() const { return path_; }

private:
    std::string path_;
};

/// The library built from tests/plugins/broken/<name>.cpp.
inline fs::path built(std::string_view name) {
    const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
    return bin.parent_path() / "tests" / "broken-plugins" / ("mode-test." + std::string(name) + ".so");
}

inline std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes the file anew, and returns its path.
inline fs::path write(const fs::path& file, std::string_view bytes) {
    fs::remove(file);
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
}

/// The failure that the answer is; another test has failed when it is none.
template <class T>
attnspan::runtime::LoadFailure failure_in(const std::variant<T, attnspan::runtime::LoadFailure>& answer) {
    if (const auto* failure = std::get_if<attnspan::runtime::LoadFailure>(&answer)) {
        return *failure;
    }
    return {.file = {}, .stage = "none", .reason = "it was accepted"};
}

inline bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace loader_test
