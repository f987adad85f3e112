#include "attnspan/io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "attnspan/io/atomic.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"
#include "write.hpp"

namespace attnspan::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t before = 8;               ///< bytes that hold the length of the header
constexpr int deepest = 8;                      ///< objects and lists of a header inside each other
constexpr std::uint64_t longest = 100'000'000;  ///< bytes of a header that other readers take

struct ElementType {
    std::string_view name;
    char kind;  ///< as in NpyHeader
    Index size;
};
constexpr std::array types{
    ElementType{"F64", 'f', 8},  ElementType{"F32", 'f', 4}, ElementType{"F16", 'f', 2}, ElementType{"BF16", 'f', 2},
    ElementType{"I64", 'i', 8},  ElementType{"I32", 'i', 4}, ElementType{"I16", 'i', 2}, ElementType{"I8", 'i', 1},
    ElementType{"U64", 'u', 8},  ElementType{"U32", 'u', 4}, ElementType{"U16", 'u', 2}, ElementType{"U8", 'u', 1},
    ElementType{"BOOL", 'b', 1},
};

const ElementType* type_of(const std::string& dtype) {
    const auto* const found = std::ranges::find(types, dtype, &ElementType::name);
    return found == types.end() ? nullptr : found;
}

std::uint64_t header_length(std::string_view bytes) {
    std::uint64_t length = 0;
    for (std::size_t t = before; t-- > 0;) {
        length = length << 8 | static_cast<unsigned char>(bytes[t]);
    }
    return length;
}

/// The header, in which no key may stand twice.
Json parse_header(std::string_view text, const std::string& source) {
    std::vector<std::set<std::string>> seen;
    const Json::parser_callback_t once = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > deepest) {
            detail::fail("the safetensors header is nested deeper than its format; the file is damaged",
                         {.source = source});
        }
        if (event == Json::parse_event_t::object_start) {
            seen.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            seen.pop_back();
        } else if (event == Json::parse_event_t::key && !seen.back().insert(parsed.get<std::string>()).second) {
            detail::fail(
                "the key " + detail::quoted(parsed.get<std::string>()) + " stands twice in the safetensors header",
                {.source = source});
        }
        return true;
    };
    try {
        return Json::parse(text, once);
    } catch (const Json::parse_error& e) {
        detail::fail(
            "the safetensors header is no JSON at its byte " + std::to_string(e.byte) + "; the file is damaged",
            {.source = source});
    } catch (const Json::out_of_range&) {
        detail::fail("a number of the safetensors header is out of range; the file is damaged", {.source = source});
    }
}

/// An integer >= 0, or nothing.
std::optional<Index> as_index(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 62
               ? std::optional(value.get<Index>())
               : std::nullopt;
}

/// A list of integers >= 0, or nothing.
std::optional<std::vector<Index>> as_indices(const Json& entry, const char* key) {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_array()) {
        return std::nullopt;
    }
    std::vector<Index> out;
    for (const Json& element : entry[key]) {
        const std::optional<Index> value = as_index(element);
        if (!value) {
            return std::nullopt;
        }
        out.push_back(*value);
    }
    return out;
}

}  // namespace

bool is_safetensors(std::string_view bytes) {
    return bytes.size() > before && bytes[before] == '{' && header_length(bytes) <= longest;
}

