#include <attnspan/io/npy.hpp>
#include <attnspan/io/target_file.hpp>
#include <cstring>
#include <limits>

#include "io_support.hpp"

using namespace attnspan;
using namespace std::string_literals;
using test::contains;
using test::dense;

namespace {

using Row = std::vector<double>;

/// A .npy file of doubles in C order.
std::string npy(const std::string& shape, const Row& values) {
    const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
    std::string data(8 * values.size(), '\0');
    if (!values.empty()) {
        std::memcpy(data.data(), values.data(), data.size());
    }
    return "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header + data;
}

io::ReadWeights parse(const std::string& bytes, std::optional<Index> slice = {}) {
    return io::parse_target_file(bytes, "t", {.slice = slice});
}

void refused(const std::string& bytes, std::optional<Index> slice, std::initializer_list<std::string_view> parts) {
    const Error error = test::error_of([&] { return parse(bytes, slice); });
    CAPTURE(std::string(error.what()));
    CHECK(error.kind() == ErrorKind::data);
    CHECK(error.where().source == "t");
    for (const std::string_view part : parts) {
        CAPTURE(part);
        CHECK(contains(error, part));
    }
}

SparseMatrix sparse(Index cols, const std::vector<Row>& rows) {
    SparseMatrix m;
    m.cols = cols;
    for (const Row& row : rows) {
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (row[j] != 0) {
                m.push(static_cast<Index>(j), row[j]);
            }
        }
        m.end_row();
    }
    return m;
}

VisibleRanges all_visible(const SparseMatrix& m) {
    return {m.cols, std::vector<KeyRange>(static_cast<std::size_t>(m.rows), KeyRange{0, m.cols})};
}

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 4\n2 1 0\n";

}  // namespace

TEST_CASE("content decides the format, not the name") {
    const test::TemporaryFolder folder;
    CHECK(dense(io::read_target_file(folder.write("a.npy", matrix)).matrix) == Row{0, 4, 0, 0, 0, 0});
    CHECK(dense(io::read_target_file(folder.write("b.mtx", npy("(2, 2)", {1, 0, 0, 2}))).matrix) == Row{1, 0, 0, 2});
    CHECK(parse(matrix).explicit_zeros == 1);
    CHECK(parse(npy("(2, 2)", {1, 0, 0, 2})).explicit_zeros == 0);
}

TEST_CASE("errors of the format keep the place in the file") {
    const Error error =
        test::error_of([] { return parse("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 -1\n"); });
    CHECK(error.where().str() == "t:3:5");
}

TEST_CASE("a stack gives the slice asked for and is refused without one") {
    const std::string stack = npy("(3, 1, 2)", {1, 2, 3, 4, 5, 0});
    CHECK(dense(parse(stack, 0).matrix) == Row{1, 2});
    CHECK(dense(parse(stack, 2).matrix) == Row{5, 0});
    refused(stack, {}, {"(3, 1, 2)", "3 matrices", "slice = h"});
    refused(stack, 3, {"slice = 3", "0 to 2"});
    refused(stack, -1, {"slice = -1", "0 to 2"});
    refused(npy("(0, 2, 2)", {}), 0, {"the stack is empty"});
}

TEST_CASE("a slice of a single matrix and arrays of other dimensions are refused") {
    refused(npy("(1, 2)", {1, 2}), 0, {"slice = 0", "leave it out"});
    refused(matrix, 1, {"(2, 3)", "slice = 1"});
    refused(npy("(2,)", {1, 2}), {}, {"(2,)", "queries x keys"});
    refused(npy("()", {1}), {}, {"()", "queries x keys"});
    refused(npy("(1, 1, 1, 2)", {1, 2}), 0, {"(1, 1, 1, 2)"});
}

TEST_CASE("dense entries that are no weights are refused with row and key") {
    const double inf = std::numeric_limits<double>::infinity();
    refused(npy("(2, 2)", {1, 2, -0.5, 4}), {}, {"entry (1, 0) is -0.5"});
    refused(npy("(2, 2)", {1, inf, 3, 4}), {}, {"entry (0, 1) is inf"});
    refused(npy("(2, 2)", {1, 2, 3, std::numeric_limits<double>::quiet_NaN()}), {}, {"entry (1, 1) is nan"});
    const std::string stack = npy("(2, 1, 1)", {-1, 2});
    CHECK(dense(parse(stack, 1).matrix) == Row{2});
    refused(stack, 0, {"entry (0, 0) is -1"});
    CHECK(parse(npy("(1, 2)", {-0.0, 1})).matrix.nonzeros() == 1);
}

TEST_CASE("a matrix without rows or columns is refused") {
    refused(npy("(0, 2)", {}), {}, {"0 x 2"});
    refused("%%MatrixMarket matrix coordinate real general\n2 0 0\n", {}, {"2 x 0"});
}

TEST_CASE("other files are refused by what they are") {
    refused("PK\3\4", {}, {"zip archive"});
    refused("", {}, {"empty file"});
    refused("1 2\n", {}, {"text that begins with \"1 2\""});
}

TEST_CASE("keep top keeps the largest of each row, the lower key among equals") {
    const SparseMatrix m = sparse(5, {{1, 3, 2, 3, 3}, {0, 0, 7, 0, 0}, {}, {2, 2, 2, 2, 2}});
    const io::Kept kept = io::keep(m, io::KeepTop{2}, all_visible(m));
    CHECK(dense(kept.matrix) == Row{0, 3, 0, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0});
    CHECK(kept.entries_dropped == 6);
    CHECK(kept.dropped_mass_max == doctest::Approx(6.0 / 10).epsilon(1e-15));
    CHECK(kept.dropped_mass_mean == doctest::Approx((6.0 / 12 + 0 + 6.0 / 10) / 3).epsilon(1e-15));
}

TEST_CASE("keep above keeps what is greater, not what is equal") {
    const SparseMatrix m = sparse(3, {{0.5, 0.25, 0.25}, {0.1, 0.2, 0.1}});
    const io::Kept kept = io::keep(m, io::KeepAbove{0.25}, all_visible(m));
    CHECK(dense(kept.matrix) == Row{0.5, 0, 0, 0, 0, 0});
    CHECK(kept.entries_dropped == 5);
    CHECK(kept.dropped_mass_max == 1.0);
    CHECK(kept.dropped_mass_mean == doctest::Approx(0.75).epsilon(1e-15));
}

TEST_CASE("keep leaves invisible entries alone and does not count them") {
    const SparseMatrix m = sparse(4, {{9, 1, 2, 9}, {5, 5, 5, 5}});
    const VisibleRanges visible{4, {{1, 3}, {2, 2}}};
    const io::Kept kept = io::keep(m, io::KeepTop{1}, visible);
    CHECK(dense(kept.matrix) == Row{9, 0, 2, 9, 5, 5, 5, 5});
    CHECK(kept.entries_dropped == 1);
    CHECK(kept.dropped_mass_max == doctest::Approx(1.0 / 3).epsilon(1e-15));
    CHECK(kept.dropped_mass_mean == doctest::Approx(1.0 / 3).epsilon(1e-15));
}

TEST_CASE("dropped mass is a fraction also where the row sum overflows") {
    const SparseMatrix m = sparse(4, {{1e308, 1e308, 1e308, 1e308}});
    CHECK(io::keep(m, io::KeepTop{3}, all_visible(m)).dropped_mass_max == 0.25);
}
