#include <attnspan/io/array_file.hpp>
#include <attnspan/io/npy.hpp>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "io_support.hpp"

using namespace attnspan;
using namespace std::string_literals;
using test::contains;

namespace {

using Values = std::vector<double>;

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

/// A file with this header text and data, whatever they hold.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string length;
    for (int shift = 0; shift < (version == 1 ? 16 : 32); shift += 8) {
        length += static_cast<char>((header.size() >> shift) & 255);
    }
    return "\x93NUMPY"s + static_cast<char>(version) + '\0' + length + header + data;
}

/// The bytes of numbers, little-endian or reversed.
template <class T>
std::string raw(std::initializer_list<T> numbers, bool reversed = false) {
    std::string out;
    for (const T number : numbers) {
        std::string bytes(sizeof(T), '\0');
        std::memcpy(bytes.data(), &number, sizeof(T));
        out += reversed ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
    }
    return out;
}

Values values(const std::string& bytes) {
    return io::parse_npy(bytes, "a.npy").values;
}

void refused(const std::string& bytes, std::initializer_list<std::string_view> parts) {
    const Error error = test::error_of([&] { return io::parse_npy(bytes, "a.npy"); });
    CAPTURE(std::string(error.what()));
    CHECK(error.kind() == ErrorKind::data);
    CHECK(error.where().source == "a.npy");
    for (const std::string_view part : parts) {
        CAPTURE(part);
        CHECK(contains(error, part));
    }
}

/// All dtypes of one integer type, at its limits, in both byte orders.
template <class T>
void check_integer(const std::string& type) {
    const T low = std::numeric_limits<T>::min();
    const T high = sizeof(T) < 8 ? std::numeric_limits<T>::max() : static_cast<T>(T{1} << 62);
    const Values expected{static_cast<double>(low), 1, static_cast<double>(high)};
    CHECK(values(npy(dict('<' + type, "(3,)"), raw<T>({low, 1, high}))) == expected);
    CHECK(values(npy(dict('>' + type, "(3,)"), raw<T>({low, 1, high}, true))) == expected);
}

}  // namespace

TEST_CASE("every real dtype is read in both byte orders") {
    check_integer<std::int8_t>("i1");
    check_integer<std::int16_t>("i2");
    check_integer<std::int32_t>("i4");
    check_integer<std::int64_t>("i8");
    check_integer<std::uint8_t>("u1");
    check_integer<std::uint16_t>("u2");
    check_integer<std::uint32_t>("u4");
    check_integer<std::uint64_t>("u8");
    const Values expected{0.1f, -2.5, 1e30f};
    CHECK(values(npy(dict("<f4", "(3,)"), raw<float>({0.1f, -2.5f, 1e30f}))) == expected);
    CHECK(values(npy(dict(">f4", "(3,)"), raw<float>({0.1f, -2.5f, 1e30f}, true))) == expected);
    CHECK(values(npy(dict("<f8", "(2,)"), raw<double>({0.1, 1e300}))) == Values{0.1, 1e300});
    CHECK(values(npy(dict(">f8", "(2,)"), raw<double>({0.1, 1e300}, true))) == Values{0.1, 1e300});
    CHECK(values(npy(dict("|b1", "(3,)"), "\0\1\1"s)) == Values{0, 1, 1});
    CHECK(values(npy(dict("|u1", "(1,)"), "\xff")) == Values{255});
    CHECK(values(npy(dict("=f4", "(1,)"), raw<float>({3}))) == Values{3});
    CHECK(values(npy(dict("f4", "(1,)"), raw<float>({3}))) == Values{3});
}

TEST_CASE("half precision follows IEEE 754 binary16") {
    // Bit patterns of the standard: 1, -2, the largest finite, the smallest normal, the smallest subnormal, 1/3.
    const std::initializer_list<std::uint16_t> bits{0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3555, 0x8000};
    const Values expected{1, -2, 65504, std::ldexp(1.0, -14), std::ldexp(1.0, -24), std::ldexp(1365.0, -12), -0.0};
    CHECK(values(npy(dict("<f2", "(7,)"), raw<std::uint16_t>(bits))) == expected);
    CHECK(values(npy(dict(">f2", "(7,)"), raw<std::uint16_t>(bits, true))) == expected);
    const Values special = values(npy(dict("<f2", "(3,)"), raw<std::uint16_t>({0x7c00, 0xfc00, 0x7e00})));
    CHECK(special[0] == std::numeric_limits<double>::infinity());
    CHECK(special[1] == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(special[2]));
}

TEST_CASE("every half that is finite equals its value computed from sign, exponent and fraction") {
    for (int bits = 0; bits < 65536; ++bits) {
        const int exponent = (bits >> 10) & 31;
        const double fraction = (bits & 1023) / 1024.0;
        const double magnitude =
            exponent == 0 ? fraction * std::pow(2.0, -14) : (1 + fraction) * std::pow(2.0, exponent - 15);
        const double expected = bits < 32768 ? magnitude : -magnitude;
        if (exponent < 31) {
            REQUIRE(values(npy(dict("<f2", "()"), raw<std::uint16_t>({static_cast<std::uint16_t>(bits)}))) ==
                    Values{expected});
        }
    }
}

