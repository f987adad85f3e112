#include "attnspan/io/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <string_view>

#include "attnspan/error.hpp"
#include "attnspan/io/file.hpp"

namespace attnspan::io {

std::string sha256_of_file(const std::filesystem::path& path) {
    const std::string bytes = read_file(path);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
        throw Error(ErrorKind::resource, path.string() + ": SHA-256 cannot be computed here");
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (unsigned int i = 0; i < size; ++i) {
        const unsigned int byte = digest.at(i);
        out += digits[byte / digits.size()];
        out += digits[byte % digits.size()];
    }
    return out;
}

}  // namespace attnspan::io
