#include <doctest/doctest.h>

#include <new>
#include <stdexcept>

#include "attnspan/runtime/library.hpp"
#include "attnspan/runtime/plugin_call.hpp"
#include "loader_support.hpp"

using namespace attnspan::runtime;
using namespace loader_test;
using attnspan::Error;
using attnspan::ErrorKind;
using attnspan::Index;
using attnspan::Parameters;

namespace {

auto load(const fs::path& file) {
    return Library::load(std::get<PluginInfo>(read_plugin_entry(file)));
}

std::shared_ptr<const Library> loaded(std::string_view name) {
    return std::get<std::shared_ptr<const Library>>(load(built(name)));
}

template <class Call>
Error error_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {ErrorKind::usage, "nothing was thrown"};
}

/// The parameters of the plugin test.makers, as if written in a file.
Parameters how(const std::string& value) {
    const attnspan::Location where{.source = "c.toml", .line = 7, .column = 3};
    return {"mode", where, {{"how", {value, where}}}};
}

/// How many objects of the plugin test.good are alive, this one included.
Index alive(const Product<attnspan::Mode>& mode) {
    return mode->visible(1, 1000).ranges.front().size();
}

}  // namespace

TEST_CASE("a good plugin is loaded and makes objects, each gone before the next thing happens") {
    const auto library = loaded("good");
    CHECK(library->info().version == "1.2.3");
    CHECK(library->parameters().empty());
    CHECK_FALSE(library->uses_projection());
    CHECK(library->label() == "mode plugin \"test.good\" (" + built("good").string() + ")");
    CHECK(alive(library->make_mode({})) == 1);
    CHECK(alive(library->make_mode({})) == 1);
    {
        const auto first = library->make_mode({});
        const auto second = library->make_mode({});
        CHECK(alive(first) == 2);
        CHECK((*second).visible(1, 1000).ranges.front().size() == 2);
    }
    CHECK(alive(library->make_mode({})) == 1);
}

TEST_CASE("an object keeps its library, and assigning another destroys the old one first") {
    auto library = loaded("good");
    const std::weak_ptr<const Library> watch = library;
    auto mode = library->make_mode({});
    library.reset();
    CHECK_FALSE(watch.expired());
    CHECK(&mode.library() == watch.lock().get());
    CHECK(alive(mode) == 1);

    mode = loaded("good")->make_mode({});
    CHECK(watch.expired());
    CHECK(alive(mode) == 1);
    const auto moved = std::move(mode);
    CHECK(alive(moved) == 1);
}

TEST_CASE("a plugin that cannot be loaded or does not register properly is refused with stage and reason") {
    struct Case {
        const char* name;
        const char* stage;
        const char* reason;
    };
    const std::vector<Case> cases = {
        {"undefined-symbol", "load", "defined_nowhere"},
        {"null-register", "register", "has no register function"},
        {"throwing-register", "register", "its register function: threw: no licence found"},
        {"registers-nothing", "register", "registered nothing; expected one call of add_mode"},
        {"registers-others", "register", "registered 3 times (backend, projection, construction); expected one"},
        {"registers-other-kind", "register", "registered a target, but its entry says mode"},
        {"registers-null", "register", "registered a null function"},
        {"bad-parameters", "register", "parameter \"width\" has a default that is 0, must be at least 1"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.name);
        const LoadFailure failure = failure_in(load(built(c.name)));
        CHECK(failure.stage == c.stage);
        CHECK_MESSAGE(contains(failure.reason, c.reason), failure.reason);
        CHECK(failure.file == built(c.name));
        CHECK(failure.name == "test." + std::string(c.name));
        CHECK(failure.kind == "mode");
    }
    CHECK(alive(loaded("good")->make_mode({})) == 1);
}

TEST_CASE("a file that changed after it was read is not believed") {
    const Folder folder;
    const auto reason = [&](const char* now) {
        PluginInfo info = std::get<PluginInfo>(read_plugin_entry(built("good")));
        info.file = folder / now;
        if (fs::exists(built(now))) {
            fs::copy_file(built(now), info.file);
        }
        const LoadFailure failure = failure_in(Library::load(info));
        CHECK(failure.stage == "load");
        return failure.reason;
    };
    CHECK(contains(reason("makers"), "says something else in memory than in its file"));
    CHECK(contains(reason("older-abi"), "is older than this program"));
    CHECK(contains(reason("no-entry"), "lost its attnspan_plugin"));
    CHECK(contains(reason("gone"), "cannot be loaded"));
}

TEST_CASE("whatever a constructor throws becomes an error that names the plugin") {
    const auto library = loaded("makers");
    const auto made = [&](const char* value) {
        return error_of([&] { static_cast<void>(library->make_mode(how(value))); });
    };
    CHECK(made("exception").kind() == ErrorKind::plugin);
    CHECK(made("exception").what() == library->label() + ": threw while being made: index 7 of 3");
    CHECK(made("integer").kind() == ErrorKind::plugin);
    CHECK(contains(made("integer").what(), "threw while being made: something that is no std::exception"));
    CHECK(made("null").kind() == ErrorKind::plugin);
    CHECK(contains(made("null").what(), "made nothing"));
    CHECK(made("contract").kind() == ErrorKind::plugin);
    CHECK(contains(made("contract").what(), library->label() + ": mode: the plugin asks for a parameter"));
    CHECK(made("memory").kind() == ErrorKind::resource);
    CHECK(contains(made("memory").what(), "out of memory"));
}

TEST_CASE("what a plugin refuses on purpose keeps its kind, text and place") {
    const auto library = loaded("makers");
    const Error error = error_of([&] { static_cast<void>(library->make_mode(how("refusal"))); });
    CHECK(error.kind() == ErrorKind::config);
    CHECK(error.what() == std::string("c.toml:7:3: mode.how: refused"));
    CHECK(error.where().line == 7);
}

TEST_CASE("a library makes only the kind it is") {
    const auto library = loaded("good");
    CHECK(contains(error_of([&] { static_cast<void>(library->make_target({})); }).what(), "cannot make a target"));
    CHECK(contains(error_of([&] { static_cast<void>(library->make_backend({}, 1)); }).what(), "make a backend"));
    CHECK(contains(error_of([&] { static_cast<void>(library->make_projection({})); }).what(), "make a projection"));
    CHECK(contains(error_of([&] { static_cast<void>(library->make_construction({})); }).what(), "construction"));
}

TEST_CASE("a guarded call gives back what the plugin gives, references included") {
    int value = 3;
    int& same = guard_plugin_call("p", [&]() -> int& { return value; });
    CHECK(&same == &value);
    CHECK(std::string(error_of([] { guard_plugin_call("p", [] { throw std::logic_error("x"); }); }).what()) ==
          "p: threw: x");
    const Error placed = error_of(
        [] { guard_plugin_call("p", [] { throw Error(ErrorKind::plugin, "bad", {.source = "f", .line = 2}); }); });
    CHECK(placed.what() == std::string("f:2: p: bad"));
}
