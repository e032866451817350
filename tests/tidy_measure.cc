// How long files and functions are.
//
// Outside of functions, what stands before a '{' tells what it opens: a namespace or type, whose
// inside is looked at in turn; a function, which lasts to its '}'; or an initialiser, which is
// skipped. An initialiser's brace touches the name before it (a_{1}), follows '=' or stands between
// parentheses; a function's has a space before it, as clang-format writes it.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "tests/tidy.h"

namespace ouro::tidy {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Walks over C++ and blanks what is no code. One member function per kind of token.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), out_(text) {}

  std::string run() && {
    while (at_ < text_.size()) {
      if (at("//")) {
        blank_until(text_.find('\n', at_));
      } else if (at("/*")) {
        blank_until(after(text_.find("*/", at_ + 2), 2));
      } else if (text_[at_] == '#' && only_spaces_before()) {
        blank_until(end_of_directive());
      } else if (text_[at_] == '"') {
        blank_string();
      } else if (text_[at_] == '\'' && !(at_ > 0 && is_word(text_[at_ - 1]))) {
        blank_quoted('\'');
      } else {
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool at(std::string_view token) const {
    return text_.substr(at_).starts_with(token);
  }
  static std::size_t after(std::size_t found, std::size_t length) {
    return found == std::string_view::npos ? found : found + length;
  }
  [[nodiscard]] bool only_spaces_before() const {
    const std::size_t before = text_.substr(0, at_).find_last_not_of(" \t");
    return before == std::string_view::npos || text_[before] == '\n';
  }
  [[nodiscard]] std::size_t end_of_directive() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    return end;
  }
  void blank_until(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (out_[at_] != '\n') out_[at_] = ' ';
    }
  }
  // A string, raw if an R stands before it. Its quotes stay, so that `f("x")` is still a call.
  void blank_string() {
    if (at_ == 0 || text_[at_ - 1] != 'R') return blank_quoted('"');
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return blank_until(open);
    const std::string close = fmt::format("){}\"", text_.substr(at_ + 1, open - at_ - 1));
    blank_until(after(text_.find(close, open), close.size()));
  }
  void blank_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    ++at_;
    blank_until(end);
    if (at_ < text_.size()) ++at_;
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

// What a '{' opens.
enum class Scope { Outer, Function, Initialiser };

// `head` is what stands before the brace, since the last statement.
Scope classify(std::string_view head, int parentheses) {
  static const std::regex outer(R"(\s*(template\s*<[\s\S]*>\s*)?(inline\s+|export\s+)?)"
                                R"((namespace|class|struct|union|enum|extern)\b[\s\S]*)");
  if (parentheses > 0 || head.empty()) return Scope::Initialiser;
  const std::size_t last = head.find_last_not_of(" \n");
  if (last == std::string_view::npos || head[last] == '=') return Scope::Initialiser;
  if (last + 1 == head.size() && is_word(head[last])) return Scope::Initialiser;
  if (std::regex_match(head.begin(), head.end(), outer)) return Scope::Outer;
  return head.find('(') == std::string_view::npos ? Scope::Initialiser : Scope::Function;
}

// "Graph::add_arc" of "void Graph::add_arc(Arc arc)", "GraphTest.Adds" of "TEST(GraphTest, Adds)".
std::string function_name(std::string_view head) {
  static const std::regex test(R"(\s*(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*)");
  static const std::regex named(R"(((?:\w+::)*operator\s*(?:\(\)|[^\s\w(]+|\w+)|[\w:~]+)\s*\()");
  std::cmatch match;
  const char* const end = head.data() + head.size();
  if (std::regex_match(head.data(), end, match, test)) {
    return match[1].str() + '.' + match[2].str();
  }
  if (!std::regex_search(head.data(), end, match, named)) return "lambda";
  std::string name = match[1].str();
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  return name;
}

class Measurer {
 public:
  Measurer(std::string_view path, std::string_view code, Sizes& sizes)
      : path_(path), code_(code), sizes_(sizes) {}

  void run() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (c == '\n') ++line_;
      if (c == '{') {
        open();
      } else if (c == '}') {
        close();
      } else if (opaque_ == 0) {
        outside(c);
      }
    }
  }

 private:
  void outside(char c) {
    if (c == '(') ++parentheses_;
    if (c == ')') --parentheses_;
    if (c == ';' && parentheses_ == 0) return forget();
    if (head_.empty()) {
      if (c == ' ' || c == '\n') return;
      head_line_ = line_;
    }
    head_ += c;
    if (head_ == "public:" || head_ == "private:" || head_ == "protected:") forget();
  }
  void open() {
    if (opaque_ > 0) {
      ++opaque_;
      return;
    }
    scope_ = classify(head_, parentheses_);
    if (scope_ == Scope::Outer) return forget();
    opaque_ = 1;
  }
  void close() {
    if (opaque_ == 0) return forget();
    if (--opaque_ > 0 || scope_ == Scope::Initialiser) return;
    const std::string key = fmt::format("{} {}", path_, function_name(head_));
    int& lines = sizes_.functions[key];
    if (line_ - head_line_ + 1 > lines) {
      lines = line_ - head_line_ + 1;
      sizes_.lines[key] = head_line_;
    }
    forget();
  }
  void forget() {
    head_.clear();
    parentheses_ = 0;
  }

  std::string_view path_;
  std::string_view code_;
  Sizes& sizes_;
  std::size_t at_ = 0;
  int line_ = 1;
  int opaque_ = 0;  // Braces open in a function or initialiser.
  Scope scope_ = Scope::Outer;
  int parentheses_ = 0;
  std::string head_;  // What stands before the next brace, since the last statement.
  int head_line_ = 1;
};

}  // namespace

std::string blank_non_code(std::string_view text) { return Blanker(text).run(); }

void measure(std::string_view path, std::string_view text, Sizes& sizes) {
  const std::string code = blank_non_code(text);
  // Preprocessor lines are blank in `code` and are lines of code all the same.
  int& lines = sizes.files[std::string(path)];
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const auto is_blank = [](std::string_view s) { return s.find_first_not_of(" \t") == s.npos; };
    const std::string_view original = text.substr(begin, end - begin);
    const std::size_t first = original.find_first_not_of(" \t");
    if (!is_blank(std::string_view(code).substr(begin, end - begin)) ||
        (first != original.npos && original[first] == '#')) {
      ++lines;
    }
    begin = end + 1;
  }
  Measurer(path, code, sizes).run();
}

}  // namespace ouro::tidy
