#include "tests/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ouro {
namespace {

struct Line {
  std::size_t number = 0;
  std::size_t indent = 0;
  std::string text;  // Without indentation and comment.
  std::string whole;
};

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      add(number, std::string(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  Yaml document() {
    skip_empty();
    Yaml out = block(at_line().indent);
    skip_empty();
    if (at_ < lines_.size()) fail("this line is not indented like those before it");
    return out;
  }

 private:
  void add(std::size_t number, std::string whole) {
    Line line{.number = number, .indent = 0, .text = {}, .whole = whole};
    if (whole.find('\t') != std::string::npos) fail(number, "a tab");
    line.indent = std::min(whole.find_first_not_of(' '), whole.size());
    line.text = whole.substr(line.indent);
    char quote = 0;
    for (std::size_t i = 0; i < line.text.size(); ++i) {
      const char c = line.text[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if ((c == '"' || c == '\'') && (i == 0 || line.text[i - 1] == ' ' || c == '"')) {
        quote = c;
      } else if (c == '#' && (i == 0 || line.text[i - 1] == ' ')) {
        line.text.resize(i);
      }
    }
    while (line.text.ends_with(' ')) line.text.pop_back();
    lines_.push_back(std::move(line));
  }

  [[noreturn]] static void fail(std::size_t number, std::string_view what) {
    throw std::invalid_argument(fmt::format("line {}: {}", number, what));
  }
  [[noreturn]] void fail(std::string_view what) const {
    fail(at_ < lines_.size() ? lines_[at_].number : lines_.size(), what);
  }

  void skip_empty() {
    while (at_ < lines_.size() && lines_[at_].text.empty()) ++at_;
  }
  Line& at_line() {
    if (at_ == lines_.size()) fail("the end, but something should follow");
    return lines_[at_];
  }

  // The map or list whose lines are indented so far.
  Yaml block(std::size_t indent) {
    Yaml out;
    for (skip_empty(); at_ < lines_.size() && lines_[at_].indent == indent; skip_empty()) {
      const bool item = lines_[at_].text.starts_with("- ") || lines_[at_].text == "-";
      const Yaml::Kind kind = item ? Yaml::Kind::List : Yaml::Kind::Map;
      if (out.kind != Yaml::Kind::Text && out.kind != kind) fail("a list and a map in one");
      out.kind = kind;
      if (item) {
        add_item(out, indent);
      } else {
        add_member(out, indent);
      }
    }
    if (at_ < lines_.size() && lines_[at_].indent > indent) fail("too much indentation");
    return out;
  }

  void add_item(Yaml& out, std::size_t indent) {
    Line& line = at_line();
    const std::size_t start = line.text.find_first_not_of(' ', 1);
    if (start == std::string::npos) fail("an empty item");
    const std::string rest = line.text.substr(start);
    if (colon_of(rest) == std::string::npos) {
      out.items.push_back(value(rest, indent));
      return;
    }
    // A map that begins behind the dash: as if the dash were a blank.
    line.indent += start;
    line.text = rest;
    out.items.push_back(block(line.indent));
  }

  void add_member(Yaml& out, std::size_t indent) {
    const std::string text = at_line().text;
    const std::size_t colon = colon_of(text);
    if (colon == std::string::npos) fail("neither an item nor a member");
    const std::string name = text.substr(0, colon);
    if (out.member(name) != nullptr) fail(fmt::format("'{}' twice", name));
    const std::size_t start = text.find_first_not_of(' ', colon + 1);
    if (start != std::string::npos) {
      out.members.push_back({name, value(text.substr(start), indent)});
      return;
    }
    ++at_;
    skip_empty();
    const bool list = at_line().indent == indent && at_line().text.starts_with("- ");
    if (at_line().indent <= indent && !list) fail(fmt::format("'{}' has no value", name));
    out.members.push_back({name, block(at_line().indent)});
  }

  // Where a name ends that has a value; npos if the text is no member.
  static std::size_t colon_of(const std::string& text) {
    if (text.starts_with('"') || text.starts_with('\'') || text.starts_with('{') ||
        text.starts_with('[')) {
      return std::string::npos;
    }
    const std::size_t colon = std::min(text.find(": "), text.size());
    if (colon < text.size()) return colon;
    return text.ends_with(':') ? text.size() - 1 : std::string::npos;
  }

  // What stands behind a dash or a name, and perhaps on the lines below; goes on behind it.
  Yaml value(const std::string& text, std::size_t indent) {
    ++at_;
    if (text == ">" || text == "|") return folded(text == ">" ? ' ' : '\n', indent);
    std::string_view rest = text;
    Yaml out = flow(rest, false);
    if (!rest.empty()) fail(lines_[at_ - 1].number, fmt::format("'{}' behind a value", rest));
    return out;
  }

  Yaml folded(char between, std::size_t indent) {
    Yaml out;
    while (at_ < lines_.size() &&
           (lines_[at_].whole.empty() || lines_[at_].whole.find_first_not_of(' ') > indent)) {
      const std::string& whole = lines_[at_].whole;
      const std::size_t start = std::min(whole.find_first_not_of(' '), whole.size());
      if (!out.text.empty()) out.text += between;
      out.text += whole.substr(start);
      ++at_;
    }
    if (out.text.empty()) fail("an empty text");
    return out;
  }

  // A value on one line; `inside` a map or a list on one line, where a comma ends a plain text.
  Yaml flow(std::string_view& rest, bool inside) {
    Yaml out;
    if (rest.starts_with('"') || rest.starts_with('\'')) {
      const std::size_t end = rest.find(rest[0], 1);
      if (end == std::string_view::npos) fail("a text that does not end");
      out.text = rest.substr(1, end - 1);
      rest.remove_prefix(end + 1);
    } else if (rest.starts_with('{') || rest.starts_with('[')) {
      return collection(rest);
    } else {
      const std::size_t end =
          inside ? std::min(rest.find_first_of(",]}"), rest.size()) : rest.size();
      out.text = rest.substr(0, end);
      if (out.text.empty() || std::string_view("&*!%@`").find(out.text[0]) != std::string::npos) {
        fail("no plain text");
      }
      rest.remove_prefix(end);
    }
    return out;
  }

  Yaml collection(std::string_view& rest) {
    Yaml out;
    const char close = rest[0] == '{' ? '}' : ']';
    out.kind = close == '}' ? Yaml::Kind::Map : Yaml::Kind::List;
    do {
      rest.remove_prefix(1);
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      std::string name;
      if (close == '}') {
        const std::size_t colon = rest.find(": ");
        if (colon == std::string_view::npos) fail("a member without a value");
        name = rest.substr(0, colon);
        rest.remove_prefix(colon + 2);
      }
      Yaml value = flow(rest, true);
      if (close == '}') {
        out.members.push_back({name, std::move(value)});
      } else {
        out.items.push_back(std::move(value));
      }
    } while (rest.starts_with(','));
    if (!rest.starts_with(close)) fail(fmt::format("expected '{}'", close));
    rest.remove_prefix(1);
    return out;
  }

  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

const Yaml* Yaml::member(std::string_view name) const {
  const auto at = std::find_if(members.begin(), members.end(),
                               [&](const auto& each) { return each.name == name; });
  return at == members.end() ? nullptr : &at->value;
}

Yaml parse_yaml(std::string_view text) { return YamlReader(text).document(); }

}  // namespace ouro
