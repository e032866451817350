// The example workflows of the documents: that they are YAML, have what GitHub and GitLab ask for,
// and call ouro with flags that it has.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/documents.h"
#include "tests/files.h"
#include "tests/run_program.h"
#include "tests/this_build.h"
#include "tests/yaml.h"

namespace ouro {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Why `text` is no YAML; "" if it is.
std::string complaint_about(const std::string& text) {
  try {
    (void)parse_yaml(text);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(YamlTest, MapsListsAndTextsAreRead) {
  const Yaml yaml = parse_yaml(
      "# A comment.\n"
      "a: 1 # one\n"
      "b:\n"
      "  - x: \"y: #z\"\n"
      "    if: always()\n"
      "  - run: >\n"
      "      two\n"
      "      lines # kept\n"
      "  - plain text\n"
      "c: {d: [e, 'f, g'], h: i}\n");
  ASSERT_EQ(yaml.kind, Yaml::Kind::Map);
  EXPECT_EQ(yaml.member("a")->text, "1");
  const auto& items = yaml.member("b")->items;
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].member("x")->text, "y: #z");
  EXPECT_EQ(items[0].member("if")->text, "always()");
  EXPECT_EQ(items[1].member("run")->text, "two lines # kept");
  EXPECT_EQ(items[2].text, "plain text");
  EXPECT_EQ(yaml.member("c")->member("d")->items[1].text, "f, g");
  EXPECT_EQ(yaml.member("c")->member("h")->text, "i");
  EXPECT_EQ(yaml.member("d"), nullptr);
}

TEST(YamlTest, FaultsNameTheirLine) {
  EXPECT_EQ(complaint_about("a:\n\tb: 1\n"), "line 2: a tab");
  EXPECT_EQ(complaint_about("a: 1\na: 2\n"), "line 2: 'a' twice");
  EXPECT_EQ(complaint_about("a: 1\n  b: 2\n"), "line 2: too much indentation");
  EXPECT_EQ(complaint_about("a:\n  b: 2\n c: 3\n"), "line 3: too much indentation");
  EXPECT_EQ(complaint_about("a:\nb: 1\n"), "line 2: 'a' has no value");
  EXPECT_EQ(complaint_about("a\n"), "line 1: neither an item nor a member");
  EXPECT_EQ(complaint_about("a: {b: 1\n"), "line 1: expected '}'");
  EXPECT_EQ(complaint_about("- a\nb: 1\n"), "line 2: a list and a map in one");
}

std::vector<Yaml> workflows() {
  std::vector<Yaml> out;
  for (const DocumentBlock& block : read_document(kRoot / "docs" / "ci.md").blocks) {
    if (block.language != "yaml") continue;
    EXPECT_EQ(complaint_about(block.text), "") << "docs/ci.md:" << block.line;
    out.push_back(parse_yaml(block.text));
  }
  return out;
}

// Checks that ouro has the command and the flags.
void expect_understood(const std::string& script) {
  std::istringstream words(script);
  std::string word, help;
  for (bool ours = false; words >> word;) {
    if (word == "ouro") {
      std::string command;
      words >> command;
      EXPECT_EQ(run_program({kOuroBinary, command, "--help"}).status, 0) << script;
      help = run_program({kOuroBinary, "man", "--markdown"}).out;  // Has all flags.
      ours = true;
    } else if (ours && word.starts_with("--")) {
      EXPECT_THAT(help, HasSubstr(word + ' ')) << script;
    }
  }
}

TEST(WorkflowTest, GitHubRunsWhatTheDocumentsShow) {
  std::size_t jobs = 0, scripts = 0;
  for (const Yaml& workflow : workflows()) {
    const Yaml* all = workflow.member("jobs");
    if (all == nullptr) continue;
    for (const auto& [name, job] : all->members) {
      ++jobs;
      ASSERT_NE(job.member("runs-on"), nullptr) << name;
      ASSERT_NE(job.member("steps"), nullptr) << name;
      for (const Yaml& step : job.member("steps")->items) {
        const Yaml* run = step.member("run");
        const Yaml* uses = step.member("uses");
        ASSERT_NE(run == nullptr, uses == nullptr) << "each step runs or uses something";
        if (uses != nullptr) {
          EXPECT_THAT(uses->text, ContainsRegex("^[a-z-]+/[a-z/-]+@v[0-9]+$"));
        }
        if (const Yaml* when = step.member("if")) {
          EXPECT_THAT(when->text, AnyOf("always()", "failure()"));
        }
        if (run == nullptr) continue;
        ++scripts;
        expect_understood(run->text);
      }
    }
  }
  EXPECT_EQ(jobs, 1u);
  EXPECT_EQ(scripts, 2u);
}

TEST(WorkflowTest, GitLabRunsWhatTheDocumentsShow) {
  std::size_t scripts = 0;
  for (const Yaml& workflow : workflows()) {
    if (workflow.member("jobs") != nullptr) continue;
    for (const auto& [name, job] : workflow.members) {
      ASSERT_NE(job.member("script"), nullptr) << name;
      EXPECT_THAT(job.member("script")->items, Not(IsEmpty())) << name;
      for (const Yaml& line : job.member("script")->items) expect_understood(line.text);
      ++scripts;
    }
  }
  EXPECT_EQ(scripts, 1u);
}

TEST(WorkflowTest, AlertsAreRulesForPrometheus) {
  const std::string text = slurp(kRoot / "docs" / "serve" / "alerts.yml");
  ASSERT_EQ(complaint_about(text), "");
  const Yaml alerts = parse_yaml(text);
  ASSERT_NE(alerts.member("groups"), nullptr);
  std::size_t rules = 0;
  for (const Yaml& group : alerts.member("groups")->items) {
    ASSERT_NE(group.member("rules"), nullptr);
    for (const Yaml& rule : group.member("rules")->items) {
      ++rules;
      EXPECT_NE(rule.member("alert"), nullptr);
      EXPECT_NE(rule.member("expr"), nullptr);
    }
  }
  EXPECT_GT(rules, 3u);
}

}  // namespace
}  // namespace ouro
