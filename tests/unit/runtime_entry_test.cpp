#include <doctest/doctest.h>

#include <algorithm>

#include "attnspan/plugin.hpp"
#include "loader_support.hpp"

using namespace attnspan::runtime;
using namespace loader_test;
using attnspan::PluginEntry;

namespace {

class Everything final : public attnspan::Mode {
public:
    static attnspan::ParameterSpecs parameters() { return {}; }
    explicit Everything(const attnspan::Parameters&) {}

private:
    [[nodiscard]] attnspan::KeyRange do_visible(attnspan::Index, attnspan::Index, attnspan::Index keys) const override {
        return {.begin = 0, .end = keys};
    }
};

PluginEntry correct() {
    return attnspan::detail::entry<Everything>("acme.ring", "1.0.0-rc.1+7", "Rings of \u03b5");
}

template <std::size_t size>
void set(char (&field)[size], std::string_view text) {
    std::ranges::fill(field, '\0');
    std::ranges::copy(text.substr(0, size), field);
}

/// The failure to parse what `change` makes of a correct entry, or of its first `count` bytes.
template <class Change>
LoadFailure refusal(Change change, std::size_t count = sizeof(PluginEntry)) {
    PluginEntry entry = correct();
    change(entry);
    try {
        static_cast<void>(parse_plugin_entry(std::as_bytes(std::span(&entry, 1)).first(count), "some.so"));
    } catch (const LoadRefused& refused) {
        CHECK(refused.failure.file == "some.so");
        return refused.failure;
    }
    return {.file = {}, .stage = "none", .reason = "it was accepted"};
}

}  // namespace

TEST_CASE("a correct entry is read as it was written") {
    const PluginEntry entry = correct();
    const PluginInfo info = parse_plugin_entry(std::as_bytes(std::span(&entry, 1)), "some.so");
    CHECK(info == PluginInfo{.kind = "mode",
                             .name = "acme.ring",
                             .version = "1.0.0-rc.1+7",
                             .summary = "Rings of \u03b5",
                             .file = "some.so"});
}

TEST_CASE("another ABI is refused naming both, before any field that it may have moved is believed") {
    const LoadFailure older = refusal([](PluginEntry& e) { --e.abi; });
    CHECK(older.stage == "abi");
    CHECK(older.reason ==
          "is older than this program: plugin ABI 0 found, 1 expected; rebuild the plugin against SDK " +
              std::string(attnspan::sdk_version));
    CHECK(older.name.empty());
    const LoadFailure newer = refusal([](PluginEntry& e) { e.abi = 7; });
    CHECK(newer.stage == "abi");
    CHECK(contains(newer.reason, "is newer than this program: plugin ABI 7 found, 1 expected; use a newer attnspan"));
    // A newer plugin may well have a smaller entry.
    CHECK(refusal([](PluginEntry& e) { e.abi = 7; }, 16).stage == "abi");
}

TEST_CASE("another size of the entry is refused naming the sizes") {
    CHECK(contains(refusal([](PluginEntry& e) { e.struct_size = 100; }).reason, "(stated: 100)"));
    CHECK(contains(refusal([](PluginEntry&) {}, 200).reason, "has a plugin entry of 200 bytes"));
    CHECK(contains(refusal([](PluginEntry&) {}, 4).reason, "has an attnspan_plugin of 4 bytes"));
    CHECK(contains(refusal([](PluginEntry& e) { e.magic[0] = 'A'; }).reason, "does not begin with the word"));
}

TEST_CASE("another build is refused naming both, under the plugin's name") {
    const LoadFailure failure = refusal([](PluginEntry& e) { set(e.build_tag, "other compiler"); });
    CHECK(failure.stage == "build");
    CHECK(contains(failure.reason,
                   "was built as \"other compiler\" and this program as \"" + std::string(attnspan::build_tag) + "\""));
    CHECK(failure.name == "acme.ring");
    CHECK(failure.kind == "mode");
}

TEST_CASE("texts that nobody could write down or print are refused") {
    const std::string long_text(200, 'a');
    for (const std::string& name : std::vector<std::string>{"", "Ring", "acme/ring", "acme..ring", ".ring", "ring.",
                                                            "ring one", "ring\n", long_text}) {
        CAPTURE(name);
        const LoadFailure failure = refusal([&](PluginEntry& e) { set(e.name, name); });
        CHECK(failure.stage == "entry");
        CHECK(contains(failure.reason, "has "));
        CHECK(contains(failure.reason, "name"));
        CHECK(failure.name.empty());
        CHECK(failure.kind == "mode");
    }
    const LoadFailure kind = refusal([](PluginEntry& e) { set(e.kind, "solver"); });
    CHECK(kind.stage == "entry");
    CHECK(contains(kind.reason, "has the kind \"solver\"; expected target, mode"));
    CHECK(kind.name == "acme.ring");
    CHECK(contains(refusal([](PluginEntry& e) { set(e.version, ""); }).reason, "has the version \"\""));
    CHECK(contains(refusal([](PluginEntry& e) { set(e.version, "1 0"); }).reason, "has the version \"1 0\""));
}

TEST_CASE("a summary is UTF-8 without control characters") {
    for (const char* const good : {"", "a", "\u00e9", "\u03b5 \u2264 \U0001f642", "\xf4\x8f\xbf\xbf"}) {
        CAPTURE(good);
        CHECK(refusal([&](PluginEntry& e) { set(e.summary, good); }).stage == "none");
    }
    // A control character, DEL, C1 control, a stray continuation, cut off, overlong (2 and 3 bytes), a surrogate,
    // beyond U+10FFFF twice.
    for (const char* const bad : {"\x1b[2J", "\x7f", "\xc2\x80", "\x80", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf",
                                  "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x28\xa1"}) {
        CAPTURE(bad);
        const LoadFailure failure = refusal([&](PluginEntry& e) { set(e.summary, bad); });
        CHECK(failure.stage == "entry");
        CHECK(contains(failure.reason, "summary"));
    }
}
