#include "format/dbcop_yaml.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kDbcopYaml = Format::DbcopYaml;

constexpr std::string_view kSample = R"(---
# a comment
- - events:
    - write:    true
      variable: 0
      value:    1
      success:  true
    - write:    true
      variable: 5
      value:    0
      success:  true
    success:    true
  - events:
      - write: true
        variable: 0
        value: 3
        success: true
    success: false
- []
-
  -
    events: []
    success: true
  - events:
    - success: false
      value: 0
      variable: 1
      write: false

    - value: 0
      variable: 1
      write: false
      success: true   # trailing
    success: true
)";

TEST(DbcopYamlTest, ReadsSessionsOutcomesAndDropsFailedEvents) {
  EXPECT_EQ(read_as(kDbcopYaml, kSample), R"({"key":5,"initial":null}
{"session":0,"ops":[["w",0,1],["w",5,0]]}
{"session":0,"status":"aborted","ops":[["w",0,3]]}
{"session":2,"ops":[]}
{"session":2,"ops":[["r",1,0]]}
)");
  const auto history = parse_history(kSample, {}, "h.yaml");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->initial(KeyId{0}), Value::small(0));
  EXPECT_EQ(history->place(TxnId{1}).to_string(), "h.yaml:13");
  EXPECT_EQ(history->place(OpId{2}).to_string(), "h.yaml:14");
}

// A file that was cut within a transaction is refused; between transactions the cut cannot be seen.
TEST(DbcopYamlTest, ATruncatedFileIsAnErrorOrAPrefix) {
  const std::string whole = read_as(kDbcopYaml, kSample).substr(25);
  for (std::size_t length = 0; length < kSample.size(); ++length) {
    const auto history = parse_history(kSample.substr(0, length), {.format = kDbcopYaml});
    if (history.ok()) {
      const std::string part = native(*history);
      const std::size_t txns = std::min(part.size(), part.find("{\"session\""));
      EXPECT_EQ(whole.substr(0, part.size() - txns), part.substr(txns)) << length;
    } else {
      EXPECT_TRUE(history.error().line.has_value()) << length;
    }
  }
}

TEST(DbcopYamlTest, ErrorsNameLineAndRemedy) {
  const auto error = [](std::string_view text) { return error_as(kDbcopYaml, text); };
  EXPECT_EQ(error(""), "h:1: no sessions; the file is empty");
  EXPECT_EQ(error("- - events: []\n"),
            "h:2: the transaction of line 1 lacks 'events' or 'success'");
  EXPECT_EQ(error("- - events: []\n    success: maybe"),
            "h:2: expected true or false for 'success', found 'm'");
  EXPECT_EQ(error("- - events: []\n    colour: true"),
            "h:2: unknown name 'colour'; expected 'events' or 'success'");
  EXPECT_EQ(error("- - events: []\n    events: []"), "h:2: 'events' appears twice");
  EXPECT_EQ(error("- - success: true\n    success: true"), "h:2: 'success' appears twice");
  EXPECT_EQ(error("- - events:\n    - write: true\n    success: true"),
            "h:3: the event of line 2 lacks one of write, variable, value and success");
  EXPECT_EQ(error("- - events:\n    - value: -1"),
            "h:2: expected an unsigned integer for 'value', found '-'");
  EXPECT_EQ(error("- - events:\n    - value: 1\n      value: 1"), "h:3: 'value' appears twice");
  EXPECT_EQ(error("- - events:\n    - key: 1"),
            "h:2: unknown name 'key'; expected 'write', 'variable', 'value' or 'success'");
  EXPECT_EQ(error("- - events: []\n   success: true"),
            "h:2: this stands in a column where nothing can begin; indent it like its siblings");
  EXPECT_EQ(error("  - - events: []\n      success: true\n- []"),
            "h:3: this stands in a column where nothing can begin; indent it like its siblings");
  EXPECT_EQ(error("events: []"),
            "h:1: a name outside of a transaction; a session begins with '- -'");
  EXPECT_EQ(error("- - events:\n    success: true"),
            "h:2: 'events:' without events; write 'events: []' if there are none");
  EXPECT_EQ(error("- - events {}"), "h:1: expected ':' behind a name, found '{'");
  EXPECT_EQ(error("-x"), "h:1: expected a space behind '-', found 'x'");
  EXPECT_EQ(
      error("- {events: []}"),
      "h:1: expected the end of the line (dbcop's own YAML only: one item a line), found '{'");
}

TEST(DbcopYamlTest, NamesMayComeInAnyOrder) {
  EXPECT_EQ(read_as(kDbcopYaml,
                    "- - success: false\n    events:\n     - success: true\n       value: 3\n"
                    "       variable: 1\n       write: true\n"),
            "{\"session\":0,\"status\":\"aborted\",\"ops\":[[\"w\",1,3]]}\n");
}

TEST(DbcopYamlTest, IsDetected) {
  EXPECT_EQ(claimants(kSample), "dbcop-yaml");
  EXPECT_EQ(claimants("- []\n- - events:\n"), "dbcop-yaml");
  EXPECT_EQ(claimants("- name: x\n  events: []\n"), "");
}

}  // namespace
}  // namespace ouro
