#include "attnspan/io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <type_traits>

#include "attnspan/io/atomic.hpp"
#include "attnspan/io/file.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"
#include "write.hpp"

namespace attnspan::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they stand in memory");

/// IEEE 754 binary16.
struct Half {
    std::uint16_t bits;

    explicit operator double() const {
        const unsigned exponent = (bits >> 10) & 31U;
        const unsigned fraction = bits & 1023U;
        double magnitude = std::numeric_limits<double>::infinity();
        if (exponent == 0) {
            magnitude = fraction * 0x1p-24;
        } else if (exponent < 31) {
            // A normal half is a normal double with another bias.
            magnitude =
                std::bit_cast<double>((std::uint64_t{exponent} + 1023 - 15) << 52 | std::uint64_t{fraction} << 42);
        } else if (fraction != 0) {
            magnitude = std::numeric_limits<double>::quiet_NaN();
        }
        return (bits >> 15) != 0 ? -magnitude : magnitude;
    }
};

struct Bool {
    std::uint8_t byte;

    explicit operator double() const { return byte != 0 ? 1 : 0; }
};

template <class T>
bool is_exact(T value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(std::uint64_t)) {
        const auto bits = static_cast<std::uint64_t>(value);
        return detail::is_exact_in_double(std::is_signed_v<T> && value < 0 ? 0 - bits : bits);
    } else {
        return true;
    }
}

/// Positions, in C order, of the elements as they stand in the file, one after the other.
class Positions {
public:
    explicit Positions(const NpyHeader& header)
        : header_(header), index_(header.shape.size()), stride_(index_.size(), 1) {
        for (std::size_t d = stride_.size(); d-- > 1;) {
            stride_[d - 1] = stride_[d] * header.shape[d];
        }
    }

    [[nodiscard]] Index position() const { return position_; }

    void advance() {
        if (!header_.fortran_order) {
            ++position_;
            return;
        }
        for (std::size_t d = 0; d < index_.size(); ++d) {
            position_ += stride_[d];
            if (++index_[d] < header_.shape[d]) {
                return;
            }
            position_ -= stride_[d] * std::exchange(index_[d], 0);
        }
    }

    /// The index of the element at a position, for messages.
    [[nodiscard]] std::string name(Index position) const {
        std::vector<Index> index;
        for (const Index s : stride_) {
            index.push_back(position / s);
            position %= s;
        }
        return detail::tuple(index);
    }

private:
    const NpyHeader& header_;
    std::vector<Index> index_;
    std::vector<Index> stride_;
    Index position_ = 0;
};

template <class T>
void decode(const NpyHeader& header, const char* data, std::vector<double>& values, const std::string& source) {
    Positions place(header);
    for (Index t = 0; t < header.count; ++t, place.advance(), data += sizeof(T)) {
        std::array<char, sizeof(T)> bytes;
        std::memcpy(bytes.data(), data, sizeof(T));
        if (header.big_endian) {
            std::ranges::reverse(bytes);
        }
        const auto value = std::bit_cast<T>(bytes);
        if (!is_exact(value)) {
            detail::fail("entry " + place.name(place.position()) +
                             " cannot be held exactly in double precision; scale "
                             "the array or save it as f8",
                         {.source = source});
        }
        values[static_cast<std::size_t>(place.position())] = static_cast<double>(value);
    }
}

using Decoder = void (*)(const NpyHeader&, const char*, std::vector<double>&, const std::string&);

Decoder decoder(const NpyHeader& header) {
    switch (header.kind) {
        case 'f':
            return header.item_size == 2 ? &decode<Half> : header.item_size == 4 ? &decode<float> : &decode<double>;
        case 'b':
            return &decode<Bool>;
        case 'i':
            return std::array{&decode<std::int8_t>, &decode<std::int16_t>, &decode<std::int32_t>,
                              &decode<std::int64_t>}[std::bit_width(static_cast<unsigned>(header.item_size)) - 1U];
        default:
            return std::array{&decode<std::uint8_t>, &decode<std::uint16_t>, &decode<std::uint32_t>,
                              &decode<std::uint64_t>}[std::bit_width(static_cast<unsigned>(header.item_size)) - 1U];
    }
}

template <class T>
void write(const std::filesystem::path& path, ConstMatrixView<T> matrix) {
    const std::string header =
        detail::npy_header("<f" + std::to_string(sizeof(T)), std::array{matrix.rows, matrix.cols});
    write_file_atomically(path, [&](std::ostream& out) {
        out << header;
        detail::write_rows(out, matrix);
    });
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path) {
    return parse_npy(read_file(path), path.string());
}

NpyArray parse_npy(std::string_view bytes, const std::string& source) {
    const NpyHeader header = parse_npy_header(bytes, source);
    const Index expected = header.count * header.item_size;
    const Index found = static_cast<Index>(bytes.size()) - header.data_offset;
    if (found != expected) {
        detail::fail("an array of shape " + detail::tuple(header.shape) + " and dtype " + detail::quoted(header.dtype) +
                         " takes " + std::to_string(expected) + " bytes, but " + std::to_string(found) +
                         " follow the header; " +
                         (found < expected ? "the file is cut short" : "remove what is too much"),
                     {.source = source});
    }
    return decode_array(header, bytes.data() + header.data_offset, source);
}

NpyArray decode_array(const NpyHeader& header, const char* data, const std::string& source) {
    require_memory(sizeof(double) * static_cast<double>(header.count), source);
    NpyArray array{.shape = header.shape, .values = std::vector<double>(static_cast<std::size_t>(header.count))};
    decoder(header)(header, data, array.values, source);
    return array;
}

void write_npy(const std::filesystem::path& path, ConstMatrixView<double> matrix) {
    write(path, matrix);
}
void write_npy(const std::filesystem::path& path, ConstMatrixView<float> matrix) {
    write(path, matrix);
}

}  // namespace attnspan::io
