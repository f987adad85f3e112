#include "attnspan/io/edge_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "assemble.hpp"
#include "attnspan/io/file.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"
#include "scanner.hpp"

namespace attnspan::io {
namespace {

using detail::Entry;
using detail::Scanner;

std::optional<Index> as_integer(std::string_view word) {
    Index value = 0;
    const char* const last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, value);
    return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

/// The identifiers of nodes, two for each edge, as read.
class Nodes {
public:
    explicit Nodes(std::vector<std::string_view> words) : words_(std::move(words)) {}

    /// Whether integers stand below a first line of other words.
    [[nodiscard]] bool has_heading() const {
        const auto is_integer = [](std::string_view word) { return as_integer(word).has_value(); };
        return words_.size() > 2 && std::none_of(words_.begin(), words_.begin() + 2, is_integer) &&
               std::all_of(words_.begin() + 2, words_.end(), is_integer);
    }

    /// The number of every identifier's node, and how many nodes there are.
    [[nodiscard]] std::pair<std::vector<Index>, Index> numbered() const {
        std::vector<Index> integers;
        for (const std::string_view word : words_) {
            const std::optional<Index> value = as_integer(word);
            if (!value) {
                return numbered(words_);
            }
            integers.push_back(*value);
        }
        return numbered(integers);
    }

private:
    template <class Id>
    static std::pair<std::vector<Index>, Index> numbered(const std::vector<Id>& ids) {
        std::vector<Id> sorted = ids;
        std::sort(sorted.begin(), sorted.end());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        std::vector<Index> numbers;
        numbers.reserve(ids.size());
        for (const Id& id : ids) {
            numbers.push_back(std::lower_bound(sorted.begin(), sorted.end(), id) - sorted.begin());
        }
        return {std::move(numbers), static_cast<Index>(sorted.size())};
    }

    std::vector<std::string_view> words_;
};

class Parser {
public:
    Parser(std::string_view text, const std::string& source, Duplicates duplicates)
        : scanner_(text, source, "#%"), source_(source), duplicates_(duplicates) {}

    ReadWeights parse() {
        read_lines();
        if (edges_.empty()) {
            detail::fail("the edge list holds no edge", {.source = source_});
        }
        const Nodes nodes(std::move(words_));
        if (nodes.has_heading()) {
            detail::fail("a line of headings stands above integers; remove it, or begin it with #",
                         {source_, edges_.front().place, 1});
        }
        const auto [numbers, count] = nodes.numbered();
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            edges_[e].row = numbers[2 * e];
            edges_[e].col = numbers[2 * e + 1];
        }
        return detail::assemble(
            std::move(edges_), count, count, duplicates_,
            {.repeated =
                 [this](const Entry& earlier, const Entry& later) {
                     detail::fail("this edge already stands in line " + std::to_string(earlier.place) +
                                      "; remove one of them, or set duplicates = \"sum\" to add "
                                      "them",
                                  {source_, later.place, 1});
                 },
             .overflow =
                 [this](const Entry& later) {
                     detail::fail("the sum of duplicate edges overflows; scale the weights", {source_, later.place, 1});
                 }});
    }

private:
    void read_lines() {
        // The shortest edge is "1 1\n". Identifiers are there as words, as numbers and sorted.
        const double possible = static_cast<double>(scanner_.bytes_left()) / 4 + 1;
        require_memory(possible * (sizeof(Entry) + 6 * sizeof(std::string_view)), source_);
        std::optional<bool> has_weights;
        while (scanner_.next_entry()) {
            for (const char* end : {"source", "target"}) {
                words_.push_back(scanner_.word());
                if (words_.back().empty()) {
                    scanner_.fail("the " + std::string(end) +
                                  " of the edge is missing; expected two nodes, with blanks "
                                  "or tabs between, and perhaps a weight");
                }
            }
            if (!has_weights) {
                Scanner ahead = scanner_;
                has_weights = !ahead.word().empty();
            }
            const double weight = *has_weights ? scanner_.weight() : 1.0;
            scanner_.expect_end_of_line();
            edges_.push_back({.row = 0, .col = 0, .weight = weight, .place = scanner_.line()});
        }
    }

    Scanner scanner_;
    std::string source_;
    Duplicates duplicates_;
    std::vector<std::string_view> words_;
    std::vector<Entry> edges_;
};

}  // namespace

ReadWeights parse_edge_list(std::string_view text, const std::string& source, Duplicates duplicates) {
    if (text.find('\0') != std::string_view::npos) {
        detail::fail("an edge list is expected, but this is " + describe_content(text), {.source = source});
    }
    return Parser(text, source, duplicates).parse();
}

ReadWeights read_graph_file(const std::filesystem::path& path, const TargetFileOptions& options) {
    const std::string bytes = read_file(path);
    const std::string source = path.string();
    if (!is_target_file(bytes)) {
        if (options.member) {
            detail::fail("an edge list has no member " + detail::quoted(*options.member) + "; leave it out",
                         {.source = source});
        }
        return parse_edge_list(bytes, source, options.duplicates);
    }
    ReadWeights graph = parse_target_file(bytes, source, options);
    if (graph.matrix.rows != graph.matrix.cols) {
        detail::fail("the matrix is " + std::to_string(graph.matrix.rows) + " x " + std::to_string(graph.matrix.cols) +
                         ", but a graph has a row and a column for each of its nodes",
                     {.source = source});
    }
    return graph;
}

}  // namespace attnspan::io