TEST_CASE("Fortran order gives the same logical array as C order") {
    // a[i][j][k] = 100 i + 10 j + k of shape (2, 3, 4); storage order by the definition of each.
    std::string c;
    std::string fortran;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 4; ++k) {
                c += raw<double>({100.0 * i + 10 * j + k});
            }
        }
    }
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 2; ++i) {
                fortran += raw<double>({100.0 * i + 10 * j + k});
            }
        }
    }
    const auto array = io::parse_npy(npy(dict("<f8", "(2, 3, 4)", "True"), fortran), "a.npy");
    CHECK(array.shape == std::vector<Index>{2, 3, 4});
    CHECK(array.values == values(npy(dict("<f8", "(2, 3, 4)"), c)));
}

TEST_CASE("versions 1, 2 and 3 are read, others refused") {
    const std::string header = dict("<f8", "(1,)");
    for (const int version : {1, 2, 3}) {
        const std::string bytes = npy(header, raw<double>({4}), version);
        CHECK(values(bytes) == Values{4});
        CHECK(io::parse_npy_header(bytes, "a.npy").version == version);
    }
    refused(npy(header, raw<double>({4}), 4), {"version 4.0"});
    refused(npy(header, raw<double>({4}), 0), {"version 0.0"});
    refused("\x93NUMPY\1\1v\0"s, {"version 1.1"});
}

TEST_CASE("the header is read as Python writes it") {
    const auto header = [](const std::string& text) { return io::parse_npy_header(npy(text, ""), "a.npy"); };
    CHECK(header("{'shape': (3, 5), 'fortran_order': True, 'descr': '>i4'}\n").shape == std::vector<Index>{3, 5});
    CHECK(header(R"({"descr":"<f8","fortran_order":False,"shape":(7,)}    )").shape == std::vector<Index>{7});
    CHECK(header(dict("<f8", "(2L,)")).shape == std::vector<Index>{2});
    CHECK(header(dict("<f8", "(2L, 3L)")).shape == std::vector<Index>{2, 3});
    CHECK(header(dict("<f8", "()")).count == 1);
    CHECK(header(dict("<f8", "(0, 9223372036854775807, 9223372036854775807)")).count == 0);
    const auto full = header(dict(">i4", "(3, 5)", "True"));
    CHECK(full.dtype == ">i4");
    CHECK(full.kind == 'i');
    CHECK(full.item_size == 4);
    CHECK(full.big_endian);
    CHECK(full.fortran_order);
    CHECK(full.count == 15);
    CHECK(full.data_offset == static_cast<Index>(10 + dict(">i4", "(3, 5)", "True").size()));
}

TEST_CASE("headers that are no such dictionary are refused at their byte") {
    for (const std::string text : {"",
                                   "{",
                                   "}",
                                   "[]",
                                   "{}",
                                   "{'descr': '<f8'}",
                                   "{'descr': '<f8', 'fortran_order': False}",
                                   "{'descr': <f8, 'fortran_order': False, 'shape': (1,)}",
                                   "{'descr': '<f8, 'fortran_order': False}",
                                   "{'descr' '<f8', 'fortran_order': False, 'shape': (1,)}",
                                   "{'descr': '<f8' 'fortran_order': False}",
                                   "{descr: '<f8', 'fortran_order': False, 'shape': (1,)}",
                                   "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
                                   "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (1)}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (,)}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,)}",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (1,",
                                   "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x"}) {
        CAPTURE(text);
        refused(npy(text, raw<double>({1})), {"header cannot be read at its byte"});
    }
    refused(npy(dict("<f8", "(1,)") + '\0' + ' ', raw<double>({1})), {"nothing but spaces"});
}

TEST_CASE("impossible shapes are refused by name") {
    refused(npy(dict("<f8", "(-1, 2)"), ""), {"-1", "negative"});
    refused(npy(dict("<f8", "(99999999999999999999,)"), ""), {"64 bits"});
    refused(npy(dict("<f8", "(4294967296, 4294967296)"), ""), {"(4294967296, 4294967296)", "cannot be stored"});
    refused(npy(dict("<f8", "(9223372036854775807,)"), ""), {"(9223372036854775807,)", "cannot be stored"});
}

TEST_CASE("dtypes without real numbers are refused by name") {
    refused(npy(dict("|O", "(1,)"), "x"), {"\"|O\"", "never unpickled"});
    refused(npy(dict("<c8", "(1,)"), "x"), {"\"<c8\"", "complex"});
    refused(npy(dict("<U5", "(1,)"), "x"), {"\"<U5\"", "text"});
    refused(npy(dict("|S5", "(1,)"), "x"), {"\"|S5\"", "text"});
    refused(npy(dict("|V8", "(1,)"), "x"), {"\"|V8\"", "raw bytes"});
    refused(npy(dict("<M8[s]", "(1,)"), "x"), {"\"<M8[s]\"", "dates"});
    for (const std::string type : {"<f16", "<i3", "<f", "", "<", "<f4x", "<q8", "<b8"}) {
        refused(npy(dict(type, "(1,)"), "x"), {'"' + type + '"', "not a type that is read here"});
    }
    refused(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "x"), {"structured"});
}

