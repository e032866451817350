// Predicate reads whose verdict is plain: each by every evidence that says something about it, with
// its certificate and with how it is told.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"

namespace ouro {
namespace {

// "holds"; or what is violated, by the name of the first anomaly; or the error. A certificate that
// is not accepted, or a violation that nobody can tell, is a failure.
std::string judged(std::string_view text, Evidence evidence, Level level = Level::Serializable) {
  const auto history = parse_history(text, {}, "h.jsonl");
  if (!history.ok()) return history.error().to_string();
  CheckOptions options;
  options.evidence = evidence;
  const auto verdict = check(*history, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  const auto checked = certify(*history, make_certificate(*history, *verdict));
  EXPECT_TRUE(checked.ok()) << checked.error().to_string();
  EXPECT_TRUE(!checked.ok() || checked->accepted) << checked->reason << "\n" << text;
  EXPECT_NE(describe(*history, *verdict), "");
  if (verdict->outcome == Outcome::Holds) return "holds";
  return verdict->anomalies.empty() ? "nothing"
                                    : std::string(info(verdict->anomalies[0].kind).name);
}

// ---- weak levels ----

TEST(PredicateCasesTest, WeakLevelsFollowWhatPredicatesSaw) {
  const std::string_view each_other =
      R"({"session":"s","ops":[["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k1",{"a":1}]]}],["w","k2",{"a":1}]]}
{"session":"t","ops":[["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k2",{"a":1}]]}],["w","k1",{"a":1}]]}
{"key":"k1","versions":[{"a":1}],"complete":true}
{"key":"k2","versions":[{"a":1}],"complete":true}
)";
  const std::string_view own_future =
      R"({"session":"s","ops":[["aggregate","count",null,{"eq":["a",1]},1,{"versions":[["k1",{"a":1}]]}]]}
{"session":"s","ops":[["w","k1",{"a":1}]]}
{"key":"k1","versions":[{"a":1}],"complete":true}
)";
  for (const Level level : {Level::ReadCommitted, Level::ReadAtomic, Level::Causal}) {
    EXPECT_EQ(judged(each_other, Evidence::Versions, level), "dependency cycle");
    EXPECT_EQ(judged(own_future, Evidence::Versions, level), "dependency cycle");
  }
}

// ---- own writes ----

TEST(PredicateCasesTest, NobodySeesTheirOwnCommit) {
  const std::string_view before =
      R"({"session":"a","start_ts":4,"commit_ts":4,"ops":[["select",true,[]],["w","k1",{"a":3}]]})";
  const std::string_view behind =
      R"({"session":"a","start_ts":1,"commit_ts":1,"ops":[["w","k1",{"a":1}]]}
{"session":"a","start_ts":4,"commit_ts":4,"ops":[["w","k1",{"a":2}],["select",true,[["k1",{"a":2}]]],["w","k1",{"a":3}]]}
)";
  const std::string_view seen =
      R"({"session":"a","start_ts":4,"commit_ts":4,"ops":[["select",true,[["k1",{"a":3}]]],["w","k1",{"a":3}]]})";
  for (const Evidence evidence : {Evidence::Versions, Evidence::Timestamps}) {
    EXPECT_EQ(judged(before, evidence), "holds");
    EXPECT_EQ(judged(behind, evidence), "holds");
    EXPECT_NE(judged(seen, evidence), "holds");
  }
}

}  // namespace
}  // namespace ouro
