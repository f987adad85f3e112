#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace attnspan::io {

/// Writes a file that is there whole or not at all: `write` fills a temporary file in the same folder, which is flushed
/// to the disk and renamed over `path`. Whatever `write` throws passes through; the temporary file is gone then.
/// @throws Error(resource) with the system's reason
void write_file_atomically(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// A folder that appears whole or not at all: files are written below path(), a temporary folder beside the final one,
/// and commit() gives it its name. Without a commit the destructor removes it.
class StagedDirectory {
public:
    /// Makes the temporary folder, and the parents of the final one where they are missing. `replace` allows commit()
    /// to take the place of an existing folder, which is removed with everything in it.
    /// @throws Error(resource) with the system's reason, or when the final path exists and may not be replaced
    explicit StagedDirectory(std::filesystem::path final_path, bool replace = false);
    StagedDirectory(const StagedDirectory&) = delete;
    StagedDirectory& operator=(const StagedDirectory&) = delete;
    ~StagedDirectory();

    [[nodiscard]] const std::filesystem::path& path() const { return stage_; }

    /// Once, when everything is written. On failure the folder that stood at the final path still stands there.
    /// @throws Error(resource) with the system's reason, or when the final path has come to exist meanwhile
    void commit();

private:
    std::filesystem::path final_;
    std::filesystem::path stage_;
    bool replace_;
    bool committed_ = false;
};

}  // namespace attnspan::io
