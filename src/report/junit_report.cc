// JUnit's XML, as build servers read it.

#include <fmt/format.h>

#include "ouro/forms.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/telling.h"

namespace ouro {
namespace {

// For text and attributes; characters that XML cannot hold become U+FFFD.
std::string escaped(std::string_view raw) {
  const std::string text = valid_utf8(std::string(raw));
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (byte < 0x20 && c != '\n' && c != '\t') {
      out += "\xef\xbf\xbd";
    } else {
      out += c;
    }
  }
  return out;
}

const Explanation* find(std::span<const Explanation> explanations, Level level) {
  for (const Explanation& explanation : explanations) {
    if (explanation.level == level) return &explanation;
  }
  return nullptr;
}

std::string test_case(std::string_view history, std::string_view level, double seconds,
                      const std::string& content) {
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                       escaped(history), level, seconds);
  return content.empty() ? head + "/>\n" : fmt::format("{}>\n{}    </testcase>\n", head, content);
}

std::string problem(std::string_view element, std::string_view type, std::string_view message,
                    std::string_view text) {
  return fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", element, escaped(type),
                     escaped(message), escaped(text), element);
}

std::string suite(std::string_view name, std::size_t tests, std::size_t failures,
                  std::size_t errors, double seconds, const std::string& cases) {
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}"
      "  </testsuite>\n",
      escaped(name), tests, failures, errors, seconds, cases);
}

}  // namespace

void JunitReport::add(const Checked& checked) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const Verdict& verdict : checked.verdicts) {
    const Explanation* explanation = find(checked.explanations, verdict.level);
    const std::string why = remark(verdict, explanation == nullptr ? Explanation{} : *explanation);
    std::string content;
    if (verdict.outcome == Outcome::Undecided) {
      ++errors;
      content = problem("error", "undecided", why, why);
    } else if (verdict.outcome == Outcome::Violated) {
      ++failures;
      std::string text = "\n";
      std::vector<std::vector<TxnId>> told;
      if (explanation != nullptr) {
        append_stories(text, *checked.history, verdict, *explanation, told);
      }
      content = problem("failure", why, "VIOLATED " + std::string(info(verdict.level).name), text);
    }
    const double share = checked.seconds / static_cast<double>(checked.verdicts.size());
    cases += test_case(checked.name, info(verdict.level).name, share, content);
  }
  suites_ += suite(checked.name, checked.verdicts.size(), failures, errors, checked.seconds, cases);
  tests_ += checked.verdicts.size();
  failures_ += failures;
  errors_ += errors;
}

void JunitReport::add(std::string_view name, const Error& error) {
  const std::string what = error.to_string();
  suites_ += suite(name, 1, 0, 1, 0,
                   test_case(name, "read", 0, problem("error", "bad input", what, what)));
  ++tests_;
  ++errors_;
}

std::string JunitReport::finish() const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"ouro\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
      tests_, failures_, errors_, suites_);
}

}  // namespace ouro
