#include <attnspan/io/matrix_market.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "io_support.hpp"

using namespace attnspan;
using io::Duplicates;
using test::contains;
using test::dense;

namespace {

using Row = std::vector<double>;

io::ReadWeights parse(std::string_view text, Duplicates duplicates = Duplicates::refuse) {
    return io::parse_matrix_market(text, "m.mtx", {.duplicates = duplicates});
}

std::string coordinate(const std::string& body, const std::string& kind = "real general") {
    return "%%MatrixMarket matrix coordinate " + kind + '\n' + body;
}
std::string array(const std::string& body, const std::string& kind = "real general") {
    return "%%MatrixMarket matrix array " + kind + '\n' + body;
}

/// One weight written as `word`.
double weight(const std::string& word) {
    return dense(parse(coordinate("1 1 1\n1 1 " + word + '\n')).matrix).at(0);
}

/// Refused as data, at the line, with all parts in the message.
void refused(const std::string& text, Index line, std::initializer_list<std::string_view> parts,
             Duplicates duplicates = Duplicates::refuse) {
    CAPTURE(text);
    const Error error = test::error_of([&] { return parse(text, duplicates); });
    CAPTURE(std::string(error.what()));
    CHECK(error.kind() == ErrorKind::data);
    CHECK(error.where().source == "m.mtx");
    CHECK(error.where().line == line);
    for (const std::string_view part : parts) {
        CAPTURE(part);
        CHECK(contains(error, part));
    }
}

}  // namespace

TEST_CASE("a coordinate file gives its entries in rows, whatever their order") {
    const auto read = parse(coordinate("2 3 4\n2 3 4.5\n1 2 2\n2 1 3\n1 1 1e-2\n"));
    CHECK(read.matrix.rows == 2);
    CHECK(read.matrix.cols == 3);
    CHECK(dense(read.matrix) == Row{0.01, 2, 0, 3, 0, 4.5});
    CHECK(read.stored == 4);
    CHECK_FALSE(read.is_array);
}

TEST_CASE("integer and pattern entries are weights") {
    CHECK(dense(parse(coordinate("1 2 2\n1 1 7\n1 2 +3\n", "integer general")).matrix) == Row{7, 3});
    CHECK(dense(parse(coordinate("2 2 2\n1 2\n2 1\n", "pattern general")).matrix) == Row{0, 1, 1, 0});
}

TEST_CASE("a symmetric coordinate file is mirrored, its diagonal is not doubled") {
    const auto read = parse(coordinate("3 3 3\n1 1 5\n3 1 2\n3 2 4\n", "real symmetric"));
    CHECK(dense(read.matrix) == Row{5, 0, 2, 0, 0, 4, 2, 4, 0});
    CHECK(read.stored == 3);
}

TEST_CASE("an array file goes column by column") {
    const auto read = parse(array("2 3\n1\n2\n3\n0\n5\n6\n"));
    CHECK(dense(read.matrix) == Row{1, 3, 5, 2, 0, 6});
    CHECK(read.is_array);
    CHECK(read.stored == 6);
    CHECK(read.matrix.nonzeros() == 5);
    CHECK(read.explicit_zeros == 0);
    CHECK(dense(parse(array("1 2\n3\n4\n", "integer general")).matrix) == Row{3, 4});
}

TEST_CASE("a symmetric array stores the lower triangle by columns") {
    CHECK(dense(parse(array("3 3\n1\n2\n3\n4\n5\n6\n", "real symmetric")).matrix) == Row{1, 2, 3, 2, 4, 5, 3, 5, 6});
    CHECK(dense(parse(array("2 2\n1\n2\n3\n", "integer symmetric")).matrix) == Row{1, 2, 2, 3});
    refused(array("3 3\n1\n2\n3\n4\n5\n6\n7\n", "real symmetric"), 9, {"6"});
    refused(array("3 3\n1\n2\n3\n4\n5\n", "real symmetric"), 7, {"after 5 entries", "announces 6"});
}

TEST_CASE("banner case, extra spaces, comments, blank lines, CRLF, tabs and a missing last newline are accepted") {
    const Row expected{0, 2, 3, 0};
    CHECK(dense(parse("%%matrixMARKET\tMatrix  COORDINATE Real   General \n"
                      "%%second\n\n % indented\n 2\t2  2 \n\n1 2 2\n%between\n\n\t2 1 3")
                    .matrix) == expected);
    CHECK(
        dense(parse("%%MatrixMarket matrix coordinate real general\r\n%c\r\n\r\n2 2 2\r\n1 2 2\r\n2 1 3\r\n").matrix) ==
        expected);
}

TEST_CASE("numbers may carry a plus, a bare point and a Fortran exponent") {
    CHECK(weight("+1.5") == 1.5);
    CHECK(weight("12.") == 12.0);
    CHECK(weight(".25") == 0.25);
    CHECK(weight("1.5D-3") == 1.5e-3);
    CHECK(weight("+2d+2") == 200.0);
    CHECK(weight("3E2") == 300.0);
    CHECK(weight("4.9e-324") == std::numeric_limits<double>::denorm_min());
    CHECK(weight("1.7976931348623157e308") == std::numeric_limits<double>::max());
}

