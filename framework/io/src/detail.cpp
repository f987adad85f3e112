#include "detail.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <system_error>

namespace attnspan::io::detail {

void fail_system(const std::string& verb, const std::filesystem::path& path, int error_number) {
    throw Error(ErrorKind::resource, "cannot " + verb + ": " + std::generic_category().message(error_number),
                {.source = path.string()});
}

std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 40;
    std::string out = "\"";
    for (const char c : text.substr(0, longest)) {
        out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out + (text.size() > longest ? "...\"" : "\"");
}

std::string shortest(double value) {
    std::array<char, 32> buffer{};
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string tuple(std::span<const Index> values) {
    std::string out = "(";
    for (std::size_t i = 0; i < values.size(); ++i) {
        out += (i > 0 ? ", " : "") + std::to_string(values[i]);
    }
    return out + (values.size() == 1 ? ",)" : ")");
}

std::optional<Index> product(std::span<const Index> factors) {
    if (std::ranges::find(factors, 0) != factors.end()) {
        return 0;
    }
    Index result = 1;
    for (const Index factor : factors) {
        if (result > std::numeric_limits<Index>::max() / factor) {
            return std::nullopt;
        }
        result *= factor;
    }
    return result;
}

bool is_exact_in_double(std::uint64_t magnitude) {
    return magnitude == 0 || (magnitude >> std::countr_zero(magnitude)) < (std::uint64_t{1} << 53);
}

}  // namespace attnspan::io::detail
