#include "attnspan/io/matrix_market.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <ostream>

#include "attnspan/io/atomic.hpp"
#include "attnspan/io/file.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"
#include "scanner.hpp"

namespace attnspan::io {
namespace {

using detail::Scanner;

constexpr std::string_view banner_word = "%%MatrixMarket";
std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

bool has_banner(std::string_view text) {
    return lower(text.substr(0, banner_word.size())) == lower(banner_word) && text.size() > banner_word.size() &&
           (Scanner::is_blank(text[banner_word.size()]) || text[banner_word.size()] == '\n');
}

enum class Field { real, integer, pattern };

struct Entry {
    Index row;
    Index col;
    double value;
};

class Parser {
public:
    Parser(std::string_view text, const std::string& source, MatrixMarketOptions options)
        : scanner_(text, source), body_(scanner_), options_(options) {}

    ReadWeights parse() {
        read_banner();
        read_size();
        if (result_.is_array) {
            read_array();
        } else {
            read_coordinates();
        }
        if (static_cast<Index>(result_.stored) != declared_) {
            scanner_.fail("the file ends after " + std::to_string(result_.stored) + " entries, but line " +
                          std::to_string(body_.line()) + " announces " + std::to_string(declared_) +
                          "; the file is cut short or the count is wrong");
        }
        assemble();
        return std::move(result_);
    }

private:
    void read_banner() {
        scanner_.next_line();
        scanner_.word();
        choose("object", {"matrix"});
        result_.is_array = choose("format", {"coordinate", "array"}) == 1;
        field_ = static_cast<Field>(choose("field", {"real", "integer", "pattern"}));
        if (result_.is_array && field_ == Field::pattern) {
            scanner_.fail("a pattern has no meaning in array format; write it in coordinate format");
        }
        is_symmetric_ = choose("symmetry", {"general", "symmetric"}) == 1;
        scanner_.expect_end_of_line();
    }

    std::size_t choose(const std::string& what, std::initializer_list<std::string_view> allowed) {
        const std::string_view word = scanner_.word();
        const auto* const found = std::ranges::find(allowed, lower(word));
        if (found == allowed.end()) {
            std::string list;
            for (const std::string_view a : allowed) {
                list += (list.empty() ? "" : " or ") + std::string(a);
            }
            scanner_.fail("the " + what + " in the banner is " + detail::quoted(word) +
                          ", but weights can be read from " + list + " only; write the matrix in that form");
        }
        return static_cast<std::size_t>(found - allowed.begin());
    }

    void read_size() {
        if (!scanner_.next_entry()) {
            scanner_.fail("the file ends before the line that gives the size");
        }
        constexpr Index largest = std::numeric_limits<Index>::max();
        rows_ = read_index("number of rows", 0, largest);
        cols_ = read_index("number of columns", 0, largest);
        if (is_symmetric_ && rows_ != cols_) {
            scanner_.fail("a symmetric matrix cannot be " + std::to_string(rows_) + " x " + std::to_string(cols_) +
                          "; correct the size or declare it general");
        }
        if (!result_.is_array) {
            declared_ = read_index("number of entries", 0, largest);
        } else if (const auto all = detail::product(std::array{rows_, cols_})) {
            declared_ = is_symmetric_ ? *all / 2 + (rows_ + 1) / 2 : *all;
        } else {
            scanner_.fail("an array of " + std::to_string(rows_) + " x " + std::to_string(cols_) + " cannot be stored");
        }
        scanner_.expect_end_of_line();
        body_ = scanner_;
        // The shortest entries are "1 1\n" and "1\n", so that the file's length bounds the room whatever is announced.
        const std::size_t possible = scanner_.bytes_left() / (result_.is_array ? 2 : 4) + 1;
        const std::size_t room = std::min(possible, static_cast<std::size_t>(declared_));
        require_memory(static_cast<double>(room) * sizeof(Entry), "reading " + std::to_string(room) + " entries");
        entries_.reserve(room);
    }

    /// To the next entry, as long as one is due.
    bool next_entry() {
        if (!scanner_.next_entry()) {
            return false;
        }
        if (result_.stored == declared_) {
            scanner_.word();
            scanner_.fail("this is one entry more than the " + std::to_string(declared_) + " that line " +
                          std::to_string(body_.line()) + " announces; correct the count or remove what is too much");
        }
        ++result_.stored;
        return true;
    }

    void read_coordinates() {
        while (next_entry()) {
            const Index row = read_index("row", 1, rows_);
            const Index col = read_index("column", 1, cols_);
            if (is_symmetric_ && row < col) {
                scanner_.fail("entry (" + std::to_string(row) + ", " + std::to_string(col) +
                              ") stands above the diagonal, but a symmetric file stores the lower triangle only; swap "
                              "the indices or declare the matrix general");
            }
            const double value = field_ == Field::pattern ? 1.0 : read_weight();
            scanner_.expect_end_of_line();
            result_.explicit_zeros += value == 0 ? 1 : 0;
            entries_.push_back({row - 1, col - 1, value});
        }
    }

    void read_array() {
        Index row = 0;
        Index col = 0;
        while (next_entry()) {
            if (const double value = read_weight(); value != 0) {
                entries_.push_back({row, col, value});
            }
            scanner_.expect_end_of_line();
            if (++row == rows_) {
                ++col;
                row = is_symmetric_ ? col : 0;
            }
        }
    }