TEST_CASE("what is no number is refused with its line and column") {
    for (const std::string word : {"abc", "1.5x", "+-1", "--1", "1e", "0x10", "1,5", "1.5D", "+", "\"1\""}) {
        refused(coordinate("1 1 1\n1 1 " + word + '\n'), 3, {"weight", "m.mtx:3:5: "});
    }
    refused(coordinate("1 1 1\n1 1 1e400\n"), 3, {"1e400", "out of the range"});
    refused(coordinate("1 1 1\n1 1 1e-400\n"), 3, {"1e-400", "out of the range"});
    refused(coordinate("1 1 1\n1.0 1 1\n"), 3, {"row", "\"1.0\"", "integer"});
    refused(coordinate("1 1 1\n1 1 1.5\n", "integer general"), 3, {"\"1.5\"", "integer"});
    refused(coordinate("1 1 1\n1 99999999999999999999 1\n"), 3, {"column", "out of the range"});
}

TEST_CASE("an unprintable or endless word does not spoil the message") {
    refused(coordinate("1 1 1\n1 1 \x1b[31m\n"), 3, {"\"?[31m\""});
    refused(coordinate("1 1 1\n1 1 " + std::string(1000, 'x') + '\n'), 3, {"xxx...\""});
}

TEST_CASE("negative and non-finite weights are refused with their line") {
    for (const std::string word : {"-1", "-1e-300", "inf", "-inf", "nan", "NaN", "Infinity", "+inf"}) {
        refused(coordinate("2 2 2\n1 1 1\n2 2 " + word + '\n'), 4, {"finite and not negative"});
    }
    refused(coordinate("1 1 1\n1 1 -3\n", "integer general"), 3, {"\"-3\""});
    refused(array("1 2\n1\n-2\n"), 4, {"\"-2\""});
    CHECK(parse(coordinate("1 1 1\n1 1 -0.0\n")).explicit_zeros == 1);
}

TEST_CASE("integers beyond 2^53 are read when a double holds them exactly") {
    CHECK(dense(parse(coordinate("1 1 1\n1 1 4611686018427387904\n", "integer general")).matrix) ==
          Row{std::ldexp(1.0, 62)});
    refused(coordinate("1 1 1\n1 1 9007199254740993\n", "integer general"), 3, {"9007199254740993", "exactly"});
}

TEST_CASE("explicit zeros are dropped and counted") {
    const auto read = parse(coordinate("2 2 3\n1 1 0\n2 1 0.0\n2 2 1\n", "real symmetric"));
    CHECK(read.matrix.nonzeros() == 1);
    CHECK(read.explicit_zeros == 2);
    CHECK(read.stored == 3);
}

TEST_CASE("a duplicate is refused with both lines") {
    refused(coordinate("3 3 3\n1 2 1\n% comment\n3 3 1\n\n1 2 5\n"), 7, {"(1, 2)", "line 3", "\"sum\""});
    refused(coordinate("3 3 2\n3 1 1\n3 1 0\n", "real symmetric"), 4, {"(3, 1)", "line 3"});
    refused(coordinate("2 2 2\n2 2\n2 2\n", "pattern general"), 4, {"line 3"});
}

TEST_CASE("duplicates are added when the caller says so") {
    const auto read = parse(coordinate("2 2 4\n1 2 1\n2 2 1\n1 2 5\n1 2 0.5\n"), Duplicates::sum);
    CHECK(dense(read.matrix) == Row{0, 6.5, 0, 1});
    CHECK(read.duplicates == 2);
    const auto mirrored = parse(coordinate("2 2 3\n2 1 1\n2 1 2\n2 2 4\n", "real symmetric"), Duplicates::sum);
    CHECK(dense(mirrored.matrix) == Row{0, 3, 3, 4});
    CHECK(mirrored.duplicates == 1);
    refused(coordinate("1 1 2\n1 1 1e308\n1 1 1e308\n"), 4, {"overflows"}, Duplicates::sum);
}

TEST_CASE("entries above the diagonal of a symmetric file are refused") {
    refused(coordinate("3 3 2\n2 1 1\n1 3 1\n", "real symmetric"), 4, {"(1, 3)", "above the diagonal"});
}

TEST_CASE("counts that do not match are refused with both numbers") {
    refused(coordinate("2 2 3\n1 1 1\n2 2 1\n"), 4, {"after 2 entries", "line 2 announces 3"});
    refused(coordinate("2 2 1\n1 1 1\n2 2 1\n"), 4, {"more than the 1", "line 2"});
    refused(coordinate("2 2 0\n1 1 1\n"), 3, {"more than the 0"});
    refused(array("2 2\n1\n2\n3\n"), 5, {"after 3 entries", "announces 4"});
    refused(array("2 2\n1\n2\n3\n4\n5\n"), 7, {"more than the 4"});
}

