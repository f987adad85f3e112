#include <dlfcn.h>

#include <attnspan/plugin.hpp>
#include <map>
#include <span>
#include <string_view>

#include "io_support.hpp"

using namespace attnspan;
using test::contains;

namespace {

/// The smallest host: takes the maker of a target and forgets the rest.
class TargetRegistrar : public Registrar {
public:
    void add_target(ParameterSpecs parameters, Make<Target> maker) override {
        specs = std::move(parameters);
        make = maker;
    }
    void add_mode(ParameterSpecs, Make<Mode>) override {}
    void add_backend(ParameterSpecs, MakeBackend) override {}
    void add_projection(ParameterSpecs, Make<Projection>) override {}
    void add_construction(ParameterSpecs, bool, Make<Construction>) override {}

    ParameterSpecs specs;
    Make<Target> make = nullptr;
};

/// A file needs no randomness: drawing any is a failure.
class NoRandomness : public RandomSource {
    void do_bits(std::uint64_t, std::uint64_t, Index, std::span<std::uint64_t>) const override { FAIL("bits drawn"); }
    void do_uniforms(std::uint64_t, std::uint64_t, Index, std::span<double>) const override { FAIL("uniforms drawn"); }
    void do_normals(std::uint64_t, std::uint64_t, Index, std::span<double>) const override { FAIL("normals drawn"); }
};

/// A target of the library, with the values given and the defaults it declared.
std::unique_ptr<Target> make_target(const std::map<std::string, ParameterValue>& given) {
    void* library = ::dlopen(FILE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto* entry = static_cast<const PluginEntry*>(::dlsym(library, "attnspan_plugin"));
    REQUIRE(entry != nullptr);
    CHECK(std::string_view(entry->name) == "file");
    CHECK(std::string_view(entry->kind) == "target");
    TargetRegistrar registrar;
    entry->register_plugin(registrar);
    std::map<std::string, Parameters::Entry> entries;
    for (const ParameterSpec& spec : registrar.specs) {
        const auto found = given.find(spec.name);
        const ParameterValue value = found == given.end() ? spec.default_value : found->second;
        if (!std::holds_alternative<std::monostate>(value)) {
            entries[spec.name] = {value, {.source = "c.toml", .line = 5}};
        }
    }
    return registrar.make(Parameters("target", {.source = "c.toml", .line = 1}, entries));
}

GeneratedTarget generate(const Target& target, std::vector<KeyRange> ranges) {
    const NoRandomness source;
    return target.generate({target.shape().keys, std::move(ranges)}, RandomStream(source, 0));
}

template <class T>
T value_of(const Facts& facts, const std::string& name) {
    for (const Fact& f : facts) {
        if (f.name == name) {
            return std::get<T>(f.value);
        }
    }
    FAIL("no fact " << name);
    return {};
}

const std::string text = "%%MatrixMarket matrix coordinate real general\n2 3 5\n1 1 4\n1 2 6\n1 3 9\n2 3 1\n2 1 0\n";

}  // namespace

TEST_CASE("the file target gives the weights of its file and counts explicit zeros") {
    const test::TemporaryFolder folder;
    const auto target = make_target({{"path", folder.write("a.mtx", text).string()}});
    CHECK(target->shape().queries == 2);
    CHECK(target->shape().keys == 3);
    CHECK(target->shape().nonzeros == 4);
    CHECK_FALSE(target->policy().allow_empty_rows);
    CHECK_FALSE(target->policy().drop_invisible);
    std::filesystem::remove(folder / "a.mtx");
    const GeneratedTarget made = generate(*target, {{0, 3}, {0, 3}});
    CHECK(test::dense(made.weights) == std::vector<double>{4, 6, 9, 0, 0, 1});
    CHECK(value_of<Index>(made.facts, "explicit_zeros") == 1);
    CHECK(made.facts.size() == 1);
}

TEST_CASE("keep in the file target looks at visible entries only and reports the dropped mass") {
    const test::TemporaryFolder folder;
    const std::string path = folder.write("a.mtx", text).string();
    const auto top = generate(*make_target({{"path", path}, {"keep.top", Index{1}}}), {{0, 2}, {0, 3}});
    CHECK(test::dense(top.weights) == std::vector<double>{0, 6, 9, 0, 0, 1});
    CHECK(value_of<Index>(top.facts, "entries_dropped") == 1);
    CHECK(value_of<double>(top.facts, "dropped_mass_max") == doctest::Approx(0.4).epsilon(1e-15));
    CHECK(value_of<double>(top.facts, "dropped_mass_mean") == doctest::Approx(0.2).epsilon(1e-15));
    const auto above = generate(*make_target({{"path", path}, {"keep.above", 5.0}}), {{0, 3}, {0, 3}});
    CHECK(test::dense(above.weights) == std::vector<double>{0, 6, 9, 0, 0, 0});
}

TEST_CASE("the file target's policies and duplicates follow its parameters") {
    const test::TemporaryFolder folder;
    const std::string path =
        folder.write("d.mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 2\n1 1 3\n").string();
    const auto target = make_target({{"path", path},
                                     {"duplicates", std::string("sum")},
                                     {"empty_rows", std::string("allow")},
                                     {"invisible", std::string("drop")}});
    CHECK(target->policy().allow_empty_rows);
    CHECK(target->policy().drop_invisible);
    const GeneratedTarget made = generate(*target, {{0, 1}});
    CHECK(made.weights.value == std::vector<double>{5});
    CHECK(value_of<Index>(made.facts, "duplicates") == 1);
    const Error error = test::error_of([&] { return make_target({{"path", path}}); });
    CHECK(error.where().str() == path + ":4:1");
}

TEST_CASE("the file target takes one keep rule, and hands on the slice") {
    const test::TemporaryFolder folder;
    const std::string path = folder.write("a.mtx", text).string();
    const Error both = test::error_of([&] {
        return make_target({{"path", path}, {"keep.top", Index{1}}, {"keep.above", 0.5}});
    });
    CHECK(both.kind() == ErrorKind::config);
    CHECK(contains(both, "keep.top"));
    CHECK(both.where().str() == "c.toml:5");
    CHECK(contains(test::error_of([&] { return make_target({{"path", path}, {"slice", Index{0}}}); }), "slice = 0"));
}
