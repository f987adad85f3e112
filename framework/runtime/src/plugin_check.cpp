#include "attnspan/runtime/plugin_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "attnspan/core/encode.hpp"
#include "attnspan/core/random.hpp"
#include "attnspan/runtime/elf.hpp"
#include "attnspan/runtime/parameter_specs.hpp"
#include "attnspan/runtime/plugin_call.hpp"
#include "attnspan/runtime/print.hpp"
#include "attnspan/runtime/resolve.hpp"

namespace attnspan::runtime {
namespace {

/// Everything that an object answered, for comparison byte by byte.
using Answers = std::vector<double>;

constexpr const char* deterministic_remedy =
    "take every random number from the RandomStream that is handed over, keep no global state, and let nothing depend "
    "on time, addresses or the order of work";

/// What to do about a file that the loader refused at a stage.
std::string remedy_of(const std::string& stage) {
    static const std::map<std::string, std::string> remedies{
        {"file", "name the library that your build made"},
        {"format", "build a 64-bit shared library for this machine (attnspan_add_plugin, or g++ -fPIC -shared)"},
        {"entry", "define the entry by ATTNSPAN_PLUGIN(Class, \"prefix.name\", \"1.0.0\", \"summary\"), once"},
        {"abi", "build it again with the headers of this installation"},
        {"build", "build it again with the headers, the standard library and the sanitizers of this installation"},
        {"load", "link every library that it uses; -Wl,-z,defs shows at build time what is missing"},
        {"register", "let parameters() return declarations that fit each other, and throw nothing there"},
    };
    const auto found = remedies.find(stage);
    return found == remedies.end() ? "see the guide for plugin authors" : found->second;
}

/// What a number is that must be given and was not.
constexpr double usual_number = 12;

/// The values that a declaration singles out: its default, the ends of its range, every choice.
std::vector<ParameterValue> singled_out(const ParameterSpec& spec) {
    std::vector<ParameterValue> out;
    if (!std::holds_alternative<std::monostate>(spec.default_value)) {
        out.push_back(spec.default_value);
    }
    if (spec.type == ParameterType::boolean) {
        out.emplace_back(false);
        out.emplace_back(true);
    }
    for (const std::string& choice : spec.choices) {
        out.emplace_back(choice);
    }
    const auto add_end = [&](double end, bool excluded, double inwards) {
        if (spec.type == ParameterType::real && std::isfinite(end)) {
            out.emplace_back(excluded ? std::nextafter(end, inwards) : end);
        } else if (std::abs(end) < 0x1p63) {
            const Index whole = static_cast<Index>(end) + (excluded ? (inwards > end ? 1 : -1) : 0);
            out.push_back(spec.type == ParameterType::integers ? ParameterValue(std::vector<Index>{whole})
                                                               : ParameterValue(whole));
        }
    };
    add_end(spec.minimum, spec.minimum_excluded, INFINITY);
    add_end(spec.maximum, spec.maximum_excluded, -INFINITY);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

void append_matrix(Answers& answers, ConstMatrixView<double> m) {
    for (Index j = 0; j < m.cols; ++j) {
        answers.insert(answers.end(), m.column(j), m.column(j) + m.rows);
    }
}

bool same_bytes(const Answers& a, const Answers& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// A matrix without structure, the same each time.
Matrix<double> sample_matrix(Index rows, Index cols) {
    Matrix<double> m(rows, cols);
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            m.view()(i, j) = std::sin(static_cast<double>(1 + i + 7 * j)) + (i == j ? 3.0 : 0.0);
        }
    }
    return m;
}

class Check {
public:
    Check(const ConfigDocument& values, Registry& others, const CheckListener& listener)
        : values_(values), others_(others), listener_(listener) {}

