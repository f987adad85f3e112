#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace attnspan::detail {

/// Memory aligned to 64 bytes or more, uninitialised. A large piece comes from the system page by page: what is not
/// touched costs nothing, and growing it moves pages instead of copying bytes.
class Storage {
public:
    Storage() = default;
    explicit Storage(std::size_t bytes) { grow(bytes, 0); }
    Storage(Storage&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)),
          mapped_(std::exchange(other.mapped_, false)) {}
    Storage& operator=(Storage&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        std::swap(mapped_, other.mapped_);
        return *this;
    }
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage() { release(); }

    [[nodiscard]] void* data() const { return data_; }

    /// Room for `bytes`; the first `used` keep their values. @throws std::bad_alloc
    void grow(std::size_t bytes, std::size_t used) {
        if (bytes <= capacity_) {
            return;
        }
#if defined(__linux__)
        if (mapped_) {
            void* const moved = mremap(data_, capacity_, whole_pages(bytes), MREMAP_MAYMOVE);
            if (moved == MAP_FAILED) {
                throw std::bad_alloc();
            }
            data_ = moved;
            capacity_ = whole_pages(bytes);
            advise();
            return;
        }
#endif
        Storage larger;
        larger.allocate(std::max(bytes, used > 0 ? 2 * capacity_ : bytes));
        if (used > 0) {
            std::memcpy(larger.data_, data_, used);
        }
        *this = std::move(larger);
    }

private:
    static constexpr std::size_t least_mapped = std::size_t{4} << 20U;
    static constexpr std::size_t page = std::size_t{1} << 16U;  // a multiple of the page size of every Linux

    static std::size_t whole_pages(std::size_t bytes) {
        return (bytes + page - 1) / page * page;
    }

    void allocate(std::size_t bytes) {
#if defined(__linux__)
        if (bytes >= least_mapped) {
            void* const mapped =
                mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (mapped == MAP_FAILED) {
                throw std::bad_alloc();
            }
            data_ = mapped;
            capacity_ = whole_pages(bytes);
            mapped_ = true;
            advise();
            return;
        }
#endif
        data_ = ::operator new (bytes, std::align_val_t{64});
        capacity_ = bytes;
    }

    /// Fewer page faults where the system can; no matter where it cannot.
    void advise() const {
#if defined(__linux__)
        madvise(data_, capacity_, MADV_HUGEPAGE);
#endif
    }

    void release() {
#if defined(__linux__)
        if (mapped_) {
            munmap(data_, capacity_);
            return;
        }
#endif
        ::operator delete (data_, std::align_val_t{64});
    }

    void* data_ = nullptr;
    std::size_t capacity_ = 0;
    bool mapped_ = false;
};

}  // namespace attnspan::detail
