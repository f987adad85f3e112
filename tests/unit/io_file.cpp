#include <sys/stat.h>

#include <attnspan/io/file.hpp>
#include <thread>

#include "io_support.hpp"

using namespace attnspan;
using namespace std::string_literals;
using test::contains;

TEST_CASE("a file is read whole, or as far as asked") {
    const test::TemporaryFolder folder;
    const std::string content = "a\0b\r\n"s + std::string(100000, 'x');
    const auto path = folder.write("f", content);
    CHECK(io::read_file(path) == content);
    CHECK(io::read_file(path, 4) == "a\0b\r"s);
    CHECK(io::read_file(folder.write("empty", "")).empty());
}

TEST_CASE("a pipe is read to its end") {
    const test::TemporaryFolder folder;
    const auto path = folder / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const std::string content(300000, 'y');
    std::thread writer([&] { std::ofstream(path) << content; });
    CHECK(io::read_file(path) == content);
    writer.join();
}

TEST_CASE("what cannot be read is a resource error with the system's reason") {
    const test::TemporaryFolder folder;
    const Error missing = test::error_of([&] { return io::read_file(folder / "none"); });
    CHECK(missing.kind() == ErrorKind::resource);
    CHECK(missing.where().source == (folder / "none").string());
    CHECK(contains(missing, "No such file"));
    const Error directory = test::error_of([&] { return io::read_file(folder / ""); });
    CHECK(directory.kind() == ErrorKind::resource);
    CHECK(contains(directory, "directory"));
}

TEST_CASE("content is described by its first bytes") {
    struct Case {
        std::string bytes;
        std::string part;
    };
    const std::vector<Case> cases{
        {"", "empty"},
        {"\n \n", "white space"},
        {"PK\3\4....", ".npz"},
        {"\x1f\x8b\x08", "gunzip"},
        {"BZh91AY", "bzip2"},
        {"\xfd"
         "7zXZ",
         "xz"},
        {"\x28\xb5\x2f\xfd", "zstd"},
        {"\x89HDF\r\n", "HDF5"},
        {"\x89PNG\r\n", "PNG"},
        {"MATLAB 5.0 MAT-file", "MATLAB"},
        {"\x80\x04\x95", "pickle"},
        {"version https://git-lfs.github.com/spec/v1", "git lfs pull"},
        {"\x93NUMPY\1", ".npy"},
        {"%%MatrixMarket matrix", "Matrix Market"},
        {"\n<!DOCTYPE html>", "HTML"},
        {"{\"a\": 1}", "JSON"},
        {"\x40\0\0\0\0\0\0\0{\"w\":"s, "safetensors"},
        {"35\t1033\n35\t103482\n", "text that begins with \"35?1033\""},
        {"\1\2\3\4", "binary"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.part);
        CHECK(io::describe_content(c.bytes).find(c.part) != std::string::npos);
    }
}
