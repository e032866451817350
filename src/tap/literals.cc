#include "tap/literals.h"

#include <cctype>

namespace ouro::tapping {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Also of letters beyond ASCII.
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool equals_no_case(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(word[i])) != lower[i]) return false;
  }
  return true;
}

class Scanner {
 public:
  explicit Scanner(std::string_view sql) : sql_(sql) {}

  std::optional<Form> run() {
    while (at_ < sql_.size()) {
      const char c = sql_[at_];
      const bool good = c == '\''     ? quoted()
                        : c == '"'    ? name()
                        : is_digit(c) ? number()
                        : is_word(c)  ? word()
                                      : other();
      if (!good) return std::nullopt;
    }
    return std::move(form_);
  }

 private:
  [[nodiscard]] char next(std::size_t ahead) const {
    return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0';
  }

  bool quoted() {
    Literal literal{at_, ""};
    for (++at_;; ++at_) {
      if (at_ == sql_.size() || sql_[at_] == '\\') return false;
      if (sql_[at_] == '\'' && next(1) != '\'') break;
      literal.text += sql_[at_];
      if (sql_[at_] == '\'') ++at_;
    }
    ++at_;
    // Text that is continued in the next line.
    std::size_t behind = at_;
    while (behind < sql_.size() && std::isspace(static_cast<unsigned char>(sql_[behind])) != 0) {
      ++behind;
    }
    if (behind < sql_.size() && sql_[behind] == '\'') return false;
    form_.text += "'\1'";
    form_.literals.push_back(std::move(literal));
    return true;
  }

  bool name() {
    const std::size_t end = sql_.find('"', at_ + 1);
    if (end == sql_.npos) return false;
    form_.text += sql_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    return true;
  }

  bool number() {
    constexpr std::size_t kMostDigits = 9;  // More may not be an integer.
    std::size_t end = at_;
    while (end < sql_.size() && is_digit(sql_[end])) ++end;
    const bool more = end < sql_.size() && (is_word(sql_[end]) || sql_[end] == '.');
    const bool fraction = at_ > 0 && sql_[at_ - 1] == '.';
    if (more || fraction || end - at_ > kMostDigits) return false;
    form_.literals.push_back({at_, std::string(sql_.substr(at_, end - at_))});
    form_.text += '\1';
    at_ = end;
    return true;
  }

  bool word() {
    std::size_t end = at_;
    while (end < sql_.size() && is_word(sql_[end])) ++end;
    const std::string_view word = sql_.substr(at_, end - at_);
    if (word[0] == '$' && (word.size() < 2 || !is_digit(word[1]))) return false;
    if (end < sql_.size() && sql_[end] == '\'') return false;  // E'…' and the like.
    if (equals_no_case(word, "limit") || equals_no_case(word, "fetch")) return false;
    form_.text += word;
    at_ = end;
    return true;
  }

  bool other() {
    const char c = sql_[at_];
    if ((c == '-' && next(1) == '-') || (c == '/' && next(1) == '*') ||
        (c == '&' && next(1) == '\'') || c == '\1') {
      return false;
    }
    form_.text += c;
    ++at_;
    return true;
  }

  std::string_view sql_;
  std::size_t at_ = 0;
  Form form_;
};

}  // namespace

std::optional<Form> take_literals(std::string_view sql) { return Scanner(sql).run(); }

}  // namespace ouro::tapping