Safetensors::Safetensors(std::string_view bytes, std::string source) : source_(std::move(source)) {
    const auto fail = [&](const std::string& message) { detail::fail(message, {.source = source_}); };
    if (!is_safetensors(bytes)) {
        fail("no safetensors file: 8 bytes with the length of a header, and the header, are expected");
    }
    const auto length = static_cast<std::size_t>(header_length(bytes));
    if (length > bytes.size() - before) {
        fail("the file ends inside the safetensors header: it has " + std::to_string(bytes.size()) +
             " bytes, the header needs " + std::to_string(before + length) + "; the file is cut short");
    }
    data_ = bytes.substr(before + length);
    const Json header = parse_header(bytes.substr(before, length), source_);
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") {
            continue;
        }
        const auto shape = as_indices(entry, "shape");
        const auto offsets = as_indices(entry, "data_offsets");
        if (!shape || !offsets || offsets->size() != 2 || !entry.contains("dtype") || !entry["dtype"].is_string()) {
            fail("the tensor " + detail::quoted(name) + " needs a dtype, a shape and two data_offsets");
        }
        Tensor tensor{.dtype = entry["dtype"], .shape = *shape, .begin = offsets->front(), .end = offsets->back()};
        if (tensor.begin > tensor.end || tensor.end > static_cast<Index>(data_.size())) {
            fail("the tensor " + detail::quoted(name) + " claims the bytes " + std::to_string(tensor.begin) + " to " +
                 std::to_string(tensor.end) + " of " + std::to_string(data_.size()) +
                 "; the file is damaged or cut short");
        }
        names_.push_back(name);
        tensors_.push_back(std::move(tensor));
    }
    if (names_.empty()) {
        fail("the safetensors file holds no tensor");
    }
    // The format knows neither holes nor overlaps: what is not described could hide anything.
    std::vector<std::pair<Index, Index>> ranges;
    for (const Tensor& t : tensors_) {
        ranges.emplace_back(t.begin, t.end);
    }
    std::ranges::sort(ranges);
    Index reached = 0;
    for (const auto& [begin, end] : ranges) {
        if (begin != reached) {
            fail("the tensors do not lie one behind the other: one begins at byte " + std::to_string(begin) +
                 ", where " + std::to_string(reached) + " is expected; the file is damaged");
        }
        reached = end;
    }
    if (reached != static_cast<Index>(data_.size())) {
        fail(std::to_string(static_cast<Index>(data_.size()) - reached) +
             " bytes follow the last tensor; the file is "
             "damaged");
    }
}

const Safetensors::Tensor& Safetensors::tensor(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
        detail::fail("there is no tensor " + detail::quoted(name), {.source = source_});
    }
    return tensors_[static_cast<std::size_t>(found - names_.begin())];
}

NpyArray Safetensors::array(const std::string& name) const {
    const Tensor& t = tensor(name);
    const std::string place = source_ + ':' + name;
    const ElementType* const type = type_of(t.dtype);
    if (type == nullptr) {
        detail::fail("its elements are " + detail::quoted(t.dtype) +
                         ", but F64, F32, F16, BF16, integers of 8 to 64 bits and BOOL are read; convert it",
                     {.source = place});
    }
    NpyHeader header{.dtype = t.dtype, .kind = type->kind, .item_size = type->size, .shape = t.shape};
    const auto count = detail::product(t.shape);
    const auto bytes = count ? detail::product(std::array{*count, type->size}) : std::nullopt;
    if (bytes != t.end - t.begin) {
        detail::fail("a tensor of shape " + detail::tuple(t.shape) + " and dtype " + detail::quoted(t.dtype) +
                         " does not take the " + std::to_string(t.end - t.begin) +
                         " bytes that it has; the header is damaged",
                     {.source = place});
    }
    header.count = *count;
    const char* const first = data_.data() + t.begin;
    if (t.dtype != "BF16") {
        return decode_array(header, first, place);
    }
    // The upper half of a float.
    require_memory(static_cast<double>(*count) * (sizeof(float) + sizeof(double)), place);
    std::string wide;
    wide.reserve(static_cast<std::size_t>(*count) * sizeof(float));
    for (Index e = 0; e < *count; ++e) {
        wide.append(2, '\0').append(first + 2 * e, 2);
    }
    header.item_size = sizeof(float);
    return decode_array(header, wide.data(), place);
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedMatrix> matrices) {
    Json header = Json::object();
    Index reached = 0;
    for (const auto& [name, matrix] : matrices) {
        const Index end = reached + matrix.rows * matrix.cols * static_cast<Index>(sizeof(double));
        header[name] = {{"dtype", "F64"}, {"shape", {matrix.rows, matrix.cols}}, {"data_offsets", {reached, end}}};
        reached = end;
    }
    std::string text = header.dump();
    // So that the data are aligned to their elements.
    text.append((before - text.size() % before) % before, ' ');
    write_file_atomically(path, [&](std::ostream& out) {
        for (std::size_t t = 0; t < before; ++t) {
            out.put(static_cast<char>(text.size() >> (8 * t)));
        }
        out << text;
        for (const NamedMatrix& named : matrices) {
            detail::write_rows(out, named.matrix);
        }
    });
}

}  // namespace attnspan::io
