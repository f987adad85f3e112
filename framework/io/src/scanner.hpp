#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "detail.hpp"

namespace attnspan::io::detail {

/// Walks over the lines of a text and the words of a line, reads numbers, and knows where it is.
class Scanner {
public:
    /// `comments` are the characters that a line of comment begins with.
    Scanner(std::string_view text, std::string_view source, std::string_view comments = "%")
        : rest_(text), source_(source), comments_(comments) {}

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
            if (cursor_ != end_ && comments_.find(*cursor_) == std::string_view::npos) {
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

    /// The next word as a number that is called `what` in messages. It may carry a +, or a Fortran exponent (1.5D-3).
    template <class T>
    T number(const char* what) {
        std::string_view text = word();
        if (text.empty()) {
            fail("the " + std::string(what) + " is missing; the line is cut short");
        }
        if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
            text.remove_prefix(1);
        }
        return convert<T>(text, what);
    }

    /// The next word as a weight.
    double weight() { return checked_weight(number<double>("weight")); }
    /// The same where the file promises integers.
    double integer_weight() {
        const auto value = number<Index>("weight");
        if (value >= 0 && !is_exact_in_double(static_cast<std::uint64_t>(value))) {
            fail("the weight " + shown() + " cannot be held exactly in double precision; scale the matrix");
        }
        return checked_weight(static_cast<double>(value));
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
    /// The last word read, for messages.
    [[nodiscard]] std::string shown() const { return quoted({word_, static_cast<std::size_t>(cursor_ - word_)}); }

    [[nodiscard]] double checked_weight(double value) const {
        if (!std::isfinite(value) || value < 0) {
            fail("the weight is " + shown() + ", but weights must be finite and not negative");
        }
        return value;
    }

    template <class T>
    T convert(std::string_view text, const char* what) const {
        constexpr bool is_real = std::is_floating_point_v<T>;
        T value{};
        const char* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, value);
        if (error == std::errc{} && end == last) {
            return value;
        }
        // Fortran writes 1.5D-3.
        if (is_real && error == std::errc{} && (*end == 'D' || *end == 'd')) {
            std::string c_style(text);
            c_style[static_cast<std::size_t>(end - text.data())] = 'e';
            return convert<T>(c_style, what);
        }
        const std::string expected = is_real ? "a number in double precision" : "a 64-bit integer";
        if (error == std::errc::result_out_of_range && end == last) {
            fail("the " + std::string(what) + ' ' + quoted(text) + " is out of the range of " + expected);
        }
        fail("the " + std::string(what) + " is " + quoted(text) + ", expected " + expected);
    }

    void skip_blanks() {
        while (cursor_ != end_ && is_blank(*cursor_)) {
            ++cursor_;
        }
    }

    std::string_view rest_;
    std::string_view source_;
    std::string_view comments_;
    Index line_ = 0;
    const char* start_ = nullptr;
    const char* cursor_ = nullptr;
    const char* end_ = nullptr;
    const char* word_ = nullptr;
};

}  // namespace attnspan::io::detail
