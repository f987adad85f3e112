#include <doctest/doctest.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "attnspan/plugin.hpp"
#include "attnspan/runtime/elf.hpp"
#include "loader_support.hpp"

using namespace attnspan::runtime;
using namespace loader_test;

namespace {

LoadFailure refusal(const fs::path& file) {
    LoadFailure failure = failure_in(read_plugin_entry(file));
    if (failure.stage != "none") {
        CHECK(failure.file == file);
    }
    return failure;
}

template <class Value>
std::string patched(std::string bytes, std::size_t offset, Value value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
}

template <class T>
T taken(const std::string& bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// Where the first program header of a type stands.
std::size_t program_header(const std::string& bytes, Elf64_Word type) {
    const auto header = taken<Elf64_Ehdr>(bytes, 0);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        if (taken<Elf64_Phdr>(bytes, at).p_type == type) {
            return at;
        }
    }
    throw std::runtime_error("no such program header");
}

/// Where the dynamic section's item with a tag stands in the file.
std::size_t dynamic_item(const std::string& bytes, Elf64_Sxword tag) {
    std::size_t at = taken<Elf64_Phdr>(bytes, program_header(bytes, PT_DYNAMIC)).p_offset;
    while (taken<Elf64_Dyn>(bytes, at).d_tag != tag) {
        REQUIRE(taken<Elf64_Dyn>(bytes, at).d_tag != DT_NULL);
        at += sizeof(Elf64_Dyn);
    }
    return at;
}

/// The offset of a table: tables of symbols stand in the first segment, where addresses are offsets.
std::size_t table(const std::string& bytes, Elf64_Sxword tag) {
    return taken<Elf64_Dyn>(bytes, dynamic_item(bytes, tag)).d_un.d_ptr;
}

}  // namespace

TEST_CASE("what is no regular, readable file is refused at stage file") {
    const Folder folder;
    fs::create_directory(folder / "folder.so");
    fs::create_symlink(folder / "nothing", folder / "dangling.so");
    REQUIRE(::mkfifo((folder / "pipe.so").c_str(), 0644) == 0);

    for (const auto& c : {std::pair{"folder.so", "is a folder"},
                          {"dangling.so", "is a symbolic link to nothing"},
                          {"pipe.so", "is not a regular file"},
                          {"absent.so", "does not exist"}}) {
        CAPTURE(c.first);
        const LoadFailure failure = refusal(folder / c.first);
        CHECK(failure.stage == "file");
        CHECK(contains(failure.reason, c.second));
    }
}

TEST_CASE("an unreadable file is refused with the system's reason") {
    const Folder folder;
    fs::copy_file(built("good"), folder / "secret.so");
    fs::permissions(folder / "secret.so", fs::perms::none);
    // Root reads everything; nobody does not.
    const bool is_root = ::geteuid() == 0;
    if (is_root) {
        REQUIRE(::seteuid(65534) == 0);
    }
    const LoadFailure failure = refusal(folder / "secret.so");
    if (is_root) {
        REQUIRE(::seteuid(0) == 0);
    }
    CHECK(failure.stage == "file");
    CHECK(contains(failure.reason, "Permission denied"));
}