    void run(const std::filesystem::path& file) {
        listener_.begin("file and entry");
        const auto read = read_plugin_entry(file);
        if (const auto* failure = std::get_if<LoadFailure>(&read)) {
            return refused(*failure);
        }
        const auto& info = std::get<PluginInfo>(read);

        listener_.begin("exported symbols");
        try {
            for (const std::string& symbol : read_strong_exports(file)) {
                if (symbol != "attnspan_plugin") {
                    listener_.found(fmt::format("exports {}, which could meet another library's symbol of that name",
                                                boost::core::demangle(symbol.c_str())),
                                    "put it into an unnamed namespace, and compile with -fvisibility=hidden");
                }
            }
        } catch (const LoadRefused& damaged) {
            return refused(damaged.failure);
        }

        listener_.begin("loading");
        auto loaded = Library::load(info);
        if (const auto* failure = std::get_if<LoadFailure>(&loaded)) {
            return refused(*failure);
        }
        library_ = std::get<std::shared_ptr<const Library>>(loaded);

        listener_.begin("parameters");
        if (choose_parameters()) {
            try_values();
            compare_objects();
            try_sizes();
        }
    }

private:
    void refused(const LoadFailure& failure) const {
        listener_.found(fmt::format("stage {}: {}", failure.stage, failure.reason), remedy_of(failure.stage));
    }

    /// The message without the name of the plugin, which the whole report is about.
    [[nodiscard]] std::string text_of(const Error& error) const {
        const std::string label = library_->label() + ": ";
        std::string text = error.what();
        while (text.starts_with(label)) {
            text.erase(0, label.size());
        }
        return text;
    }

    /// Runs a part of the check; an Error of the kinds that a plugin may refuse with is no finding.
    template <class Body>
    void attempt(const Body& body) const {
        try {
            guard_plugin_call(library_->label(), body);
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::plugin) {
                listener_.found(text_of(error),
                                "refuse what you cannot do by parameters.fail or Error(ErrorKind::config, ...), let no "
                                "other exception leave the plugin, and keep to what the header of the kind says");
            } else {
                listener_.skipped(fmt::format("refused: {}", text_of(error)));
            }
        }
    }

    /// Base values for everything that follows: those given, the defaults, and made-up ones for what is required.
    /// @return whether there is an object with them
    bool choose_parameters() {
        const std::string& kind = library_->info().kind;
        ParameterSpecs specs = library_->parameters();
        for (ParameterSpec& spec : specs) {
            if (spec.is_required) {
                spec.default_value = example_value(spec, usual_number);
                spec.is_required = std::holds_alternative<std::monostate>(spec.default_value);
            }
        }
        const auto given = values_.root().find(kind);
        const Location where{.source = "plugins check"};
        try {
            base_ =
                resolve_parameters(given == values_.root().end() ? nullptr : given->second.table(), kind, where, specs);
            make(base_, [](const auto&) {});
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::plugin) {
                listener_.found(text_of(error),
                                "the plugin must be made from its own defaults, or refuse them by parameters.fail");
            } else {
                listener_.skipped(
                    fmt::format("{}; give values that it takes, as in --set {}.key=value, to have the "
                                "plugin run",
                                text_of(error), kind));
            }
            return false;
        }
        return true;
    }

    /// Makes an object of the library's kind and hands it to `use`.
    template <class Use>
    void make(const Parameters& parameters, const Use& use) const {
        const std::string& kind = library_->info().kind;
        if (kind == "target") {
            use(*library_->make_target(parameters));
        } else if (kind == "mode") {
            use(*library_->make_mode(parameters));
        } else if (kind == "backend") {
            use(*library_->make_backend(parameters, 1));
        } else if (kind == "projection") {
            use(*library_->make_projection(parameters));
        } else {
            use(*library_->make_construction(parameters));
        }
    }

    void try_values() const {
        for (const ParameterSpec& spec : library_->parameters()) {
            for (const ParameterValue& value : singled_out(spec)) {
                listener_.begin(fmt::format("parameter {} = {}", spec.name, printed(value)));
                auto entries = base_.entries();
                entries[spec.name] = {.value = value, .where = {.source = "plugins check"}};
                const Parameters parameters(base_.table(), {.source = "plugins check"}, std::move(entries));
                attempt([&] { make(parameters, [&](const auto& object) { (void)answers_of(object); }); });
            }
        }
    }