    Index read_index(const char* what, Index first, Index last) {
        const auto value = scanner_.number<Index>(what);
        if (value < first || value > last) {
            scanner_.fail("the " + std::string(what) + " is " + std::to_string(value) + ", expected " +
                          (last == std::numeric_limits<Index>::max()
                               ? "at least " + std::to_string(first)
                               : std::to_string(first) + " to " + std::to_string(last)));
        }
        return value;
    }

    double read_weight() { return field_ == Field::integer ? scanner_.integer_weight() : scanner_.weight(); }

    /// Entries into rows, sorted; both triangles of a symmetric matrix.
    void assemble() {
        require_memory(
            2.0 * sizeof(Index) * static_cast<double>(rows_) +
                (is_symmetric_ ? 8.0 : 4.0) * sizeof(Index) * static_cast<double>(entries_.size()),
            "a matrix of " + std::to_string(rows_) + " rows and " + std::to_string(entries_.size()) + " entries");
        const auto at = [](Index i) { return static_cast<std::size_t>(i); };
        std::vector<Index> next(at(rows_) + 1);
        const auto for_each_place = [&](const auto& visit) {
            for (const Entry& e : entries_) {
                visit(e.row, e.col, e);
                if (is_symmetric_ && e.row != e.col) {
                    visit(e.col, e.row, e);
                }
            }
        };
        for_each_place([&](Index row, Index, const Entry&) { ++next[at(row) + 1]; });
        std::partial_sum(next.begin(), next.end(), next.begin());
        std::vector<Place> places(at(next.back()));
        for_each_place([&](Index row, Index col, const Entry& e) { places[at(next[at(row)]++)] = {col, &e}; });

        SparseMatrix& m = result_.matrix;
        m.cols = cols_;
        m.row_begin.reserve(at(rows_) + 1);
        m.column.reserve(places.size());
        m.value.reserve(places.size());
        auto begin = places.begin();
        for (Index i = 0; i < rows_; ++i) {
            // Filling the rows has moved each start to the end of its row.
            const auto end = places.begin() + next[at(i)];
            const auto before = [](const Place& a, const Place& b) {
                return a.col != b.col ? a.col < b.col : a.entry < b.entry;
            };
            if (!std::is_sorted(begin, end, before)) {
                std::sort(begin, end, before);
            }
            while (begin != end) {
                begin = push_sum(i, begin, end);
            }
            m.end_row();
        }
    }

    /// An entry of the matrix, with its place in the file.
    struct Place {
        Index col;
        const Entry* entry;
    };

    /// Pushes the entry that starts at `first`, all its duplicates added in the order of the file; returns the next
    /// one.
    std::vector<Place>::iterator push_sum(Index row, std::vector<Place>::iterator first,
                                          std::vector<Place>::iterator end) {
        double sum = first->entry->value;
        auto t = first + 1;
        for (; t != end && t->col == first->col; ++t) {
            if (options_.duplicates == Duplicates::refuse) {
                const Index earlier = go_to(*first->entry);
                go_to(*t->entry);
                scanner_.fail("entry (" + std::to_string(t->entry->row + 1) + ", " + std::to_string(t->entry->col + 1) +
                              ") already stands in line " + std::to_string(earlier) +
                              "; remove one of them, or set duplicates = \"sum\" to add them");
            }
            sum += t->entry->value;
            if (!std::isfinite(sum)) {
                go_to(*t->entry);
                scanner_.fail("the sum of duplicate entries overflows; scale the matrix");
            }
            result_.duplicates += t->entry->row == row ? 1 : 0;
        }
        if (sum != 0) {
            result_.matrix.push(first->col, sum);
        }
        return t;
    }

    /// Walks to an entry of a coordinate file again, so that lines need not be stored; returns its line.
    Index go_to(const Entry& entry) {
        scanner_ = body_;
        for (const Entry* e = entries_.data(); e <= &entry; ++e) {
            scanner_.next_entry();
        }
        scanner_.word();
        return scanner_.line();
    }

    Scanner scanner_;
    Scanner body_;  ///< after the line that gives the size
    MatrixMarketOptions options_;
    Field field_ = Field::real;
    bool is_symmetric_ = false;
    Index rows_ = 0;
    Index cols_ = 0;
    Index declared_ = 0;
    std::vector<Entry> entries_;
    ReadWeights result_;
};

}  // namespace

ReadWeights read_matrix_market(const std::filesystem::path& path, MatrixMarketOptions options) {
    return parse_matrix_market(read_file(path), path.string(), options);
}

ReadWeights parse_matrix_market(std::string_view text, const std::string& source, MatrixMarketOptions options) {
    if (!has_banner(text)) {
        detail::fail("no Matrix Market file: the first line must begin with " + std::string(banner_word) +
                         ", but this is " + describe_content(text),
                     {.source = source});
    }
    return Parser(text, source, options).parse();
}

void write_matrix_market(const std::filesystem::path& path, const SparseMatrix& matrix) {
    write_file_atomically(path, [&](std::ostream& out) {
        out << banner_word << " matrix coordinate real general\n"
            << matrix.rows << ' ' << matrix.cols << ' ' << matrix.nonzeros() << '\n';
        for (Index i = 0; i < matrix.rows; ++i) {
            const std::string row = std::to_string(i + 1) + ' ';
            for (std::size_t t = 0; t < matrix.row_columns(i).size(); ++t) {
                out << row << std::to_string(matrix.row_columns(i)[t] + 1) << ' '
                    << detail::shortest(matrix.row_values(i)[t]) << '\n';
            }
        }
    });
}

}  // namespace attnspan::io