TEST_CASE("a truncated header is refused with its size") {
    const std::string whole = npy(dict("<f8", "(1,)"), "");
    for (std::size_t size = 6; size < whole.size(); ++size) {
        refused(whole.substr(0, size), {"ends inside the .npy header", std::to_string(size) + " bytes"});
    }
    refused("\x93NUMPY\2\0\xff\xff\xff\x7f"s, {"2147483647", "not believable"});
}

TEST_CASE("data of another length than the shape says are refused with both sizes") {
    refused(npy(dict("<f8", "(2, 2)"), raw<double>({1, 2, 3})), {"(2, 2)", "32 bytes", "24", "cut short"});
    refused(npy(dict("<f8", "(2,)"), raw<double>({1, 2}) + "x"), {"16 bytes", "17", "too much"});
    refused(npy(dict("<f8", "(100000000, 1000)"), ""), {"800000000000 bytes", "but 0"});
    refused(npy(dict("<f8", "(0,)"), "x"), {"0 bytes", "but 1"});
}

TEST_CASE("files of another kind are refused by what they are") {
    refused("", {"empty file"});
    refused("PK\3\4", {".npz"});
    refused("%%MatrixMarket matrix array real general\n", {"Matrix Market"});
}

TEST_CASE("integers that a double cannot hold are refused with their index") {
    refused(npy(dict("<i8", "(1, 2)"), raw<std::int64_t>({1, (std::int64_t{1} << 53) + 1})), {"(0, 1)", "exactly"});
    refused(npy(dict("<i8", "(2, 2)", "True"), raw<std::int64_t>({1, 2, -(std::int64_t{1} << 53) - 1, 4})), {"(0, 1)"});
    refused(npy(dict("<u8", "(1,)"), raw<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()})), {"(0,)"});
    CHECK(
        values(npy(dict("<i8", "(2,)"), raw<std::int64_t>({-(std::int64_t{1} << 53), (std::int64_t{1} << 53) + 2}))) ==
        Values{-9007199254740992.0, 9007199254740994.0});
}

TEST_CASE("a header can be read without the data") {
    const test::TemporaryFolder folder;
    const auto path = folder.write("a.npy", npy(dict("<f4", "(1000, 1000, 1000)"), "xx"));
    CHECK(io::read_npy_header(path).count == 1000000000);
}

TEST_CASE("writing and reading .npy gives the same bits, also from a view with gaps") {
    const test::TemporaryFolder folder;
    std::mt19937_64 random(3);
    Matrix<double> m(7, 5);
    for (Index j = 0; j < m.cols(); ++j) {
        for (Index i = 0; i < m.rows(); ++i) {
            m(i, j) = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 600) - 300);
        }
    }
    const ConstMatrixView<double> view = ConstMatrixView<double>(m.view()).block(1, 6, 2, 5);
    io::write_npy(folder / "a.npy", view);
    const Matrix<double> read = io::read_matrix((folder / "a.npy").string(), "X");
    REQUIRE(read.rows() == 5);
    REQUIRE(read.cols() == 3);
    for (Index i = 0; i < 5; ++i) {
        for (Index j = 0; j < 3; ++j) {
            CHECK(read(i, j) == view(i, j));
        }
    }
    const auto header = io::read_npy_header(folder / "a.npy");
    CHECK(header.dtype == "<f8");
    CHECK(header.data_offset == 128);
    CHECK_FALSE(header.fortran_order);

    Matrix<float> single(2, 3, 0.1f);
    single(1, 0) = -7;
    io::write_npy(folder / "b.npy", single.view());
    CHECK(values(test::bytes_of(folder / "b.npy")) == Values{0.1f, 0.1f, 0.1f, -7, 0.1f, 0.1f});
    CHECK(io::read_npy_header(folder / "b.npy").dtype == "<f4");
}

TEST_CASE("the bytes written are those that numpy.save writes") {
    const test::TemporaryFolder folder;
    Matrix<double> m(1, 2, 1.0);
    io::write_npy(folder / "a.npy", m.view());
    // numpy 1.24: np.save(file, np.ones((1, 2)))
    std::string expected = "\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }"s;
    expected.resize(127, ' ');
    CHECK(test::bytes_of(folder / "a.npy") == expected + '\n' + raw<double>({1, 1}));
}

TEST_CASE("a matrix is read from two dimensions only") {
    const test::TemporaryFolder folder;
    const auto path = folder.write("a.npy", npy(dict("<f8", "(2,)"), raw<double>({1, 2})));
    const Error error = test::error_of([&] { return io::read_matrix(path.string(), "X"); });
    CHECK(error.kind() == ErrorKind::data);
    CHECK(contains(error, "(2,)"));
}
