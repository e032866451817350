// Verdicts as JUnit XML, which build servers read: a suite for each history, a test for each level.

#include <fmt/format.h>

#include <algorithm>

#include "ouro/forms.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/telling.h"

namespace ouro {
namespace {

// Escapes `raw` for text and attributes. Characters that XML cannot hold become U+FFFD.
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

// How many tests of a suite there are, and how many of them failed or had errors.
struct Tally {
  std::size_t tests = 0, failures = 0, errors = 0;
};

// The content of a level's test: its failure or error, which is counted in `tally`. If expectations
// decide (checked.met), a violation is no failure; then its stories are output of the test.
std::string content_of(const Checked& checked, const Verdict& verdict, Tally& tally) {
  const Explanation* explanation = find(checked.explanations, verdict.level);
  const std::string why = remark(verdict, explanation == nullptr ? Explanation{} : *explanation);
  if (verdict.outcome == Outcome::Undecided) {
    ++tally.errors;
    return problem("error", "undecided", why, why);
  }
  if (verdict.outcome == Outcome::Holds) {
    if (why.empty()) return {};
    const bool nothing =
        std::any_of(verdict.left_out.begin(), verdict.left_out.end(),
                    [](const LeftOut& left) { return left.kind == LeftOutKind::Everything; });
    if (nothing) return fmt::format("      <skipped>{}</skipped>\n", escaped(why));
    return fmt::format("      <system-out>holds as far as was checked: {}</system-out>\n",
                       escaped(why));
  }
  const std::string message = "VIOLATED " + std::string(info(verdict.level).name);
  std::string text = "\n";
  std::vector<const Story*> told;
  if (explanation != nullptr) {
    append_stories(text, *checked.history, verdict, *explanation, told);
  }
  if (checked.met != nullptr) {
    return fmt::format("      <system-out>{}: {}\n{}</system-out>\n", escaped(message),
                       escaped(why), escaped(text));
  }
  ++tally.failures;
  return problem("failure", why, message, text);
}

}  // namespace

void JunitReport::add(const Checked& checked) {
  std::string cases;
  Tally tally{.tests = checked.verdicts.size()};
  for (const Verdict& verdict : settled(checked.verdicts, checked.explanations)) {
    const double share = checked.seconds / static_cast<double>(checked.verdicts.size());
    cases += test_case(checked.name, info(verdict.level).name, share,
                       content_of(checked, verdict, tally));
  }
  if (checked.met != nullptr) {
    ++tally.tests;
    std::string content;
    const std::string what = fmt::format("{}", fmt::join(checked.met->complaints, "\n"));
    if (!what.empty()) {
      const bool undecided = checked.met->outcome == Outcome::Undecided;
      ++(undecided ? tally.errors : tally.failures);
      content = problem(undecided ? "error" : "failure", undecided ? "undecided" : "unexpected",
                        checked.met->complaints.front(), what);
    }
    cases += test_case(checked.name, "expected", 0, content);
  }
  suites_ += suite(checked.name, tally.tests, tally.failures, tally.errors, checked.seconds, cases);
  tests_ += tally.tests;
  failures_ += tally.failures;
  errors_ += tally.errors;
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
