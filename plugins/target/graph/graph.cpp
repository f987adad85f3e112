#include <optional>
#include <utility>

#include "adjacency.hpp"
#include "attnspan/io/edge_list.hpp"
#include "attnspan/plugin.hpp"
#include "targets/weighting.hpp"

namespace {

using namespace attnspan;
using targets::Weighting;

/// A graph from a file: query u attends to key v where there is an edge from u to v that the mode lets it see.
class Graph final : public Target {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        ParameterSpecs specs{
            path("path", "edge list, or adjacency matrix in a form that `file` reads").required(),
            text("member", "which array of an .npz archive or .safetensors file"),
            choice("edges", {"directed", "symmetric"}, "as they stand in the file, or both ways")
                .defaults_to("directed"),
            choice("self_loops", {"keep", "add", "remove"}, "edges of a node to itself").defaults_to("keep"),
            choice("duplicates", {"error", "sum"}, "an edge that stands in the file twice: refused, or weights added")
                .defaults_to("error"),
            choice("empty_rows", {"error", "allow"}, "a node without a visible edge: refused, or left unconstrained")
                .defaults_to("error"),
        };
        for (ParameterSpec& spec : Weighting::parameters(Weighting::Source::file)) {
            specs.push_back(std::move(spec));
        }
        return specs;
    }

    explicit Graph(const Parameters& p)
        : allows_empty_rows_(p.text("empty_rows") == "allow"),
          sums_duplicates_(p.text("duplicates") == "sum"),
          weighting_(p),
          file_(io::read_graph_file(p.path("path"),
                                    {.duplicates = sums_duplicates_ ? io::Duplicates::sum : io::Duplicates::refuse,
                                     .member = p.has("member") ? std::optional(p.text("member")) : std::nullopt})) {
        SparseMatrix& graph = file_.matrix;
        if (p.text("edges") == "symmetric") {
            graph = graph::symmetric(graph);
        }
        graph = graph::with_self_loops(graph, p.text("self_loops") == "add"      ? graph::SelfLoops::add
                                              : p.text("self_loops") == "remove" ? graph::SelfLoops::remove
                                                                                 : graph::SelfLoops::keep);
    }

private:
    [[nodiscard]] TargetShape do_shape() const override {
        return {.queries = file_.matrix.rows, .keys = file_.matrix.cols, .nonzeros = file_.matrix.nonzeros()};
    }

    [[nodiscard]] TargetPolicy do_policy() const override { return {.allow_empty_rows = allows_empty_rows_}; }

    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges& visible, const RandomStream& random) const override {
        GeneratedTarget out;
        out.weights.cols = file_.matrix.cols;
        for (Index i = 0; i < file_.matrix.rows; ++i) {
            const auto keys = file_.matrix.row_columns(i);
            for (std::size_t t = 0; t < keys.size(); ++t) {
                if (visible[i].contains(keys[t])) {
                    out.weights.push(keys[t], file_.matrix.row_values(i)[t]);
                }
            }
            out.weights.end_row();
        }
        weighting_.apply(out.weights, random);
        if (!file_.is_array) {
            out.facts.push_back({"explicit_zeros", file_.explicit_zeros});
        }
        if (sums_duplicates_) {
            out.facts.push_back({"duplicates", file_.duplicates});
        }
        if (const Index left_out = file_.matrix.nonzeros() - out.weights.nonzeros(); left_out > 0) {
            out.facts.push_back({"invisible_entries_left_out", left_out});
        }
        return out;
    }

    bool allows_empty_rows_;
    bool sums_duplicates_;
    Weighting weighting_;
    io::ReadWeights file_;  ///< the graph as it is attended to, and what reading it met
};

}  // namespace

ATTNSPAN_PLUGIN(Graph, "graph", "1.0.0", "a graph from an edge list or an adjacency matrix");
