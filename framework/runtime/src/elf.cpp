#include "attnspan/runtime/elf.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <type_traits>
#include <utility>

#include "attnspan/runtime/load_failure.hpp"

namespace attnspan::runtime {
namespace {

namespace fs = std::filesystem;

// Longer than any real dynamic section or hash chain; a hostile one must not keep the host busy.
constexpr std::uint64_t longest_walk = 4096;

constexpr unsigned char host_byte_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
constexpr Elf64_Half host_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half host_machine = EM_AARCH64;
#elif defined(__riscv)
constexpr Elf64_Half host_machine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr Elf64_Half host_machine = EM_PPC64;
#else
#error "add the ELF machine number of this architecture"
#endif

std::string machine_name(Elf64_Half machine) {
    switch (machine) {
        case EM_386:
            return "x86 (32-bit)";
        case EM_X86_64:
            return "x86-64";
        case EM_AARCH64:
            return "AArch64";
        case EM_RISCV:
            return "RISC-V";
        case EM_PPC64:
            return "POWER";
        default:
            return fmt::format("ELF machine {}", machine);
    }
}

class SharedLibraryFile {
public:
    explicit SharedLibraryFile(fs::path file) : file_(std::move(file)) {
        open();
        check_header();
        read_segments();
        read_dynamic_section();
    }

    [[nodiscard]] std::vector<std::byte> exported_bytes(const std::string& symbol, std::size_t limit) {
        const Elf64_Sym found = gnu_hash_ != 0 ? find_by_gnu_hash(symbol) : find_by_sysv_hash(symbol);
        if (found.st_shndx == SHN_UNDEF) {
            absent(symbol);
        }
        if (ELF64_ST_TYPE(found.st_info) != STT_OBJECT) {
            refuse("entry", fmt::format("exports {} as something else than a variable", symbol));
        }
        std::vector<std::byte> bytes(std::min<std::uint64_t>(found.st_size, limit));
        read(offset_of(found.st_value, bytes.size()), bytes.data(), bytes.size());
        return bytes;
    }

    [[nodiscard]] std::vector<std::string> strong_exports() {
        std::vector<std::string> names;
        const std::uint64_t end = gnu_hash_ != 0 ? end_by_gnu_hash() : end_by_sysv_hash();
        for (std::uint64_t i = 1; i < end; ++i) {
            const Elf64_Sym symbol = symbol_number(i);
            if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL) {
                std::string name = name_of(symbol);
                if (!name.starts_with("__")) {  // those are the compiler's; sanitizers add some
                    names.push_back(std::move(name));
                }
            }
        }
        return names;
    }

private:
    [[noreturn]] void refuse(const char* stage, std::string reason) const {
        throw LoadRefused({.file = file_, .stage = stage, .reason = std::move(reason)});
    }
    [[noreturn]] void malformed(const std::string& what) const {
        refuse("format", what + "; the file is damaged: build or copy it again");
    }
    [[noreturn]] void absent(const std::string& symbol) const {
        refuse("entry", fmt::format("exports no {}; a plugin says ATTNSPAN_PLUGIN(...) once and keeps that symbol "
                                    "visible, other libraries do not belong into a plugin folder",
                                    symbol));
    }

    void open() {
        std::error_code error;
        const fs::file_status status = fs::status(file_, error);
        if (status.type() == fs::file_type::not_found) {
            refuse("file", fs::is_symlink(file_, error) ? "is a symbolic link to nothing" : "does not exist");
        }
        if (error) {
            refuse("file", "cannot be read: " + error.message());
        }
        if (!fs::is_regular_file(status)) {
            refuse("file", fs::is_directory(status) ? "is a folder, not a library" : "is not a regular file");
        }
        size_ = fs::file_size(file_, error);
        // Pieces are few and far apart: a buffer would read far more than is used.
        stream_.rdbuf()->pubsetbuf(nullptr, 0);
        errno = 0;
        stream_.open(file_, std::ios::binary);
        if (error || stream_.fail()) {
            refuse("file",
                   "cannot be read: " + (error ? error : std::error_code(errno, std::generic_category())).message());
        }
    }