    void compare_objects() const {
        listener_.begin("equal results for equal parameters");
        attempt([&] {
            make(base_, [&](const auto& object) {
                const Answers first = answers_of(object);
                if (!same_bytes(first, answers_of(object))) {
                    return listener_.found("one object asked twice for the same gives different results",
                                           deterministic_remedy);
                }
                make(base_, [&](const auto& other) {
                    if (!same_bytes(first, answers_of(other))) {
                        listener_.found("two objects of equal parameters give different results", deterministic_remedy);
                    }
                });
            });
        });
    }

    void try_sizes() const {
        listener_.begin("empty and odd sizes");
        make(base_, [&](const auto& object) { try_sizes(object); });
    }

    // What an object of each kind answers to small questions.

    /// Whether a target is quickly made.
    [[nodiscard]] static bool is_small(const TargetShape& shape) {
        return shape.queries <= 10'000 && shape.nonzeros <= 1'000'000;
    }
    [[nodiscard]] Answers answers_of(const Target& target) const {
        const TargetShape shape = target.shape();
        Answers out{static_cast<double>(shape.queries), static_cast<double>(shape.keys),
                    static_cast<double>(shape.nonzeros)};
        if (is_small(shape)) {
            append_target(out, target, {.begin = 0, .end = shape.keys});
        }
        return out;
    }
    void append_target(Answers& out, const Target& target, const KeyRange& visible) const {
        const TargetShape shape = target.shape();
        const std::vector<KeyRange> ranges(static_cast<std::size_t>(shape.queries), visible);
        const SparseMatrix a = target.generate({.keys = shape.keys, .ranges = ranges}, stream()).weights;
        for (Index i = 0; i < a.rows; ++i) {
            out.insert(out.end(), a.row_columns(i).begin(), a.row_columns(i).end());
            out.insert(out.end(), a.row_values(i).begin(), a.row_values(i).end());
        }
    }
    void try_sizes(const Target& target) const {
        const TargetShape shape = target.shape();
        if (!is_small(shape)) {
            return listener_.skipped("the target is too large for it; give a smaller size by --set");
        }
        // No query sees a key; every query sees one.
        for (const Index end : {Index{0}, std::min<Index>(1, shape.keys)}) {
            attempt([&] {
                Answers ignored;
                append_target(ignored, target, {.begin = 0, .end = end});
            });
        }
    }

