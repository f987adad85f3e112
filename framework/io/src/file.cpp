#include "attnspan/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "attnspan/io/safetensors.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"

namespace attnspan::io {
namespace {

struct Descriptor {
    int fd;
    explicit Descriptor(int opened) : fd(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { ::close(fd); }
};

struct Signature {
    std::string_view start;
    std::string_view meaning;
};

using namespace std::string_view_literals;
constexpr std::array signatures{
    Signature{"PK\3\4"sv, "a zip archive, as .npz files are"sv},
    Signature{"\x1f\x8b"sv, "a gzip file; gunzip it first"sv},
    Signature{"BZh"sv, "a bzip2 file; bunzip2 it first"sv},
    Signature{"\xfd"
              "7zXZ"sv,
              "an xz file; unxz it first"sv},
    Signature{"\x28\xb5\x2f\xfd"sv, "a zstd file; unzstd it first"sv},
    Signature{"\x89HDF"sv, "an HDF5 file; export the array as .npy"sv},
    Signature{"\x89PNG"sv, "a PNG image"sv},
    Signature{"MATLAB"sv, "a MATLAB file; export the matrix as Matrix Market or .npy"sv},
    Signature{"\x80\x02"sv, "a Python pickle, which is never unpickled here; numpy.save the array"sv},
    Signature{"\x80\x03"sv, "a Python pickle, which is never unpickled here; numpy.save the array"sv},
    Signature{"\x80\x04"sv, "a Python pickle, which is never unpickled here; numpy.save the array"sv},
    Signature{"\x80\x05"sv, "a Python pickle, which is never unpickled here; numpy.save the array"sv},
    Signature{"version https://git-lfs"sv, "a pointer of Git LFS, not the file itself; run git lfs pull"sv},
    Signature{"\x93NUMPY"sv, "a .npy array"sv},
    Signature{"%%MatrixMarket"sv, "a Matrix Market file"sv},
    Signature{"<"sv, "an HTML or XML page; perhaps a download that failed"sv},
    Signature{"{"sv, "JSON text; export the matrix as .npy"sv},
};

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t limit) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
        detail::fail_system("open", path, errno);
    }
    // One byte more than the size, so that the end of an ordinary file is seen without growing.
    std::size_t room = S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) + 1 : std::size_t{1} << 16;
    std::string bytes;
    for (std::size_t used = 0;;) {
        room = std::min(room, limit);
        require_memory(static_cast<double>(room), path.string());
        bytes.resize(room);
        while (used < room) {
            const ssize_t got = ::read(file.fd, bytes.data() + used, room - used);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0) {
                detail::fail_system("read", path, errno);
            }
            if (got == 0) {
                bytes.resize(used);
                return bytes;
            }
            used += static_cast<std::size_t>(got);
        }
        if (used == limit) {
            return bytes;
        }
        room *= 2;
    }
}

std::string describe_content(std::string_view bytes) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return bytes.empty() ? "an empty file" : "a file of nothing but white space";
    }
    for (const Signature& s : signatures) {
        if (bytes.substr(first).starts_with(s.start)) {
            return std::string(s.meaning);
        }
    }
    if (is_safetensors(bytes)) {
        return "a safetensors file";
    }
    const std::string_view head = bytes.substr(0, 512);
    const bool is_text = std::ranges::none_of(
        head, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r' && c != '\n'; });
    return is_text ? "text that begins with " + detail::quoted(bytes.substr(first, bytes.find('\n', first) - first))
                   : "binary data of an unknown kind";
}

}  // namespace attnspan::io
