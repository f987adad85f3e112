#include "attnspan/io/atomic.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ostream>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "detail.hpp"

namespace attnspan::io {
namespace {

namespace fs = std::filesystem;

/// Makes something under a name in `folder` that nothing had yet. `make` answers like open(2): negative with errno.
/// Returns the name and the answer.
template <class Make>
std::pair<fs::path, int> make_temporary(const fs::path& folder, const fs::path& wanted_for, const Make& make) {
    const std::string stem = ".attnspan-" + std::to_string(::getpid()) + '-';
    for (int n = 0;; ++n) {
        fs::path name = folder / (stem + std::to_string(n) + ".tmp");
        const int answer = make(name.c_str());
        if (answer >= 0) {
            return {std::move(name), answer};
        }
        if (errno != EEXIST) {
            detail::fail_system("write", wanted_for, errno);
        }
    }
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A temporary file being written, as the buffer of a stream. Failures are thrown, and pass through a stream whose
/// exceptions() hold badbit.
class TemporaryFile : public std::streambuf {
public:
    explicit TemporaryFile(const fs::path& final_path) : final_(final_path), buffer_(std::size_t{1} << 16) {
        std::tie(name_, fd_) = make_temporary(folder_of(final_path), final_path, [](const char* name) {
            return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        });
        setp(buffer_.data(), buffer_.data() + buffer_.size());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() override {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        if (!name_.empty()) {
            ::unlink(name_.c_str());
        }
    }

    void finish() {
        sync();
        if (::fsync(fd_) != 0 || ::close(std::exchange(fd_, -1)) != 0 || ::rename(name_.c_str(), final_.c_str()) != 0) {
            detail::fail_system("write", final_, errno);
        }
        name_.clear();
    }

private:
    int_type overflow(int_type c) override {
        sync();
        return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                               : sputc(traits_type::to_char_type(c));
    }

    int sync() override {
        for (const char* from = pbase(); from != pptr();) {
            const ssize_t written = ::write(fd_, from, static_cast<std::size_t>(pptr() - from));
            if (written < 0 && errno != EINTR) {
                detail::fail_system("write", final_, errno);
            }
            from += std::max<ssize_t>(written, 0);
        }
        setp(buffer_.data(), buffer_.data() + buffer_.size());
        return 0;
    }

    const fs::path& final_;
    std::vector<char> buffer_;
    fs::path name_;
    int fd_ = -1;
};

/// What stands at a path, links not followed.
fs::file_status look_at(const fs::path& path) {
    std::error_code error;
    const fs::file_status found = fs::symlink_status(path, error);
    if (found.type() == fs::file_type::none) {
        detail::fail_system("look at", path, error.value());
    }
    return found;
}

/// rename(2) that never takes the place of anything. False, with errno, when it fails.
bool rename_to_new(const fs::path& from, const fs::path& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
        return true;
    }
    // Some file systems do not know the flag.
    if (errno != EINVAL && errno != ENOSYS) {
        return false;
    }
    if (fs::exists(look_at(to))) {
        errno = EEXIST;
        return false;
    }
    return ::rename(from.c_str(), to.c_str()) == 0;
}

[[noreturn]] void fail_exists(const fs::path& path, const std::string& remedy) {
    throw Error(ErrorKind::resource, "already exists; " + remedy, {.source = path.string()});
}

}  // namespace

void write_file_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
    TemporaryFile file(path);
    std::ostream out(&file);
    out.exceptions(std::ios::badbit | std::ios::failbit);
    write(out);
    file.finish();
}

StagedDirectory::StagedDirectory(fs::path final_path, bool replace)
    : final_(final_path.has_filename() ? std::move(final_path) : final_path.parent_path()), replace_(replace) {
    const fs::file_status found = look_at(final_);
    if (fs::exists(found) && !replace_) {
        fail_exists(final_, "choose another folder or allow this one to be replaced");
    }
    if (fs::exists(found) && !fs::is_directory(found)) {
        fail_exists(final_, "it is not a folder and will not be replaced; choose another name");
    }
    std::error_code error;
    if (fs::create_directories(folder_of(final_), error); error) {
        detail::fail_system("make the folder", folder_of(final_), error.value());
    }
    stage_ = make_temporary(folder_of(final_), final_, [](const char* name) { return ::mkdir(name, 0777); }).first;
}

StagedDirectory::~StagedDirectory() {
    if (!committed_) {
        std::error_code ignored;
        fs::remove_all(stage_, ignored);
    }
}

void StagedDirectory::commit() {
    fs::path aside;
    if (replace_ && fs::is_directory(look_at(final_))) {
        aside = fs::path(stage_) += ".old";
        if (!rename_to_new(final_, aside)) {
            detail::fail_system("move aside", final_, errno);
        }
    }
    if (!rename_to_new(stage_, final_)) {
        const int reason = errno;
        if (!aside.empty() && ::rename(aside.c_str(), final_.c_str()) != 0) {
            detail::fail_system("put back the folder that now is " + aside.string() + " to", final_, errno);
        }
        detail::fail_system("rename " + stage_.string() + " to", final_, reason);
    }
    committed_ = true;
    if (!aside.empty()) {
        std::error_code error;
        if (fs::remove_all(aside, error); error) {
            detail::fail_system("remove the replaced folder", aside, error.value());
        }
    }
}

}  // namespace attnspan::io
