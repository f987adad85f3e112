#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "detail.hpp"

namespace attnspan::io::detail {

/// Walks over the lines of a text and the words of a line, and knows where it is.
class Scanner {
public:
    Scanner(std::string_view text, std::string_view source) : rest_(text), source_(source) {}

    /// To the next line, whatever it holds; false at the end of the text.
    bool next_line() {
        if (rest_.empty()) {
            return false;
        }
        const void* newline = std::memchr(rest_.data(), '\n', rest_.size());
        const std::size_t length = newline == nullptr
                                       ? rest_.size()
                                       : static_cast<std::size_t>(static_cast<const char*>(newline) - rest_.data());
        start_ = cursor_ = word_ = rest_.data();
        end_ = start_ + length;
        rest_.remove_prefix(std::min(length + 1, rest_.size()));
        ++line_;
        return true;
    }

    /// To the next line that is neither blank nor a comment, before its first word.
    bool next_entry() {
        while (next_line()) {
            skip_blanks();
            if (cursor_ != end_ && *cursor_ != '%') {
                return true;
            }
        }
        return false;
    }

    /// The next word of the line, empty at its end.
    std::string_view word() {
        skip_blanks();
        word_ = cursor_;
        while (cursor_ != end_ && !is_blank(*cursor_)) {
            ++cursor_;
        }
        return {word_, static_cast<std::size_t>(cursor_ - word_)};
    }

    void expect_end_of_line() {
        if (const std::string_view extra = word(); !extra.empty()) {
            fail("the line should end before " + quoted(extra) + "; remove what is too much");
        }
    }

    /// Refuses the last word read.
    [[noreturn]] void fail(const std::string& message) const {
        detail::fail(message, {std::string(source_), line_, word_ - start_ + 1});
    }

    [[nodiscard]] Index line() const { return line_; }
    [[nodiscard]] std::size_t bytes_left() const { return rest_.size(); }

    /// Of the characters within a line: space, tab, vertical tab, form feed, carriage return.
    static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

private:
    void skip_blanks() {
        while (cursor_ != end_ && is_blank(*cursor_)) {
            ++cursor_;
        }
    }

    std::string_view rest_;
    std::string_view source_;
    Index line_ = 0;
    const char* start_ = nullptr;
    const char* cursor_ = nullptr;
    const char* end_ = nullptr;
    const char* word_ = nullptr;
};

}  // namespace attnspan::io::detail
