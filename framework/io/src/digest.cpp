#include "attnspan/io/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string_view>

#include "attnspan/error.hpp"
#include "attnspan/io/file.hpp"
#include "write.hpp"

namespace attnspan::io {
namespace {

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
    }
    void add(const void* bytes, std::size_t size) { require(EVP_DigestUpdate(context_.get(), bytes, size) == 1); }
    [[nodiscard]] std::string hexadecimal() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned int size = 0;
        require(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
        constexpr std::string_view digits = "0123456789abcdef";
        std::string out;
        for (unsigned int i = 0; i < size; ++i) {
            const unsigned int byte = digest.at(i);
            out += digits[byte / digits.size()];
            out += digits[byte % digits.size()];
        }
        return out;
    }

private:
    static void require(bool worked) {
        if (!worked) {
            throw Error(ErrorKind::resource, "SHA-256 cannot be computed here");
        }
    }

    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path) {
    const std::string bytes = read_file(path);
    Sha256 digest;
    digest.add(bytes.data(), bytes.size());
    return digest.hexadecimal();
}

std::string sha256_of_rows(ConstMatrixView<double> matrix) {
    Sha256 digest;
    detail::for_each_row(
        matrix, [&digest](const double* first, std::size_t count) { digest.add(first, count * sizeof(double)); });
    return digest.hexadecimal();
}

}  // namespace attnspan::io
