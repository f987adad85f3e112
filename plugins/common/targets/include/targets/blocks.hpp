#pragma once

#include <algorithm>

#include "attnspan/types.hpp"
#include "attnspan/visible.hpp"

namespace attnspan::targets {

/// Tokens 0 .. length - 1 cut into blocks of `size` tokens, as published layouts count. Where the length is no multiple
/// of the size the last block is short: the layout of the length padded to whole blocks, without the padding.
class Blocks {
public:
    /// length >= 1 and size >= 1; one block is no longer than all tokens.
    Blocks(Index length, Index size) : length_(length), size_(std::min(size, length)) {}

    [[nodiscard]] Index size() const { return size_; }
    [[nodiscard]] Index count() const { return (length_ - 1) / size_ + 1; }
    /// The block that a token is in.
    [[nodiscard]] Index of(Index token) const { return token / size_; }
    /// The tokens of blocks [first, last), 0 <= first <= last; those beyond count() hold none.
    [[nodiscard]] KeyRange tokens(Index first, Index last) const {
        return {.begin = std::min(first, count()) * size_, .end = std::min(std::min(last, count()) * size_, length_)};
    }

private:
    Index length_;
    Index size_;
};

}  // namespace attnspan::targets