TEST_CASE("what is no shared library for this machine is refused at stage format") {
    const Folder folder;
    const std::string good = bytes_of(built("good"));
    const std::size_t load = program_header(good, PT_LOAD);
    const std::size_t dynamic = program_header(good, PT_DYNAMIC);

    struct Case {
        const char* what;
        std::string bytes;
        const char* reason;
    };
    const std::vector<Case> cases = {
        {"empty", "", "has 0 bytes"},
        {"text", std::string(100, 'x'), "ELF signature"},
        {"32 bits", patched(good, EI_CLASS, char{ELFCLASS32}), "is not a 64-bit library"},
        {"byte order", patched(good, EI_DATA, char{3}), "byte order"},
        {"another machine", patched(good, offsetof(Elf64_Ehdr, e_machine), Elf64_Half{EM_RISCV}),
         "is built for RISC-V and this program for"},
        {"an unknown machine", patched(good, offsetof(Elf64_Ehdr, e_machine), Elf64_Half{EM_SPARCV9}),
         "is built for ELF machine 43"},
        {"object file", patched(good, offsetof(Elf64_Ehdr, e_type), Elf64_Half{ET_REL}), "ELF type 1 instead of 3"},
        {"program header size", patched(good, offsetof(Elf64_Ehdr, e_phentsize), Elf64_Half{32}),
         "program headers of 32 bytes instead of 56"},
        {"program headers outside", patched(good, offsetof(Elf64_Ehdr, e_phoff), ~Elf64_Off{0} - 8),
         "program headers of "},
        {"segment outside", patched(good, load + offsetof(Elf64_Phdr, p_filesz), ~Elf64_Xword{0}),
         "a segment of 18446744073709551615 bytes should stand at byte 0, but the file has"},
        {"no dynamic section", patched(good, dynamic, Elf64_Word{PT_NULL}), "no dynamic section"},
        {"dynamic section elsewhere", patched(good, dynamic + offsetof(Elf64_Phdr, p_vaddr), ~Elf64_Addr{0} - 7),
         "lies in no part of the library"},
        {"endless dynamic section", patched(good, dynamic + offsetof(Elf64_Phdr, p_filesz), Elf64_Xword{32}),
         "the dynamic section has no end"},
        {"no hash table", patched(good, dynamic_item(good, DT_GNU_HASH), Elf64_Sxword{DT_DEBUG}),
         "no symbol hash table"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.what);
        const LoadFailure failure = refusal(write(folder / "case.so", c.bytes));
        CHECK(failure.stage == "format");
        CHECK_MESSAGE(contains(failure.reason, c.reason), failure.reason);
    }
}

TEST_CASE("hash tables that hold nothing, or have no end, are seen through") {
    const Folder folder;
    const std::string gnu = bytes_of(built("good"));
    const std::size_t gnu_hash = table(gnu, DT_GNU_HASH);
    CHECK(refusal(write(folder / "a.so", patched(gnu, gnu_hash, std::uint32_t{0}))).stage == "entry");
    CHECK(refusal(write(folder / "b.so", patched(gnu, gnu_hash + 4, ~std::uint32_t{0}))).stage == "entry");

    const std::string sysv = bytes_of(built("makers"));
    const std::size_t hash = table(sysv, DT_HASH);
    CHECK(refusal(write(folder / "c.so", patched(sysv, hash, std::uint32_t{0}))).stage == "entry");
    // Every chain of the table leads back to its own start, and no name fits.
    std::string endless = sysv;
    for (std::size_t i = 0; i < taken<std::uint32_t>(sysv, hash + 4); ++i) {
        endless =
            patched(endless, hash + 8 + (taken<std::uint32_t>(sysv, hash) + i) * 4, static_cast<std::uint32_t>(i));
    }
    endless = patched(endless, dynamic_item(endless, DT_STRSZ) + 8, Elf64_Xword{0});
    const LoadFailure failure = refusal(write(folder / "d.so", endless));
    CHECK(failure.stage == "format");
    CHECK(contains(failure.reason, "the symbol table has no end"));
}

TEST_CASE("the entry is found without section headers, and in either kind of hash table") {
    const Folder folder;
    std::string stripped = patched(bytes_of(built("good")), offsetof(Elf64_Ehdr, e_shoff), Elf64_Off{0});
    stripped = patched(stripped, offsetof(Elf64_Ehdr, e_shnum), Elf64_Half{0});
    for (const fs::path& file : {built("good"), built("makers"), write(folder / "stripped.so", stripped)}) {
        CAPTURE(file);
        const auto read = read_plugin_entry(file);
        REQUIRE(std::holds_alternative<PluginInfo>(read));
        CHECK(std::get<PluginInfo>(read).kind == "mode");
    }
}

