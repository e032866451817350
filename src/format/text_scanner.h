// A cursor over text that counts lines. The readers of small text formats share it.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/input.h"

namespace ouro {

class TextScanner {
 public:
  // REQUIRES: both outlive the scanner.
  TextScanner(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  // The next character; NUL at the end.
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::uint64_t line() const { return line_; }
  // A line for HistoryBuilder, which takes 32 bits; zero, which means unknown, if it needs more.
  [[nodiscard]] static std::uint32_t short_line(std::uint64_t line) {
    return line > 0xffffffff ? 0 : static_cast<std::uint32_t>(line);
  }
  [[nodiscard]] std::uint32_t short_line() const { return short_line(line_); }

  // REQUIRES: not at the end.
  void advance() { line_ += text_[at_++] == '\n' ? 1 : 0; }
  // Takes a character or a word if it comes next; otherwise takes nothing and returns false.
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    advance();
    return true;
  }
  bool take(std::string_view word) {
    if (rest().substr(0, word.size()) != word) return false;
    for (std::size_t i = 0; i < word.size(); ++i) advance();
    return true;
  }

  // Skips blanks within the line.
  void skip_blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  // Skips blanks and line breaks.
  void skip_space() {
    for (skip_blanks(); take('\n');) skip_blanks();
  }
  void skip_line() {
    while (!at_end() && peek() != '\n') advance();
  }

  // Takes an unsigned decimal number. If there is none, or it needs more than 64 bits, takes
  // nothing and returns false.
  bool number(std::uint64_t& out) {
    const char* first = text_.data() + at_;
    const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), out);
    if (code != std::errc{}) return false;
    at_ += static_cast<std::size_t>(end - first);
    return true;
  }

  // What is at the cursor, in words, for messages.
  [[nodiscard]] std::string found() const {
    if (at_end()) return "the end of the file";
    const char c = text_[at_];
    if (c == '\n' || c == '\r') return "the end of the line";
    if (std::uint64_t number = 0; c >= '0' && c <= '9' && !TextScanner(*this).number(number)) {
      return "a number of more than 64 bits";
    }
    if (c < ' ' || c > '~') {
      return fmt::format("the byte 0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return fmt::format("'{}'", c);
  }
  [[nodiscard]] Error error(std::string what) const {
    return error_at_line(file_, line_, std::move(what));
  }
  // "expected `what`, found …"
  [[nodiscard]] Error expected(std::string_view what) const {
    return error(fmt::format("expected {}, found {}", what, found()));
  }

 private:
  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

}  // namespace ouro