    void check_header() {
        if (size_ < sizeof header_) {
            refuse("format", fmt::format("has {} bytes, too few for a library", size_));
        }
        header_ = read<Elf64_Ehdr>(0);
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
            refuse("format", "is not a library: it does not begin with the ELF signature");
        }
        if (header_.e_ident[EI_CLASS] != ELFCLASS64) {
            refuse("format", "is not a 64-bit library, as this program needs; build it for the same machine");
        }
        if (header_.e_ident[EI_DATA] != host_byte_order) {
            refuse("format", "has the byte order of another machine; build it for this one");
        }
        if (header_.e_machine != host_machine) {
            refuse("format", fmt::format("is built for {} and this program for {}; build it for the same machine",
                                         machine_name(header_.e_machine), machine_name(host_machine)));
        }
        if (header_.e_type != ET_DYN) {
            refuse("format",
                   fmt::format("is no shared library (ELF type {} instead of {})", header_.e_type, int{ET_DYN}));
        }
        // The loader does not read section headers, but they stand last: without them the end of the file is missing.
        if (header_.e_shoff != 0) {
            require_inside("section headers", header_.e_shoff,
                           std::uint64_t{header_.e_shnum} * std::uint64_t{header_.e_shentsize});
        }
    }

    void read_segments() {
        if (header_.e_phentsize != sizeof(Elf64_Phdr)) {
            malformed(
                fmt::format("program headers of {} bytes instead of {}", header_.e_phentsize, sizeof(Elf64_Phdr)));
        }
        segments_.resize(header_.e_phnum);
        const std::uint64_t bytes = segments_.size() * sizeof(Elf64_Phdr);
        require_inside("program headers", header_.e_phoff, bytes);
        read(header_.e_phoff, segments_.data(), bytes);
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type == PT_LOAD) {
                require_inside("a segment", segment.p_offset, segment.p_filesz);
            }
        }
    }

    void read_dynamic_section() {
        const auto dynamic = std::ranges::find(segments_, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
        if (dynamic == segments_.end()) {
            refuse("format", "has no dynamic section, so it is no shared library");
        }
        const std::uint64_t count = std::min(dynamic->p_filesz / sizeof(Elf64_Dyn), longest_walk);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto item = at<Elf64_Dyn>(dynamic->p_vaddr + i * sizeof(Elf64_Dyn));
            switch (item.d_tag) {
                case DT_NULL:
                    return;
                case DT_SYMTAB:
                    symbols_ = item.d_un.d_ptr;
                    break;
                case DT_STRTAB:
                    names_ = item.d_un.d_ptr;
                    break;
                case DT_STRSZ:
                    names_size_ = item.d_un.d_val;
                    break;
                case DT_GNU_HASH:
                    gnu_hash_ = item.d_un.d_ptr;
                    break;
                case DT_HASH:
                    sysv_hash_ = item.d_un.d_ptr;
                    break;
                default:
                    break;
            }
        }
        malformed("the dynamic section has no end");
    }

    [[nodiscard]] Elf64_Sym find_by_gnu_hash(const std::string& symbol) {
        const auto bucket_count = at<std::uint32_t>(gnu_hash_);
        const auto first_hashed = at<std::uint32_t>(gnu_hash_ + 4);
        const auto bloom_words = at<std::uint32_t>(gnu_hash_ + 8);
        const std::uint64_t buckets = gnu_hash_ + 16 + std::uint64_t{bloom_words} * 8;
        const std::uint64_t chains = buckets + std::uint64_t{bucket_count} * 4;
        std::uint32_t hash = 5381;
        for (const char c : symbol) {
            hash = hash * 33 + static_cast<unsigned char>(c);
        }
        if (bucket_count == 0) {
            absent(symbol);
        }
        const std::uint64_t first = at<std::uint32_t>(buckets + std::uint64_t{hash % bucket_count} * 4);
        if (first < first_hashed) {
            absent(symbol);
        }
        for (std::uint64_t i = first; i - first < longest_walk; ++i) {
            const auto entry = at<std::uint32_t>(chains + (i - first_hashed) * 4);
            // The lowest bit marks the end of the chain and is no part of the hash.
            if ((entry | 1U) == (hash | 1U)) {
                if (const Elf64_Sym candidate = symbol_number(i); is_called(candidate, symbol)) {
                    return candidate;
                }
            }
            if ((entry & 1U) != 0) {
                absent(symbol);
            }
        }
        malformed("the symbol table has no end");
    }

    [[nodiscard]] Elf64_Sym find_by_sysv_hash(const std::string& symbol) {
        if (sysv_hash_ == 0) {
            malformed("the library has no symbol hash table");
        }
        const auto bucket_count = at<std::uint32_t>(sysv_hash_);
        const std::uint64_t buckets = sysv_hash_ + 8;
        const std::uint64_t chains = buckets + std::uint64_t{bucket_count} * 4;
        std::uint32_t hash = 0;
        for (const char c : symbol) {
            hash = (hash << 4U) + static_cast<unsigned char>(c);
            hash = (hash ^ ((hash & 0xf0000000U) >> 24U)) & 0x0fffffffU;
        }
        if (bucket_count == 0) {
            absent(symbol);
        }
        std::uint64_t i = at<std::uint32_t>(buckets + std::uint64_t{hash % bucket_count} * 4);
        for (std::uint64_t step = 0; step < longest_walk; ++step) {
            if (i == STN_UNDEF) {
                absent(symbol);
            }
            if (const Elf64_Sym candidate = symbol_number(i); is_called(candidate, symbol)) {
                return candidate;
            }
            i = at<std::uint32_t>(chains + i * 4);
        }
        malformed("the symbol table has no end");
    }

    /// One more than the number of the last symbol: the end of the last chain.
    [[nodiscard]] std::uint64_t end_by_gnu_hash() {
        const std::uint64_t bucket_count = at<std::uint32_t>(gnu_hash_);
        const auto first_hashed = at<std::uint32_t>(gnu_hash_ + 4);
        const std::uint64_t buckets = gnu_hash_ + 16 + std::uint64_t{at<std::uint32_t>(gnu_hash_ + 8)} * 8;
        const std::uint64_t chains = buckets + bucket_count * 4;
        std::uint64_t last = 0;
        for (std::uint64_t b = 0; b < bucket_count; ++b) {
            last = std::max<std::uint64_t>(last, at<std::uint32_t>(buckets + b * 4));
        }
        if (last < first_hashed) {
            return first_hashed;
        }
        while ((at<std::uint32_t>(chains + (last - first_hashed) * 4) & 1U) == 0) {
            ++last;
        }
        return last + 1;
    }

    [[nodiscard]] std::uint64_t end_by_sysv_hash() {
        if (sysv_hash_ == 0) {
            malformed("the library has no symbol hash table");
        }
        return at<std::uint32_t>(sysv_hash_ + 4);
    }

    [[nodiscard]] std::string name_of(const Elf64_Sym& symbol) {
        std::string name;
        for (std::uint64_t i = symbol.st_name; i < names_size_; ++i) {
            const char c = at<char>(names_ + i);
            if (c == '\0') {
                return name;
            }
            name += c;
        }
        malformed("the name of a symbol has no end");
    }

    [[nodiscard]] Elf64_Sym symbol_number(std::uint64_t i) { return at<Elf64_Sym>(symbols_ + i * sizeof(Elf64_Sym)); }

    [[nodiscard]] bool is_called(const Elf64_Sym& candidate, const std::string& symbol) {
        std::string name(symbol.size() + 1, '\0');
        if (candidate.st_name > names_size_ || name.size() > names_size_ - candidate.st_name) {
            return false;
        }
        const std::uint64_t address = names_ + candidate.st_name;
        read(offset_of(address, name.size()), name.data(), name.size());
        return name.back() == '\0' && name.compare(0, symbol.size(), symbol) == 0;
    }

    void require_inside(const char* what, std::uint64_t offset, std::uint64_t count) const {
        if (offset > size_ || count > size_ - offset) {
            refuse("format", fmt::format("is cut off or damaged: {} of {} bytes should stand at byte {}, but the file "
                                         "has {} bytes; build or copy it again",
                                         what, count, offset, size_));
        }
    }

    /// Where in the file the bytes [address, address + count) of the loaded library come from.
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t address, std::uint64_t count) const {
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                address - segment.p_vaddr <= segment.p_filesz &&
                count <= segment.p_filesz - (address - segment.p_vaddr)) {
                return segment.p_offset + (address - segment.p_vaddr);
            }
        }
        malformed(fmt::format("address {:#x} lies in no part of the library that the file holds", address));
    }

    void read(std::uint64_t offset, void* to, std::uint64_t count) {
        stream_.seekg(static_cast<std::streamoff>(offset));
        if (!stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(count))) {
            refuse("file", fmt::format("cannot be read: {} bytes at byte {}", count, offset));
        }
    }
    template <class T>
    [[nodiscard]] T read(std::uint64_t offset) {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        read(offset, &value, sizeof value);
        return value;
    }
    template <class T>
    [[nodiscard]] T at(std::uint64_t address) {
        return read<T>(offset_of(address, sizeof(T)));
    }

    fs::path file_;
    std::ifstream stream_;
    std::uint64_t size_ = 0;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Phdr> segments_;
    // Addresses, 0 for what is missing; no table can stand at 0, where the file header is.
    std::uint64_t symbols_ = 0;
    std::uint64_t names_ = 0;
    std::uint64_t names_size_ = 0;
    std::uint64_t gnu_hash_ = 0;
    std::uint64_t sysv_hash_ = 0;
};

}  // namespace

std::vector<std::byte> read_exported_bytes(const fs::path& file, const std::string& symbol, std::size_t limit) {
    return SharedLibraryFile(file).exported_bytes(symbol, limit);
}

std::vector<std::string> read_strong_exports(const fs::path& file) {
    return SharedLibraryFile(file).strong_exports();
}

}  // namespace attnspan::runtime
