#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <system_error>

#include "attnspan/io/file.hpp"
#include "attnspan/io/npy.hpp"
#include "detail.hpp"

namespace attnspan::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy itself refuses headers beyond 10 000 bytes unless told otherwise.
constexpr std::size_t longest_header = std::size_t{1} << 20;

/// Parses the one Python literal a header holds: {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }.
class DictParser {
public:
    DictParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

    void parse_into(NpyHeader& header) {
        std::array<bool, 3> seen{};
        expect('{');
        while (!accept('}')) {
            const std::string key = string();
            const std::size_t which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
            if (which == 3 || std::exchange(seen.at(which), true)) {
                fail("the key " + detail::quoted(key) +
                     " is unknown or repeated; descr, fortran_order and shape are "
                     "expected once each");
            }
            expect(':');
            if (which == 0) {
                if (peek() == '[' || peek() == '(' || peek() == '{') {
                    fail("the array is structured (records with fields); save one field as an array of its own");
                }
                header.dtype = string();
            } else if (which == 1) {
                header.fortran_order = boolean();
            } else {
                header.shape = shape();
            }
            if (!accept(',') && peek() != '}') {
                fail("expected , or }");
            }
        }
        if (std::ranges::find(seen, false) != seen.end()) {
            fail("descr, fortran_order and shape are expected, not all of them are there");
        }
        if (peek() != '\0' || at_ != text_.size()) {
            fail("expected nothing but spaces after the dictionary");
        }
    }

private:
    [[noreturn]] void fail(const std::string& message) const {
        detail::fail("the .npy header cannot be read at its byte " + std::to_string(at_) + ": " + message,
                     {.source = source_});
    }

    /// The next character that is no space; '\0' at the end.
    char peek() {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(char c) {
        const bool found = peek() == c;
        at_ += found ? 1 : 0;
        return found;
    }
    void expect(char c) {
        if (!accept(c)) {
            fail(std::string("expected ") + c);
        }
    }

    std::string string() {
        const char quote = peek();
        const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
        if (end == std::string_view::npos) {
            fail("expected a text in quotes");
        }
        const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return std::string(inside);
    }

    bool boolean() {
        peek();
        for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return word == "True";
            }
        }
        fail("expected True or False");
    }

    std::vector<Index> shape() {
        std::vector<Index> sizes;
        expect('(');
        bool comma = true;
        while (!accept(')')) {
            if (!comma) {
                fail("expected , or )");
            }
            peek();
            Index size = 0;
            const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
            if (error != std::errc{}) {
                fail(error == std::errc::result_out_of_range ? "a size of the shape does not fit into 64 bits"
                                                             : "expected an integer or )");
            }
            if (size < 0) {
                fail("the shape holds " + std::to_string(size) + "; sizes cannot be negative");
            }
            at_ = static_cast<std::size_t>(end - text_.data());
            // Python 2 wrote long integers as 2L.
            at_ += at_ < text_.size() && text_[at_] == 'L' ? 1 : 0;
            sizes.push_back(size);
            comma = accept(',');
        }
        if (sizes.size() == 1 && !comma) {
            fail("a shape of one dimension is written (n,)");
        }
        return sizes;
    }

    std::string_view text_;
    const std::string& source_;
    std::size_t at_ = 0;
};

const char* meaning(char kind) {
    switch (kind) {
        case 'O':
            return "Python objects, which are pickled and never unpickled here";
        case 'c':
            return "complex numbers";
        case 'U':
        case 'S':
        case 'a':
            return "text";
        case 'V':
            return "structured or raw bytes";
        case 'M':
        case 'm':
            return "dates or times";
        default:
            return "not a type that is read here";
    }
}

void read_dtype(NpyHeader& header, const std::string& source) {
    std::string_view type = header.dtype;
    bool big_endian = std::endian::native == std::endian::big;
    if (!type.empty() && std::string_view("<>|=").find(type[0]) != std::string_view::npos) {
        big_endian = type[0] == '>' || (type[0] != '<' && big_endian);
        type.remove_prefix(1);
    }
    constexpr std::array<std::string_view, 12> known{"f2", "f4", "f8", "i1", "i2", "i4",
                                                     "i8", "u1", "u2", "u4", "u8", "b1"};
    if (std::ranges::find(known, type) == known.end()) {
        detail::fail("the array holds elements of dtype " + detail::quoted(header.dtype) + " (" +
                         meaning(type.empty() ? '\0' : type[0]) +
                         "), but f2, f4, f8, i1 to i8, u1 to u8 and bool are expected; convert it with astype",
                     {.source = source});
    }
    header.kind = type[0];
    header.item_size = type[1] - '0';
    header.big_endian = big_endian;
}

/// All but the meaning of the dtype.
NpyHeader parse_layout(std::string_view bytes, const std::string& source) {
    const auto fail = [&](const std::string& message) { detail::fail(message, {.source = source}); };
    if (!bytes.starts_with(magic)) {
        fail("no .npy file: this is " + describe_content(bytes));
    }
    const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
    NpyHeader header;
    header.version = static_cast<int>(byte(6));
    if (bytes.size() >= 8 && (header.version < 1 || header.version > 3 || byte(7) != 0)) {
        fail("the .npy format is version " + std::to_string(byte(6)) + '.' + std::to_string(byte(7)) +
             ", but 1.0, 2.0 and 3.0 are expected");
    }
    const std::size_t before = header.version == 1 ? 10 : 12;
    std::size_t length = byte(8) + (byte(9) << 8);
    if (header.version > 1) {
        length += (std::size_t{byte(10)} << 16) + (std::size_t{byte(11)} << 24);
    }
    if (length > longest_header) {
        fail("the .npy header claims " + std::to_string(length) +
             " bytes, which is not believable; the file is damaged");
    }
    if (bytes.size() < before + length) {
        fail("the file ends inside the .npy header: it has " + std::to_string(bytes.size()) +
             " bytes, the header needs " + std::to_string(before + length) + "; the file is cut short");
    }
    DictParser(bytes.substr(before, length), source).parse_into(header);
    header.data_offset = static_cast<Index>(before + length);
    return header;
}

}  // namespace

NpyHeader read_npy_header(const std::filesystem::path& path) {
    return parse_npy_header(read_file(path, longest_header + 12), path.string());
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& source) {
    NpyHeader header = parse_layout(bytes, source);
    read_dtype(header, source);
    const auto count = detail::product(header.shape);
    if (!count || !detail::product(std::array{*count, header.item_size})) {
        detail::fail("an array of shape " + detail::tuple(header.shape) + " cannot be stored; the header is damaged",
                     {.source = source});
    }
    header.count = *count;
    return header;
}

std::string parse_npy_text(std::string_view bytes, const std::string& source) {
    const NpyHeader header = parse_layout(bytes, source);
    const std::string_view text = bytes.substr(static_cast<std::size_t>(header.data_offset));
    if (!header.dtype.starts_with("|S") || header.dtype.substr(2) != std::to_string(text.size()) ||
        !header.shape.empty()) {
        detail::fail("a single text of bytes is expected, but this is an array of dtype " +
                         detail::quoted(header.dtype) + " and shape " + detail::tuple(header.shape),
                     {.source = source});
    }
    return std::string(text.substr(0, text.find('\0')));
}

}  // namespace attnspan::io
