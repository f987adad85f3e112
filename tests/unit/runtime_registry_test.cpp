#include <doctest/doctest.h>

#include <algorithm>

#include "attnspan/runtime/registry.hpp"
#include "loader_support.hpp"

using namespace attnspan::runtime;
using namespace loader_test;
using attnspan::Error;
using attnspan::ErrorKind;

namespace {

/// A folder with copies of built plugins.
fs::path fill(const fs::path& folder, std::initializer_list<const char*> names) {
    fs::create_directory(folder);
    for (const char* const name : names) {
        fs::copy_file(built(name), folder / built(name).filename());
    }
    return folder;
}

std::vector<std::string> names(const Registry& registry) {
    std::vector<std::string> all;
    std::ranges::transform(registry.plugins(), std::back_inserter(all), &PluginInfo::name);
    return all;
}

Error refusal(Registry& registry, std::string_view kind, std::string_view name) {
    try {
        static_cast<void>(registry.find(kind, name, {.source = "c.toml", .line = 2}));
    } catch (const Error& error) {
        CHECK(error.where().line == 2);
        return error;
    }
    return {ErrorKind::usage, "it was found"};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("plugins are found in folders and as files, sorted by name, without running their code") {
    const Folder folder;
    fill(folder / "one", {"throwing-initialiser", "makers"});
    write(folder / "one" / "README.txt", "not a library");
    Registry registry({.entries = {folder / "one", built("good")}});
    CHECK(registry.failures().empty());
    CHECK(names(registry) == Names{"test.good", "test.makers", "test.throwing-initialiser"});
    CHECK(registry.plugins().front().file == built("good"));

    const auto good = registry.find("mode", "test.good");
    CHECK(good == registry.find("mode", "test.good"));
    CHECK(good->make_mode({})->visible(1, 10).queries() == 1);
}

TEST_CASE("the same file met twice counts once, whatever the way to it") {
    const Folder folder;
    const fs::path real = fill(folder / "real", {"good"});
    fs::create_directory_symlink(real, folder / "link");
    fs::create_symlink(real / "mode-test.good.so", real / "again.so");
    write(folder / "text.so", "no library");
    const Registry registry(
        {.entries = {real, folder / "link", real / "mode-test.good.so", folder / "text.so", folder / "text.so"}});
    CHECK(names(registry) == Names{"test.good"});
    CHECK(registry.failures().size() == 1);
}

TEST_CASE("two files with one name are both refused, and asking for the name says why") {
    const Folder folder;
    Registry registry({.entries = {fill(folder / "one", {"good"}), fill(folder / "two", {"good", "makers"})}});
    CHECK(names(registry) == Names{"test.makers"});
    REQUIRE(registry.failures().size() == 1);
    CHECK(registry.failures().front().stage == "ambiguous");
    const Error error = refusal(registry, "mode", "test.good");
    CHECK(error.kind() == ErrorKind::plugin);
    CHECK(contains(error.what(), (folder / "one" / "mode-test.good.so").string()));
    CHECK(contains(error.what(), (folder / "two" / "mode-test.good.so").string()));
}

TEST_CASE("every broken file is a failure with a stage, and none stops the others") {
    const Folder folder;
    const fs::path plugins = fill(folder / "plugins", {});
    fs::copy(built("good").parent_path(), plugins);
    // Nothing can be done about this one once it is loaded, see Library::load.
    fs::remove(plugins / "mode-test.throwing-initialiser.so");
    write(plugins / "text.so", "no library");
    write(plugins / "empty.so", "");
    fs::create_directory(plugins / "folder.so");
    fs::create_symlink(plugins / "nothing", plugins / "dangling.so");

    Registry registry({.entries = {plugins}});
    const auto stage = [&](const std::string& file) {
        const auto found =
            std::ranges::find_if(registry.failures(), [&](const LoadFailure& f) { return f.file == plugins / file; });
        return found == registry.failures().end() ? "none" : found->stage;
    };
    CHECK(stage("dangling.so") == "file");
    CHECK(stage("folder.so") == "file");
    CHECK(stage("text.so") == "format");
    CHECK(stage("empty.so") == "format");
    CHECK(stage("mode-test.no-entry.so") == "entry");
    CHECK(stage("mode-test.function-entry.so") == "entry");
    CHECK(stage("mode-test.small-entry.so") == "entry");
    CHECK(stage("mode-test.bad-name.so") == "entry");
    CHECK(stage("mode-test.zero-entry.so") == "format");
    CHECK(stage("mode-test.older-abi.so") == "abi");
    CHECK(stage("mode-test.newer-abi.so") == "abi");
    CHECK(stage("mode-test.struct-size.so") == "abi");
    CHECK(stage("mode-test.build-tag.so") == "build");
    CHECK(stage("mode-test.undefined-symbol.so") == "none");

    registry.load_all();
    CHECK(stage("mode-test.undefined-symbol.so") == "load");
    CHECK(stage("mode-test.registers-others.so") == "register");
    // What only a plugin's objects do wrong, loading does not see.
    CHECK(names(registry) == Names{"test.not-deterministic", "test.crash", "test.endless-loop", "test.good",
                                   "test.makers", "test.objects-differ", "test.other-exports",
                                   "test.throwing-constructor"});
    CHECK(registry.find("mode", "test.good")->info().name == "test.good");
}

TEST_CASE("asking for a plugin whose file was refused gives the reason, by its name or by its file's") {
    Registry registry({.entries = {built("older-abi"), built("build-tag"), built("throwing-register")}});
    CHECK(names(registry) == Names{"test.throwing-register"});

    const Error older = refusal(registry, "mode", "test.older-abi");
    CHECK(older.kind() == ErrorKind::plugin);
    CHECK(contains(older.what(), "c.toml:2: mode plugin \"test.older-abi\" cannot be used: "));
    CHECK(contains(older.what(), "(abi): is older than this program: plugin ABI 0 found, 1 expected"));
    CHECK(contains(refusal(registry, "mode", "test.build-tag").what(), "(build): was built as"));
    CHECK(refusal(registry, "target", "test.build-tag").kind() == ErrorKind::config);

    const std::string first = refusal(registry, "mode", "test.throwing-register").what();
    CHECK(contains(first, "(register): its register function: threw: no licence found"));
    CHECK(refusal(registry, "mode", "test.throwing-register").what() == first);
    CHECK(registry.plugins().empty());
    CHECK(registry.failures().size() == 3);
}

TEST_CASE("an unknown name is answered with the nearest and all that are known") {
    Registry registry({.entries = {built("good"), built("makers"), built("older-abi")}});
    const Error near = refusal(registry, "mode", "test.godo");
    CHECK(near.kind() == ErrorKind::config);
    CHECK(near.what() == std::string("c.toml:2: there is no mode plugin \"test.godo\"; did you mean \"test.good\"? "
                                     "(known: test.good, test.makers); one plugin file could not be used, see "
                                     "`attnspan plugins list`"));
    CHECK_FALSE(contains(refusal(registry, "mode", "ring").what(), "did you mean"));

    Registry nothing(SearchPath{});
    CHECK(
        contains(refusal(nothing, "mode", "ring").what(), "no mode plugins at all were found in: (no folder exists)"));
    const Folder folder;
    Registry empty({.entries = {folder.path()}});
    CHECK(contains(refusal(empty, "mode", "ring").what(), "were found in: " + folder.path().string()));
}

TEST_CASE("the search path holds options, then the environment, then the folder beside the executable") {
    const Folder folder;
    for (const char* const name : {"bin", "lib/attnspan/plugins", "installed", "option", "variable"}) {
        fs::create_directories(folder / name);
    }
    const SearchPathSources sources{.executable_dir = folder / "bin",
                                    .installed_plugin_dir = folder / "installed",
                                    .environment = (folder / "variable").string(),
                                    .options = {folder / "option"}};
    const SearchPath path = default_search_path(sources);
    CHECK(path.failures.empty());
    CHECK(path.entries == std::vector{folder / "option", folder / "variable", folder / "lib/attnspan/plugins"});

    fs::remove(folder / "lib/attnspan/plugins");
    CHECK(default_search_path(sources).entries.back() == folder / "installed");
    fs::remove(folder / "installed");
    CHECK(default_search_path(sources).entries == std::vector{folder / "option", folder / "variable"});
}

TEST_CASE("an option that names nothing is a usage error, relative ones belong to the working directory") {
    const auto path = [](const fs::path& option) {
        return default_search_path({.executable_dir = {}, .installed_plugin_dir = {}, .options = {option}});
    };
    for (const char* const option : {"", "/no/such/folder"}) {
        try {
            static_cast<void>(path(option));
            FAIL("accepted ", option);
        } catch (const Error& error) {
            CHECK(error.kind() == ErrorKind::usage);
            CHECK(contains(error.what(), "--plugin-path: \"" + std::string(option) + "\" does not exist"));
        }
    }
    CHECK(path(".").entries.front().is_absolute());
}

TEST_CASE("the environment takes absolute, existing paths and records what is refused") {
    const Folder folder;
    const auto path = [](std::string variable) {
        return default_search_path(
            {.executable_dir = {}, .installed_plugin_dir = {}, .environment = std::move(variable)});
    };
    CHECK(path("").failures.empty());
    CHECK(path("").entries.empty());

    const std::string here = folder.path().string();
    const SearchPath mixed = path(":" + here + ":relative:" + here + "/absent:");
    CHECK(mixed.entries == std::vector{folder.path()});
    REQUIRE(mixed.failures.size() == 4);
    const char* const reasons[] = {"has an empty entry", "names a relative path", "names what does not exist",
                                   "has an empty entry"};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(mixed.failures[i].stage == "path");
        CHECK(contains(mixed.failures[i].reason, reasons[i]));
    }
    CHECK(Registry(mixed).failures().size() == 4);
}

TEST_CASE("a folder that cannot be searched is a failure") {
    const Folder folder;
    const fs::path closed = fill(folder / "closed", {"good"});
    fs::permissions(closed, fs::perms::none);
    // Root reads everything; nobody does not.
    const bool is_root = ::geteuid() == 0;
    if (is_root) {
        REQUIRE(::seteuid(65534) == 0);
    }
    const Registry registry({.entries = {closed}});
    if (is_root) {
        REQUIRE(::seteuid(0) == 0);
    }
    fs::permissions(closed, fs::perms{0755});
    REQUIRE(registry.failures().size() == 1);
    CHECK(registry.failures().front().stage == "path");
    CHECK(contains(registry.failures().front().reason, "Permission denied"));
}