    [[nodiscard]] static Answers answers_of(const Mode& mode, Index queries = 12, Index keys = 12) {
        Answers out;
        for (const KeyRange& range : mode.visible(queries, keys).ranges) {
            out.insert(out.end(), {static_cast<double>(range.begin), static_cast<double>(range.end)});
        }
        return out;
    }
    void try_sizes(const Mode& mode) const {
        for (const auto& [queries, keys] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}, {1, 1}, {3, 7}, {7, 3}}) {
            attempt([&, q = queries, k = keys] { (void)answers_of(mode, q, k); });
        }
    }

    [[nodiscard]] Answers answers_of(const Projection& projection, Index n = 16) const {
        const ProjectionTraits traits = projection.traits(n);
        const Index m = std::min<Index>(5, traits.largest_query_dim.value_or(5));
        Matrix<double> whole(n, m);
        Matrix<double> pieces(n, m);
        projection.sampler(n, stream(), serial_)->columns({.query_dim = m, .begin = 0, .end = m}, whole.view());
        const auto sampler = projection.sampler(n, stream(), serial_);
        for (Index j = m - 1; j >= 0; --j) {
            sampler->columns({.query_dim = m, .begin = j, .end = j + 1}, pieces.view().columns(j, j + 1));
        }
        Answers out{sampler->scale(m)};
        append_matrix(out, whole.view());
        Answers other{out.front()};
        append_matrix(other, pieces.view());
        if (!same_bytes(out, other)) {
            throw Error(ErrorKind::plugin,
                        "projection: columns differ when they are asked for one by one, the last first");
        }
        return out;
    }
    void try_sizes(const Projection& projection) const {
        for (const Index n : {1, 2, 3, 33}) {
            attempt([&] {
                (void)answers_of(projection, n);
                Matrix<double> nothing(n, 0);
                projection.sampler(n, stream(), serial_)
                    ->columns({.query_dim = 1, .begin = 0, .end = 0}, nothing.view());
            });
        }
    }

    [[nodiscard]] static Answers answers_of(const Backend& backend, Index rows = 5, Index cols = 3) {
        const Matrix<double> a = sample_matrix(rows, cols);
        Matrix<double> square(cols, cols);
        backend.multiply(1.0, Op::transpose, a.view(), Op::none, a.view(), 0.0, square.view());
        Answers out;
        append_matrix(out, square.view());
        const Svd svd = backend.svd(a.view());
        out.insert(out.end(), svd.sigma.begin(), svd.sigma.end());
        append_matrix(out, backend.qr(a.view()).r.view());
        const SymmetricEigen eigen = backend.symmetric_eigen(square.view());
        out.insert(out.end(), eigen.values.begin(), eigen.values.end());
        const Matrix<double> regular = sample_matrix(cols, cols);
        append_matrix(out, backend.solve(regular.view(), square.view()).view());
        return out;
    }
    void try_sizes(const Backend& backend) const {
        for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {1, 1}, {3, 7}, {33, 17}}) {
            attempt([&, r = rows, c = cols] { (void)answers_of(backend, r, c); });
        }
    }

    [[nodiscard]] Answers answers_of(const Construction& construction, Index n = 12) const {
        const auto backend_library = others_.find("backend", "eigen");
        const auto backend =
            backend_library->make_backend(resolve_parameters(nullptr, "backend", {}, backend_library->parameters()), 1);
        std::optional<Product<Projection>> projection;
        if (library_->uses_projection()) {
            projection.emplace(others_.find("projection", "gaussian")->make_projection({}));
        }
        SparseMatrix weights;
        weights.cols = n;
        for (Index i = 0; i < n; ++i) {
            weights.push((i * 5 + 1) % n, 1.0);
            weights.end_row();
        }
        const std::vector<KeyRange> all(static_cast<std::size_t>(n), {.begin = 0, .end = n});
        const Problem problem = core::encode(weights, {.keys = n, .ranges = all}, {.ratio = 0.5, .leakage = 0.1});
        const auto prepared = construction.prepare(
            problem, {.backend = *backend, .projection = projection ? &**projection : nullptr, .parallel = serial_});
        const Index m = std::min<Index>(n, prepared->traits().largest_query_dim.value_or(n));
        Matrix<double> x1(n, m);
        Matrix<double> x2(n, m);
        Answers out;
        if (prepared->family(stream())->embed(x1.view(), x2.view()).feasible) {
            append_matrix(out, x1.view());
            append_matrix(out, x2.view());
        }
        return out;
    }
    void try_sizes(const Construction& construction) const {
        for (const Index n : {1, 2, 3, 33}) {
            attempt([&] { (void)answers_of(construction, n); });
        }
    }

    [[nodiscard]] RandomStream stream() const { return core::stream(random_, 1, core::Purpose::target); }

    const ConfigDocument& values_;
    Registry& others_;
    const CheckListener& listener_;
    std::shared_ptr<const Library> library_;
    Parameters base_;
    core::PhiloxSource random_;
    Serial serial_;
};

}  // namespace

void check_plugin(const std::filesystem::path& file, const ConfigDocument& values, Registry& others,
                  const CheckListener& listener) {
    Check(values, others, listener).run(file);
}

}  // namespace attnspan::runtime
