#include "attnspan/io/npz.hpp"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <sstream>
#include <type_traits>
#include <utility>

#include "assemble.hpp"
#include "attnspan/io/atomic.hpp"
#include "attnspan/io/npy.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"
#include "write.hpp"

namespace attnspan::io {
namespace {

constexpr std::string_view ending = ".npy";
constexpr std::size_t smallest_read = std::size_t{1} << 16;

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Handle = std::unique_ptr<zip_t, Discard>;

std::string text_of(zip_error_t* error) {
    std::string text = zip_error_strerror(error);
    zip_error_fini(error);
    return text;
}

/// An archive in these bytes, which must stay.
Handle open_archive(std::string_view bytes, const std::string& source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* in_memory = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t* archive = in_memory == nullptr ? nullptr : zip_open_from_source(in_memory, ZIP_RDONLY, &error);
    if (archive == nullptr) {
        zip_source_free(in_memory);
        detail::fail("the zip archive cannot be read (" + text_of(&error) + "); the file is damaged or cut short",
                     {.source = source});
    }
    return Handle(archive);
}

/// Integers in [first, last], with which SciPy describes where the data belong.
std::vector<Index> indices(const NpyArray& array, Index first, Index last, const std::string& source) {
    if (array.shape.size() != 1) {
        detail::fail("indices are expected in one dimension, but the shape is " + detail::tuple(array.shape),
                     {.source = source});
    }
    std::vector<Index> out;
    out.reserve(array.values.size());
    for (const double value : array.values) {
        if (!(value >= static_cast<double>(first) && value <= static_cast<double>(last) &&
              value == std::floor(value))) {
            detail::fail("element " + std::to_string(out.size()) + " is " + detail::shortest(value) + ", expected " +
                             std::to_string(first) + " to " + std::to_string(last),
                         {.source = source});
        }
        out.push_back(static_cast<Index>(value));
    }
    return out;
}

}  // namespace

bool is_zip(std::string_view bytes) {
    return bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6");
}

class Npz::Archive {
public:
    Archive(std::string_view bytes, const std::string& source) : handle_(open_archive(bytes, source)) {}

    [[nodiscard]] std::vector<std::string> names(const std::string& source) const {
        std::vector<std::string> out;
        const zip_int64_t count = zip_get_num_entries(handle_.get(), 0);
        for (zip_int64_t t = 0; t < count; ++t) {
            const char* const name = zip_get_name(handle_.get(), static_cast<zip_uint64_t>(t), ZIP_FL_ENC_RAW);
            if (name != nullptr && std::string_view(name).ends_with(ending)) {
                out.emplace_back(name, std::string_view(name).size() - ending.size());
            }
        }
        std::vector<std::string> sorted = out;
        std::ranges::sort(sorted);
        if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
            detail::fail("the member " + detail::quoted(*twice) + " stands in the archive twice; save it once",
                         {.source = source});
        }
        return out;
    }

