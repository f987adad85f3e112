#include <attnspan/io/digest.hpp>

#include "io_support.hpp"

using namespace attnspan;

TEST_CASE("digests are those of the standard's examples") {
    // FIPS 180-4, "abc" and the empty message.
    const test::TemporaryFolder folder;
    CHECK(io::sha256_of_file(folder.write("abc", "abc")) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(io::sha256_of_file(folder.write("empty", "")) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_THROWS_AS((void)io::sha256_of_file(folder / "missing"), Error);
}
