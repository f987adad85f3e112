#include <attnspan/io/target_file.hpp>
#include <attnspan/plugin.hpp>
#include <optional>
#include <utility>

namespace {

using namespace attnspan;

class FileTarget : public Target {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return {
            path("path", "weights, queries x keys: Matrix Market, .npy, .npz (SciPy's too) or .safetensors").required(),
            text("member", "which array of an .npz archive or .safetensors file"),
            integer("slice", "which matrix of a stack (heads x queries x keys), from 0").at_least(0),
            integer("keep.top", "keep this many of the largest visible weights of each row").at_least(1),
            real("keep.above", "keep the visible weights greater than this").at_least(0),
            choice("empty_rows", {"error", "allow"}, "a row without a visible weight: refused, or left unconstrained")
                .defaults_to("error"),
            choice("invisible", {"error", "drop"}, "a weight at an invisible pair: refused, or removed and counted")
                .defaults_to("error"),
            choice("duplicates", {"error", "sum"}, "entries of a sparse matrix at the same place: refused, or added")
                .defaults_to("error"),
        };
    }

    explicit FileTarget(const Parameters& parameters)
        : policy_{.allow_empty_rows = parameters.text("empty_rows") == "allow",
                  .drop_invisible = parameters.text("invisible") == "drop"},
          sums_duplicates_(parameters.text("duplicates") == "sum") {
        if (parameters.has("keep.top") && parameters.has("keep.above")) {
            parameters.fail("keep.above", "keep.top is set as well; choose one of the two");
        }
        if (parameters.has("keep.top")) {
            rule_ = io::KeepTop{parameters.integer("keep.top")};
        } else if (parameters.has("keep.above")) {
            rule_ = io::KeepAbove{parameters.real("keep.above")};
        }
        io::TargetFileOptions options{.duplicates = sums_duplicates_ ? io::Duplicates::sum : io::Duplicates::refuse};
        if (parameters.has("slice")) {
            options.slice = parameters.integer("slice");
        }
        if (parameters.has("member")) {
            options.member = parameters.text("member");
        }
        file_ = io::read_target_file(parameters.path("path"), options);
    }

private:
    [[nodiscard]] TargetShape do_shape() const override {
        return {.queries = file_.matrix.rows, .keys = file_.matrix.cols, .nonzeros = file_.matrix.nonzeros()};
    }

    [[nodiscard]] TargetPolicy do_policy() const override { return policy_; }

    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream&) const override {
        GeneratedTarget target;
        if (!file_.is_array) {
            target.facts.push_back({"explicit_zeros", file_.explicit_zeros});
        }
        if (sums_duplicates_) {
            target.facts.push_back({"duplicates", file_.duplicates});
        }
        if (!rule_) {
            target.weights = file_.matrix;
            return target;
        }
        io::Kept kept = io::keep(file_.matrix, *rule_, visible);
        target.weights = std::move(kept.matrix);
        target.facts.push_back({"entries_dropped", kept.entries_dropped});
        target.facts.push_back({"dropped_mass_max", kept.dropped_mass_max});
        target.facts.push_back({"dropped_mass_mean", kept.dropped_mass_mean});
        return target;
    }

    TargetPolicy policy_;
    bool sums_duplicates_;
    std::optional<io::KeepRule> rule_;
    io::ReadWeights file_;
};

}  // namespace

ATTNSPAN_PLUGIN(FileTarget, "file", "1.0.0", "weights from a Matrix Market, .npy, .npz or .safetensors file");