TEST_CASE("indices out of range are refused with the range") {
    refused(coordinate("7 9 1\n8 1 1\n"), 3, {"row is 8", "1 to 7"});
    refused(coordinate("7 9 1\n1 10 1\n"), 3, {"column is 10", "1 to 9"});
    refused(coordinate("7 9 1\n0 1 1\n"), 3, {"row is 0"});
    refused(coordinate("7 9 1\n-1 1 1\n"), 3, {"row is -1"});
    refused(coordinate("0 0 1\n1 1 1\n"), 3, {"row is 1"});
}

TEST_CASE("trailing and missing words are refused") {
    refused(coordinate("1 1 1\n1 1 1 9\n"), 3, {"\"9\""});
    refused(coordinate("1 1 1\n1 1 1 % comment\n"), 3, {"\"%\""});
    refused(coordinate("1 1 1\n1 1\n"), 3, {"weight is missing"});
    refused(coordinate("1 1 1\n1\n"), 3, {"column is missing"});
    refused(coordinate("1 1 1\n1 1 1\n", "pattern general"), 3, {"\"1\""});
    refused(array("1 2\n1 2\n"), 3, {"\"2\""});
    refused(coordinate("1 1 1 1\n1 1 1\n"), 2, {"\"1\""});
    refused(coordinate("1 1\n1 1 1\n"), 2, {"number of entries is missing"});
    refused("%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", 1, {"\"extra\""});
}

TEST_CASE("impossible size lines are refused") {
    refused(coordinate(""), 1, {"ends before the line that gives the size"});
    refused(coordinate("% only comments\n"), 2, {"ends before"});
    refused(coordinate("-1 2 0\n"), 2, {"rows is -1"});
    refused(coordinate("1 -2 0\n"), 2, {"columns is -2"});
    refused(coordinate("1 2 -1\n"), 2, {"entries is -1"});
    refused(array("2 -2\n"), 2, {"-2"});
    refused(coordinate("2 3 0\n", "real symmetric"), 2, {"2 x 3", "symmetric"});
    refused(array("2 3\n", "real symmetric"), 2, {"2 x 3"});
    refused(array("9223372036854775807 3\n"), 2, {"cannot be stored"});
}

TEST_CASE("huge announcements allocate nothing by themselves") {
    refused(coordinate("4 4 9223372036854775807\n1 1 1\n"), 3, {"announces 9223372036854775807"});
    refused(array("1000000 1000000\n1\n"), 3, {"announces 1000000000000"});
    const Error error = test::error_of([] { return parse(coordinate("1000000000000000 1 1\n1 1 1\n")); });
    CHECK(error.kind() == ErrorKind::resource);
    CHECK(contains(error, "1000000000000000 rows"));
}

TEST_CASE("forms that hold no weights are refused by name") {
    refused(coordinate("1 1 0\n", "complex general"), 1, {"field", "\"complex\"", "real or integer or pattern"});
    refused(coordinate("1 1 0\n", "real skew-symmetric"), 1, {"\"skew-symmetric\"", "general or symmetric"});
    refused(coordinate("1 1 0\n", "real Hermitian"), 1, {"\"Hermitian\""});
    refused(array("1 1\n", "pattern general"), 1, {"pattern", "coordinate"});
    refused("%%MatrixMarket vector coordinate real general\n1 1\n", 1, {"object", "\"vector\"", "matrix"});
    refused("%%MatrixMarket matrix sparse real general\n1 1 0\n", 1, {"format", "\"sparse\""});
    refused("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, {"symmetry", "\"\""});
    refused("%%MatrixMarket", 0, {"first line"});
    refused("%%MatrixMarketing matrix coordinate real general\n1 1 0\n", 0, {"first line"});
    refused("%MatrixMarket matrix coordinate real general\n1 1 0\n", 0, {"first line"});
    refused("\n%%MatrixMarket matrix coordinate real general\n1 1 0\n", 0, {"first line"});
    refused("", 0, {"an empty file"});
}

TEST_CASE("a matrix without entries or without rows is a matrix") {
    const auto read = parse(coordinate("2 3 0\n"));
    CHECK(read.matrix.rows == 2);
    CHECK(read.matrix.nonzeros() == 0);
    CHECK(parse(array("0 3\n")).matrix.cols == 3);
}

TEST_CASE("writing and reading Matrix Market gives the same bits") {
    const test::TemporaryFolder folder;
    std::mt19937_64 random(7);
    SparseMatrix m;
    m.cols = 50;
    for (Index i = 0; i < 40; ++i) {
        for (Index j = static_cast<Index>(random() % 5); j < m.cols; j += 1 + static_cast<Index>(random() % 9)) {
            m.push(j, std::ldexp(static_cast<double>(random() >> 11) + 1, static_cast<int>(random() % 2000) - 1100));
        }
        m.end_row();
    }
    io::write_matrix_market(folder / "a.mtx", m);
    const auto read = io::read_matrix_market(folder / "a.mtx");
    CHECK(read.matrix.rows == m.rows);
    CHECK(read.matrix.cols == m.cols);
    CHECK(read.matrix.row_begin == m.row_begin);
    CHECK(read.matrix.column == m.column);
    CHECK(read.matrix.value == m.value);
}
