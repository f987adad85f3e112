#include <algorithm>
#include <array>
#include <attnspan/io/npz.hpp>
#include <attnspan/io/safetensors.hpp>
#include <attnspan/io/target_file.hpp>
#include <iterator>
#include <limits>
#include <random>

#include "io_support.hpp"

using namespace attnspan;
using namespace std::string_literals;

namespace {

/// Cuts, flips, overwrites, repeats or inserts, a few times over.
std::string mutated(std::string bytes, std::mt19937_64& random) {
    static constexpr std::string_view words[] = {"-1",  "99999999999999999999", "nan", "1e999", "\n", "%", "\r",
                                                 "\0x", "9223372036854775807",  "(",   "}",     "L,", "'", "-"};
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1)); };
    for (std::size_t n = 1 + below(2); n > 0; --n) {
        const std::size_t at = below(bytes.size() + 1);
        const std::size_t other = below(bytes.size());
        const std::size_t length = below(20);
        switch (below(6)) {
            case 0:
                bytes.resize(at);
                break;
            case 1:
                if (at < bytes.size()) {
                    bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
                }
                break;
            case 2:
                if (at < bytes.size()) {
                    bytes[at] = static_cast<char>(below(256));
                }
                break;
            case 3:
                bytes.insert(at, bytes.substr(other, length));
                break;
            case 4:
                bytes.insert(at, words[below(std::size(words))]);
                break;
            default:
                bytes.erase(at, length);
        }
    }
    return bytes;
}

}  // namespace

/// An .npz archive of SciPy and a .safetensors file, as this program writes them.
std::vector<std::string> written_archives() {
    const test::TemporaryFolder folder;
    SparseMatrix sparse;
    sparse.cols = 4;
    for (const Index key : {1, 3, 0}) {
        sparse.push(key, 0.5 + static_cast<double>(key));
        sparse.end_row();
    }
    io::write_sparse_npz(folder / "a.npz", sparse);
    const Matrix<double> dense(2, 3, 1.5);
    const std::array<io::NamedMatrix, 2> tensors{{{"A", dense.view()}, {"B", dense.view()}}};
    io::write_safetensors(folder / "a.safetensors", tensors);
    return {test::bytes_of(folder / "a.npz"), test::bytes_of(folder / "a.safetensors")};
}

TEST_CASE("damaged files are read as a well-formed matrix or refused as data or for memory, never worse") {
    std::vector<std::string> seeds{
        "%%MatrixMarket matrix coordinate real general\n% c\n3 4 4\n1 1 1.5D-3\n2 3 +2\n3 4 1e3\n1 2 0\n",
        "%%MatrixMarket matrix coordinate integer symmetric\r\n3 3 3\r\n1 1 4\r\n3 1 5\r\n3 3 7\r\n",
        "%%MatrixMarket matrix coordinate pattern general\n5 5 3\n1 5\n5 1\n3 3\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
        "\x93NUMPY\1\0\x3a\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}\n"s +
            "\0\0\x80\x3f\0\0\0\x40\0\0\0\0\0\0\x80\x40"s,
        "\x93NUMPY\2\0\x3c\0\0\0{'descr': '>u8', 'fortran_order': True, 'shape': (1, 2, 1)}\n"s +
            "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2"s,
    };
    std::ranges::copy(written_archives(), std::back_inserter(seeds));
    const auto undamaged = static_cast<int>(seeds.size());
    std::mt19937_64 random(20240607);
    int read = 0;
    int refused = 0;
    for (int round = 0; round < 60000; ++round) {
        const std::string& seed = seeds[static_cast<std::size_t>(round) % seeds.size()];
        const std::string bytes = round < undamaged ? seed : mutated(seed, random);
        const io::TargetFileOptions options{
            .slice = seed.find("(1, 2, 1)") == std::string::npos ? std::optional<Index>{} : 0,
            .duplicates = random() % 2 == 0 ? io::Duplicates::refuse : io::Duplicates::sum};
        try {
            const io::ReadWeights result = io::parse_target_file(bytes, "f", options);
            // A size line can be damaged into a huge one that still fits; such a matrix is well formed by its counts.
            if (result.matrix.rows < 100000) {
                CHECK_NOTHROW(require_well_formed(result.matrix, "read"));
            }
            for (const double w : result.matrix.value) {
                REQUIRE((w > 0 && w <= std::numeric_limits<double>::max()));
            }
            ++read;
        } catch (const Error& error) {
            REQUIRE((error.kind() == ErrorKind::data || error.kind() == ErrorKind::resource));
            REQUIRE(round >= undamaged);
            ++refused;
        }
    }
    MESSAGE(read << " read, " << refused << " refused");
    CHECK(read > 1000);
    CHECK(refused > 1000);
}