    /// The bytes of a member, as many as the archive says; `place` names it in messages.
    [[nodiscard]] std::string member(const std::string& file, const std::string& place) const {
        zip_stat_t info;
        zip_stat_init(&info);
        const auto fail = [&](const std::string& why) {
            detail::fail("the member " + detail::quoted(file) + " cannot be read: " + why, {.source = place});
        };
        if (zip_stat(handle_.get(), file.c_str(), ZIP_FL_ENC_RAW, &info) != 0) {
            fail(zip_strerror(handle_.get()));
        }
        if ((info.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && info.encryption_method != ZIP_EM_NONE) {
            fail("it is encrypted; save it without a password");
        }
        // Twice: the bytes, and the numbers made of them.
        require_memory(2 * static_cast<double>(info.size), place);
        std::string bytes;
        const std::unique_ptr<zip_file_t, Discard> opened(zip_fopen_index(handle_.get(), info.index, 0));
        if (!opened) {
            fail(zip_strerror(handle_.get()));
        }
        // Room is made for what comes, not for what is announced.
        while (bytes.size() < info.size) {
            const std::size_t used = bytes.size();
            bytes.resize(std::min<std::size_t>(info.size, 2 * used + smallest_read));
            const zip_int64_t got = zip_fread(opened.get(), bytes.data() + used, bytes.size() - used);
            bytes.resize(used + static_cast<std::size_t>(std::max<zip_int64_t>(got, 0)));
            if (got <= 0) {
                break;
            }
        }
        // The end is seen, and the checksum compared, by asking for more than there is.
        char more = 0;
        const zip_int64_t rest = zip_fread(opened.get(), &more, 1);
        if (zip_error_code_zip(zip_file_get_error(opened.get())) != ZIP_ER_OK) {
            fail(std::string(zip_file_strerror(opened.get())) + "; the file is damaged");
        }
        if (bytes.size() != info.size || rest != 0) {
            fail("it is not the " + std::to_string(info.size) +
                 " bytes long that the archive says; the file is "
                 "damaged");
        }
        return bytes;
    }

private:
    Handle handle_;
};

Npz::Npz(std::string_view bytes, std::string source)
    : source_(std::move(source)),
      archive_(std::make_unique<Archive>(bytes, source_)),
      names_(archive_->names(source_)) {
    if (names_.empty()) {
        detail::fail("the zip archive holds no array: members NAME.npy are expected, as numpy.savez writes them",
                     {.source = source_});
    }
}
Npz::~Npz() = default;

NpyArray Npz::array(const std::string& name) const {
    return parse_npy(archive_->member(name + std::string(ending), place(name)), place(name));
}

bool Npz::is_sparse() const {
    return std::ranges::all_of(std::array{"format", "shape", "data"},
                               [&](const char* name) { return std::ranges::find(names_, name) != names_.end(); });
}

ReadWeights Npz::sparse(Duplicates duplicates) const {
    const std::string format = parse_npy_text(archive_->member("format.npy", place("format")), place("format"));
    if (format != "csr" && format != "csc" && format != "coo") {
        detail::fail(
            "the sparse format is " + detail::quoted(format) + ", but csr, csc and coo are read; save matrix.tocsr()",
            {.source = source_});
    }
    constexpr Index most = Index{1} << 53;
    const std::vector<Index> shape = indices(array("shape"), 0, most, place("shape"));
    if (shape.size() != 2) {
        detail::fail("a matrix is expected, but the sparse array has " + std::to_string(shape.size()) + " dimensions",
                     {.source = source_});
    }
    const NpyArray data = array("data");
    const auto stored = static_cast<Index>(data.values.size());
    require_memory(static_cast<double>(stored) * (sizeof(detail::Entry) + 4 * sizeof(Index)) +
                       2.0 * sizeof(Index) * static_cast<double>(shape[0]),
                   source_);
    const auto require_size = [&](const char* name, std::size_t size, Index expected) {
        if (static_cast<Index>(size) != expected) {
            detail::fail("it has " + std::to_string(size) + " elements, expected " + std::to_string(expected),
                         {.source = place(name)});
        }
    };
    require_size("data", data.shape.size() == 1 ? data.values.size() : 0, stored);

    std::vector<Index> rows;
    std::vector<Index> cols;
    if (format == "coo") {
        rows = indices(array("row"), 0, shape[0] - 1, place("row"));
        cols = indices(array("col"), 0, shape[1] - 1, place("col"));
        require_size("row", rows.size(), stored);
        require_size("col", cols.size(), stored);
    } else {
        const bool is_csr = format == "csr";
        const Index major = shape[is_csr ? 0 : 1];
        std::vector<Index> inner = indices(array("indices"), 0, shape[is_csr ? 1 : 0] - 1, place("indices"));
        require_size("indices", inner.size(), stored);
        const std::vector<Index> begin = indices(array("indptr"), 0, stored, place("indptr"));
        require_size("indptr", begin.size(), major + 1);
        std::vector<Index> outer;
        outer.reserve(inner.size());
        for (Index i = 0; i < major; ++i) {
            const Index from = begin[static_cast<std::size_t>(i)];
            const Index to = begin[static_cast<std::size_t>(i) + 1];
            if (from != static_cast<Index>(outer.size()) || to < from) {
                detail::fail("element " + std::to_string(i + 1) + " is " + std::to_string(to) + " after " +
                                 std::to_string(from) + "; offsets begin at 0 and ascend",
                             {.source = place("indptr")});
            }
            outer.resize(static_cast<std::size_t>(to), i);
        }
        require_size("data", inner.size(), static_cast<Index>(outer.size()));
        if (!is_csr) {
            std::swap(outer, inner);
        }
        rows = std::move(outer);
        cols = std::move(inner);
    }

    std::vector<detail::Entry> entries;
    entries.reserve(data.values.size());
    const auto name = [](const detail::Entry& e) {
        return "entry (" + std::to_string(e.row) + ", " + std::to_string(e.col) + ")";
    };
    for (std::size_t t = 0; t < data.values.size(); ++t) {
        const detail::Entry entry{
            .row = rows[t], .col = cols[t], .weight = data.values[t], .place = static_cast<Index>(t)};
        if (!std::isfinite(entry.weight) || entry.weight < 0) {
            detail::fail(
                name(entry) + " is " + detail::shortest(entry.weight) + ", but weights must be finite and not negative",
                {.source = source_});
        }
        entries.push_back(entry);
    }
    return detail::assemble(
        std::move(entries), shape[0], shape[1], duplicates,
        {.repeated =
             [&](const detail::Entry& earlier, const detail::Entry& later) {
                 detail::fail(name(later) + " is stored twice, at " + std::to_string(earlier.place) + " and " +
                                  std::to_string(later.place) +
                                  " of data; call sum_duplicates() before saving, or set duplicates = \"sum\"",
                              {.source = source_});
             },
         .overflow =
             [&](const detail::Entry& later) {
                 detail::fail("the sum of duplicates of " + name(later) + " overflows; scale the matrix",
                              {.source = source_});
             }});
}

namespace {

/// A new archive in memory.
class Writer {
public:
    Writer() {
        zip_error_t error;
        zip_error_init(&error);
        bytes_ = zip_source_buffer_create(nullptr, 0, 0, &error);
        archive_.reset(bytes_ == nullptr ? nullptr : zip_open_from_source(bytes_, ZIP_TRUNCATE, &error));
        if (!archive_) {
            zip_source_free(bytes_);
            throw Error(ErrorKind::resource, "cannot make a zip archive: " + text_of(&error));
        }
        zip_source_keep(bytes_);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() {
        archive_.reset();
        zip_source_free(bytes_);
    }

    /// A member NAME.npy. `array` must stay until the archive is written.
    void add(const std::string& name, const std::string& array) {
        zip_source_t* const member = zip_source_buffer(archive_.get(), array.data(), array.size(), 0);
        const std::string file = name + std::string(ending);
        const zip_int64_t index =
            member == nullptr ? -1 : zip_file_add(archive_.get(), file.c_str(), member, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(member);
            fail();
        }
        // 1980-01-01, the first day of zip: the same matrix makes the same bytes.
        constexpr zip_uint16_t first_day = (1 << 5) + 1;
        if (zip_file_set_dostime(archive_.get(), static_cast<zip_uint64_t>(index), 0, first_day, 0) != 0 ||
            zip_set_file_compression(archive_.get(), static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 0) != 0) {
            fail();
        }
    }

    void write(const std::filesystem::path& path) {
        if (zip_close(archive_.get()) != 0) {
            fail();
        }
        (void)archive_.release();
        if (zip_source_open(bytes_) != 0) {
            fail_source();
        }
        write_file_atomically(path, [&](std::ostream& out) {
            std::array<char, std::size_t{1} << 16> buffer{};
            for (;;) {
                const zip_int64_t got = zip_source_read(bytes_, buffer.data(), buffer.size());
                if (got < 0) {
                    fail_source();
                }
                if (got == 0) {
                    return;
                }
                out.write(buffer.data(), got);
            }
        });
        zip_source_close(bytes_);
    }

private:
    [[noreturn]] void fail() {
        throw Error(ErrorKind::resource, std::string("cannot write a zip archive: ") + zip_strerror(archive_.get()));
    }
    [[noreturn]] void fail_source() {
        throw Error(ErrorKind::resource,
                    std::string("cannot write a zip archive: ") + zip_error_strerror(zip_source_error(bytes_)));
    }

    zip_source_t* bytes_ = nullptr;
    Handle archive_;
};

/// A vector as the bytes of a .npy file, every element as a T.
template <class T, class U>
std::string vector_bytes(const char* dtype, const std::vector<U>& values) {
    std::ostringstream out;
    out << detail::npy_header(dtype, std::array{static_cast<Index>(values.size())});
    for (const U value : values) {
        const auto element = static_cast<T>(value);
        out.write(reinterpret_cast<const char*>(&element), sizeof element);
    }
    return std::move(out).str();
}

/// SciPy takes 32-bit indices where they suffice.
std::string index_bytes(const std::vector<Index>& values, bool is_short) {
    return is_short ? vector_bytes<std::int32_t>("<i4", values) : vector_bytes<std::int64_t>("<i8", values);
}

}  // namespace

void write_sparse_npz(const std::filesystem::path& path, const SparseMatrix& matrix) {
    const bool is_short =
        std::max({matrix.rows, matrix.cols, matrix.nonzeros()}) <= std::numeric_limits<std::int32_t>::max();
    const std::array<std::pair<std::string, std::string>, 5> members{{
        {"indices", index_bytes(matrix.column, is_short)},
        {"indptr", index_bytes(matrix.row_begin, is_short)},
        {"format", detail::npy_header("|S3", {}) + "csr"},
        {"shape", index_bytes({matrix.rows, matrix.cols}, false)},
        {"data", vector_bytes<double>("<f8", matrix.value)},
    }};
    Writer writer;
    for (const auto& [name, bytes] : members) {
        writer.add(name, bytes);
    }
    writer.write(path);
}

}  // namespace attnspan::io