TEST_CASE("what a library exports beside inline functions is read from either kind of hash table") {
    for (const char* const name : {"good", "makers"}) {
        CAPTURE(name);
        CHECK(read_strong_exports(built(name)) == std::vector<std::string>{"attnspan_plugin"});
    }
    const std::vector<std::string> others = read_strong_exports(built("other-exports"));
    CHECK(others.size() == 2);
    CHECK(std::ranges::any_of(others, [](const std::string& name) { return contains(name, "helper"); }));
}

TEST_CASE("a limit shortens what is read, and a smaller variable gives fewer bytes") {
    CHECK(read_exported_bytes(built("good"), "attnspan_plugin", 8).size() == 8);
    // Not exactly the size of the int: AddressSanitizer may count the red zone behind a variable.
    CHECK(read_exported_bytes(built("small-entry"), "attnspan_plugin", 1000).size() < sizeof(attnspan::PluginEntry));
}

TEST_CASE("a library that exports no proper variable attnspan_plugin is refused at stage entry") {
    for (const auto& c : {std::pair{"no-entry", "exports no attnspan_plugin"},
                          {"function-entry", "as something else than a variable"}}) {
        CAPTURE(c.first);
        const LoadFailure failure = refusal(built(c.first));
        CHECK(failure.stage == "entry");
        CHECK_MESSAGE(contains(failure.reason, c.second), failure.reason);
    }
    const LoadFailure zero = refusal(built("zero-entry"));
    CHECK(zero.stage == "format");
    CHECK(contains(zero.reason, "no part of the library that the file holds"));
}

TEST_CASE("a library cut off at any length is refused") {
    const Folder folder;
    const fs::path file = folder / "cut.so";
    fs::copy_file(built("good"), file);
    for (auto length = static_cast<std::int64_t>(fs::file_size(file)) - 1; length >= 0; length -= 97) {
        CAPTURE(length);
        fs::resize_file(file, static_cast<std::uintmax_t>(length));
        CHECK(refusal(file).stage == "format");
    }
}

TEST_CASE("whatever bytes are damaged, the answer is an entry or a failure") {
    const Folder folder;
    std::mt19937_64 random(20210603);
    for (const char* const name : {"good", "makers"}) {
        const std::string original = bytes_of(built(name));
        const fs::path file = write(folder / name, original);
        // Most of a library is code that nobody reads here; what is read stands in its first kilobytes and in its
        // dynamic section.
        const std::size_t dynamic = taken<Elf64_Phdr>(original, program_header(original, PT_DYNAMIC)).p_offset;
        std::size_t accepted = 0;
        constexpr std::size_t trials = 3000;
        for (std::size_t trial = 0; trial < trials; ++trial) {
            std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
            std::vector<std::size_t> places(1 + random() % 8);
            for (std::size_t& place : places) {
                place = random() % 3 == 0 ? dynamic + random() % 512 : random() % 4096;
                stream.seekp(static_cast<std::streamoff>(place));
                stream.put(static_cast<char>(random() % 4 == 0 ? 0xff : random() % 256));
            }
            stream.flush();
            try {
                (void)read_strong_exports(file);
            } catch (const LoadRefused& refused) {
                CHECK_FALSE(refused.failure.reason.empty());
            }
            const auto read = read_plugin_entry(file);
            if (const auto* failure = std::get_if<LoadFailure>(&read)) {
                CHECK_FALSE(failure->reason.empty());
            } else {
                ++accepted;
            }
            for (const std::size_t place : places) {
                stream.seekp(static_cast<std::streamoff>(place));
                stream.put(original[place]);
            }
        }
        CHECK(accepted > 0);
        CHECK(accepted < trials);
        CHECK(std::holds_alternative<PluginInfo>(read_plugin_entry(file)));
    }
}
