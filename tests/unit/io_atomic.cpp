#include <sys/resource.h>

#include <attnspan/io/atomic.hpp>
#include <csignal>
#include <ostream>
#include <stdexcept>

#include "io_support.hpp"

using namespace attnspan;
using test::contains;

namespace {

/// While it lives, no file can grow beyond `bytes`: write(2) answers EFBIG, as a full disk answers ENOSPC.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    void (*handler_)(int);
    rlimit before_{};
};

}  // namespace

TEST_CASE("a file written atomically holds what was written and leaves nothing beside it") {
    const test::TemporaryFolder folder;
    const auto path = folder.write("out", "old");
    const std::string large(200000, 'z');
    io::write_file_atomically(path, [&](std::ostream& out) {
        out << large << 1 << '\n';
        CHECK(test::bytes_of(path) == "old");
    });
    CHECK(test::bytes_of(path) == large + "1\n");
    CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("an exception while writing keeps the old file and removes the new one") {
    const test::TemporaryFolder folder;
    const auto path = folder.write("out", "old");
    CHECK_THROWS_AS(io::write_file_atomically(path,
                                              [](std::ostream& out) {
                                                  out << "new";
                                                  throw std::logic_error("stop");
                                              }),
                    std::logic_error);
    CHECK(test::bytes_of(path) == "old");
    CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("a write that fails is an error with the system's reason, and no partial file") {
    const test::TemporaryFolder folder;
    for (const std::size_t size : {std::size_t{5000}, std::size_t{1} << 20}) {
        const Error error = test::error_of([&] {
            const FileSizeLimit limit(4096);
            io::write_file_atomically(folder / "out", [&](std::ostream& out) { out << std::string(size, 'x'); });
        });
        CHECK(error.kind() == ErrorKind::resource);
        CHECK(contains(error, "File too large"));
        CHECK(error.where().source == (folder / "out").string());
        CHECK(folder.names().empty());
    }
}

TEST_CASE("a folder that does not exist, or in the place of the file, is an error") {
    const test::TemporaryFolder folder;
    const auto write = [](const std::filesystem::path& path) {
        return test::error_of([&] { io::write_file_atomically(path, [](std::ostream& out) { out << 1; }); });
    };
    CHECK(contains(write(folder / "none/out"), "No such file"));
    std::filesystem::create_directory(folder / "taken");
    CHECK(contains(write(folder / "taken"), "directory"));
    CHECK(folder.names() == std::vector<std::string>{"taken"});
}

TEST_CASE("a staged folder appears at its name with the commit, with missing parents") {
    const test::TemporaryFolder folder;
    const auto final_path = folder / "runs/first";
    {
        io::StagedDirectory stage(final_path);
        (void)std::ofstream(stage.path() / "result").put('r');
        CHECK_FALSE(std::filesystem::exists(final_path));
        CHECK(stage.path().parent_path() == final_path.parent_path());
        stage.commit();
    }
    CHECK(test::bytes_of(final_path / "result") == "r");
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "runs"), {}) == 1);
}

TEST_CASE("a stage that is not committed leaves nothing") {
    const test::TemporaryFolder folder;
    {
        const io::StagedDirectory stage(folder / "run/");
        (void)std::ofstream(stage.path() / "result").put('r');
        const io::StagedDirectory neighbour(folder / "run2");
        CHECK(neighbour.path() != stage.path());
    }
    CHECK(folder.names().empty());
}

TEST_CASE("an existing folder is refused at once, and at the commit when it appears meanwhile") {
    const test::TemporaryFolder folder;
    io::StagedDirectory late(folder / "run");
    std::filesystem::create_directory(folder / "run");
    const Error at_commit = test::error_of([&] { late.commit(); });
    CHECK(at_commit.kind() == ErrorKind::resource);
    CHECK(contains(at_commit, "exists"));
    const Error at_once = test::error_of([&] { const io::StagedDirectory stage(folder / "run/"); });
    CHECK(at_once.kind() == ErrorKind::resource);
    CHECK(contains(at_once, "already exists"));
}

TEST_CASE("a folder is replaced only on demand and only by the commit") {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "run");
    (void)folder.write("run/old", "o");
    { const io::StagedDirectory abandoned(folder / "run", true); }
    CHECK(test::bytes_of(folder / "run/old") == "o");
    {
        io::StagedDirectory stage(folder / "run", true);
        (void)std::ofstream(stage.path() / "new").put('n');
        stage.commit();
    }
    CHECK(test::bytes_of(folder / "run/new") == "n");
    CHECK_FALSE(std::filesystem::exists(folder / "run/old"));
    CHECK(folder.names() == std::vector<std::string>{"run"});
}

TEST_CASE("when the new folder cannot take its name the old one stands there again") {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "run");
    (void)folder.write("run/old", "o");
    io::StagedDirectory stage(folder / "run", true);
    std::filesystem::remove_all(stage.path());
    CHECK(contains(test::error_of([&] { stage.commit(); }), "No such file"));
    CHECK(test::bytes_of(folder / "run/old") == "o");
    CHECK(folder.names() == std::vector<std::string>{"run"});
}

TEST_CASE("a file is never replaced by a folder, nor used as one") {
    const test::TemporaryFolder folder;
    (void)folder.write("file", "f");
    CHECK(contains(test::error_of([&] { const io::StagedDirectory stage(folder / "file", true); }), "not a folder"));
    CHECK(contains(test::error_of([&] { const io::StagedDirectory stage(folder / "file/run"); }), "ot a directory"));
    CHECK(test::bytes_of(folder / "file") == "f");
}
