#include "format/json_diagnosis.h"

#include <fmt/format.h>

#include <vector>

namespace ouro {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<JsonFault> run() {
    enum class Expect { Value, ValueOrEnd, Key, KeyOrEnd, Colon, CommaOrEnd, Nothing };
    std::vector<char> open;  // The closing brackets owed.
    Expect expect = Expect::Value;
    const auto after_value = [&] { return open.empty() ? Expect::Nothing : Expect::CommaOrEnd; };
    for (;;) {
      skip_space();
      const char c = peek();
      switch (expect) {
        case Expect::ValueOrEnd:
        case Expect::KeyOrEnd:
          if (!open.empty() && c == open.back()) {
            ++at_;
            open.pop_back();
            expect = after_value();
            continue;
          }
          expect = expect == Expect::ValueOrEnd ? Expect::Value : Expect::Key;
          continue;
        case Expect::Value:
          if (c == '[' || c == '{') {
            ++at_;
            open.push_back(c == '[' ? ']' : '}');
            expect = c == '[' ? Expect::ValueOrEnd : Expect::KeyOrEnd;
            continue;
          }
          if (!scalar()) return fault_;
          expect = after_value();
          continue;
        case Expect::Key:
          if (c != '"') return fault("a name in quotes");
          if (!string()) return fault_;
          expect = Expect::Colon;
          continue;
        case Expect::Colon:
          if (c != ':') return fault("':' after the name");
          ++at_;
          expect = Expect::Value;
          continue;
        case Expect::CommaOrEnd:
          if (c == open.back()) {
            ++at_;
            open.pop_back();
            expect = after_value();
          } else if (c == ',') {
            ++at_;
            expect = open.back() == '}' ? Expect::Key : Expect::Value;
          } else {
            return fault(fmt::format("',' or '{}'", open.back()));
          }
          continue;
        case Expect::Nothing:
          if (at_ != text_.size()) return fault("the end of the line");
          return std::nullopt;
      }
    }
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  std::optional<JsonFault> fault(std::string_view expected) {
    std::string found = "the end";
    if (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      found =
          c >= 0x20 && c < 0x7f ? fmt::format("'{}'", text_[at_]) : fmt::format("byte {:#04x}", c);
    }
    fault_ = JsonFault{at_, fmt::format("expected {}, found {}", expected, found)};
    return fault_;
  }

  bool scalar() {
    const char c = peek();
    if (c == '"') return string();
    if (c == '-' || (c >= '0' && c <= '9')) {
      while (at_ < text_.size() &&
             std::string_view("+-.eE0123456789").find(text_[at_]) != std::string_view::npos)
        ++at_;
      return true;
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return true;
      }
    }
    fault("a value");
    return false;
  }

  bool string() {
    const std::size_t start = at_++;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return true;
      } else if (static_cast<unsigned char>(text_[at_]) < 0x20) {
        fault("no control character in a string");
        return false;
      }
    }
    fault_ = JsonFault{start, "a string that starts here does not end"};
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<JsonFault> fault_;
};

}  // namespace

std::optional<JsonFault> diagnose_json(std::string_view text) { return Scanner(text).run(); }

}  // namespace ouro
