// Stories are true and minimal: checked with the oracle on every case and thousands of violations.

#include "ouro/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "explain/row_difference.h"
#include "history/columns.h"
#include "ouro/certificate.h"
#include "ouro/format.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/ordinary_data.h"
#include "tests/random_rows.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"
#include "tests/timeline_oracle.h"
#include "tests/value_oracle.h"

namespace ouro::oracle {
namespace {

bool is_allowed(const History& history, Level level, Evidence evidence) {
  if (evidence == Evidence::Timestamps) return TimestampOracle(history, level).counts().empty();
  return allowed(history, level, {.evidence = evidence});
}

History without(const History& history, const Story& story, TxnId txn) {
  std::vector<TxnId> txns;
  std::vector<OpId> ops;
  for (const TxnId other : story.txns) {
    if (other != txn) txns.push_back(other);
  }
  for (const OpId op : story.ops) {
    if (history.txn_of(op) != txn) ops.push_back(op);
  }
  return excerpt(history, txns, ops, story.evidence);
}

History without(const History& history, const Story& story, OpId op) {
  std::vector<OpId> ops;
  std::copy_if(story.ops.begin(), story.ops.end(), std::back_inserter(ops),
               [&](OpId other) { return other != op; });
  return excerpt(history, story.txns, ops, story.evidence);
}

// What is wrong with the edges of a story, or "".
std::string edge_complaint(const History& history, const Story& story) {
  const auto involved = [&](TxnId txn) {
    return !txn.valid() || std::binary_search(story.txns.begin(), story.txns.end(), txn);
  };
  for (const ouro::Case& each : story.cases) {
    if (each.cycle.empty() && !each.plain) return "a case without a cycle";
    for (const ReadSource& said : each.sources) {
      const bool told = std::binary_search(story.ops.begin(), story.ops.end(), said.read);
      if (!told || !involved(said.writer)) return "a source that is not in the story";
    }
    for (std::size_t i = 0; i < each.cycle.size(); ++i) {
      const Edge& edge = each.cycle[i];
      if (edge.to != each.cycle[(i + 1) % each.cycle.size()].from) return "edges do not chain";
      if (!involved(edge.from) || !involved(edge.to)) return "an edge leaves the story";
      for (const OpId op : {edge.from_op, edge.to_op, edge.read, edge.saw}) {
        if (op.valid() && !std::binary_search(story.ops.begin(), story.ops.end(), op)) {
          return "an edge rests on an operation that is not in the story";
        }
      }
      if (edge.choice != Edge::kNoChoice && edge.choice >= each.given.size()) {
        return "an edge rests on nothing that is given";
      }
      if (edge.key.valid() && edge.from_op.valid() && history.op(edge.from_op).key.valid() &&
          history.op(edge.from_op).key != edge.key) {
        return "an edge about another key";
      }
    }
  }
  for (std::size_t i = 1; i < story.cases.size(); ++i) {
    const auto& one = story.cases[i];
    const bool any_case = one.given.empty() && one.sources.empty() && one.sights.empty();
    if (any_case) return "a case that makes the others superfluous";
  }
  return "";
}

using Judge = bool (*)(const History&, Level, Evidence);

// The story without the operations that only save cases: while it is violated without one, too,
// that one is dropped.
Story without_savers(const History& history, Story story, Judge allowed) {
  for (bool dropped = true; std::exchange(dropped, false);) {
    for (std::size_t i = story.ops.size(); i-- > 0;) {
      const OpId op = story.ops[i];
      if (allowed(without(history, story, op), story.level, story.evidence)) continue;
      story.ops.erase(story.ops.begin() + static_cast<std::ptrdiff_t>(i));
      dropped = true;
    }
  }
  return story;
}

// What is wrong with a story, or "".
std::string complaint(const History& history, const Story& story, Judge allowed = is_allowed) {
  const History least = excerpt(history, story.txns, story.ops, story.evidence);
  if (!story.minimal) return "not minimal";
  if (least.txn_count() != story.txns.size() || least.op_count() != story.ops.size()) {
    return "an operation that says nothing";
  }
  if (allowed(least, story.level, story.evidence)) return "allowed by itself";
  const Story core = story.cases.empty() ? story : without_savers(history, story, allowed);
  for (const TxnId txn : core.txns) {
    if (!allowed(without(history, core, txn), story.level, story.evidence)) {
      return "still violated without transaction " + std::to_string(txn.value + 1);
    }
  }
  for (const OpId op : core.ops) {
    if (!allowed(without(history, core, op), story.level, story.evidence)) {
      return "still violated without operation " + std::to_string(op.value);
    }
  }
  std::string text;
  if (!print_history(least, Format::Native, text).ok()) return "cannot be written";
  const auto again = parse_history(text);
  if (!again.ok()) return again.error().to_string();
  CheckOptions options;
  options.evidence = story.evidence;
  const auto verdict = check(*again, story.level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  if (verdict->outcome != Outcome::Violated) return "written out, it is not violated";
  return edge_complaint(history, story);
}

ExplainOptions thorough() {
  ExplainOptions options;
  options.examples = 2;
  options.work_limit = 0;
  options.threads = 1;
  return options;
}

// What is wrong with the counterexample of a story by timestamps, or "": it must violate the level,
// and without any one transaction or operation be allowed.
std::string written_complaint(const History& history, const Story& story) {
  const History least = counterexample(history, story);
  const auto allowed = [&](const History& part) {
    return is_allowed(part, story.level, story.evidence);
  };
  if (allowed(least)) return "allowed when written out";
  std::vector<TxnId> txns;
  std::vector<OpId> ops;
  for (std::size_t t = 0; t < least.txn_count(); ++t) txns.emplace_back(t);
  for (std::size_t i = 0; i < least.op_count(); ++i) ops.emplace_back(i);
  for (std::size_t t = 0; t < txns.size(); ++t) {
    std::vector<TxnId> rest = txns;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(t));
    if (!allowed(excerpt(least, rest, story.evidence))) return "more than needed is written out";
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    std::vector<OpId> rest = ops;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (!allowed(excerpt(least, txns, rest, story.evidence))) return "an operation too many";
  }
  return "";
}

// What is wrong with a story by timestamps about single operations, or "": its excerpt must have
// the same anomaly, under the same name if it is a lost update, and without any one transaction or
// operation no longer have it.
std::string same_complaint(const History& history, const Story& story) {
  if (!story.minimal) return "not minimal";
  if (std::string wrong = written_complaint(history, story); !wrong.empty()) return wrong;
  // Of the rows that a scan should have found, the story needs one that it missed.
  const bool of_row = story.kind == AnomalyKind::ResultSetMismatch && story.shown_by.size() > 1;
  const std::string row = of_row ? row_text(history, {history.op(story.shown_by[1]).key,
                                                      history.op(story.shown_by[1]).value})
                                 : "";
  const auto same = [&](const History& part) {
    CheckOptions options;
    options.evidence = story.evidence;
    options.examples = 100;
    auto verdict = check(part, story.level, options);
    if (!verdict.ok()) return false;
    std::erase_if(verdict->anomalies, [&](const Anomaly& anomaly) {
      return anomaly.kind != story.kind || (of_row ? anomaly.expected.find(row) == std::string::npos
                                                   : anomaly.expected != story.expected);
    });
    if (verdict->anomalies.empty() || story.pattern != Pattern::LostUpdate) {
      return !verdict->anomalies.empty();
    }
    const std::vector<Story> told = explain(part, *verdict, thorough()).stories;
    return std::any_of(told.begin(), told.end(),
                       [](const Story& other) { return other.pattern == Pattern::LostUpdate; });
  };
  const History least = excerpt(history, story.txns, story.ops, story.evidence);
  if (is_allowed(least, story.level, story.evidence)) return "allowed by itself";
  for (const TxnId txn : story.txns) {
    if (same(without(history, story, txn))) {
      return "the same without transaction " + std::to_string(txn.value + 1);
    }
  }
  for (const OpId op : story.ops) {
    if (same(without(history, story, op))) {
      return "the same without operation " + std::to_string(op.value);
    }
  }
  return "";
}

// Explains every violated level of `history`. What is wrong with it, or "".
std::string explained(const History& history, Evidence evidence,
                      std::map<Pattern, std::size_t>& found) {
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, evidence)) continue;
    CheckOptions options;
    options.evidence = evidence;
    options.threads = 1;
    const auto verdict = check(history, level.level, options);
    if (!verdict.ok()) return verdict.error().to_string();
    const Explanation explanation = explain(history, *verdict, thorough());
    const std::string at = std::string(info(level.level).name) + ": ";
    if (explanation.stories.empty() != (verdict->outcome != Outcome::Violated)) {
      return at + "not one story a violation";
    }
    for (const Story& story : explanation.stories) {
      const std::string wrong = evidence == Evidence::Timestamps ? same_complaint(history, story)
                                                                 : complaint(history, story);
      if (!wrong.empty()) return at + name(story) + ": " + wrong;
      if (story.level != level.level) return at + "a story of another level";
      ++found[story.pattern];
    }
  }
  return "";
}

TEST(ExplainTest, StoriesOfRandomHistoriesAreMinimal) {
  std::map<Pattern, std::size_t> found;
  for (std::uint64_t seed = 1; seed <= 2'500 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    ASSERT_EQ(explained(history, Evidence::Observed, found), "") << "seed " << seed << "\n"
                                                                 << to_string(history);
  }
  std::size_t total = 0;
  for (const auto& [pattern, count] : found) total += count;
  EXPECT_GE(total, 6'000 / kSlowdown);
  EXPECT_GE(found.size(), kSlowdown == 1 ? 18u : 12u);
}

// The history with version orders of its keys, complete or not, mostly in the order of its
// transactions.
History with_orders(const History& history, std::uint64_t seed) {
  struct Restated {
    History history;
    std::vector<VersionOrder> orders;
    std::vector<Value> versions;
  };
  std::mt19937_64 random(seed);
  auto owner = std::make_shared<Restated>();
  owner->history = history;
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    std::vector<Value> values;
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      if (history.status(TxnId{t}) == TxnStatus::Aborted) continue;
      Value last = Value::unobserved();
      for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
        const Op op = history.op(id);
        if (op.key == KeyId{k} && is_write(op.kind)) last = op.value;
      }
      if (!last.is_unobserved()) values.push_back(last);
    }
    const bool complete = random() % 2 == 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (random() % 4 == 0) std::swap(values[i - 1], values[i]);
    }
    if (!complete && !values.empty()) values.erase(values.begin() + random() % values.size());
    owner->orders.push_back({.key = KeyId{k},
                             .complete = complete,
                             .first = static_cast<std::uint32_t>(owner->versions.size()),
                             .count = static_cast<std::uint32_t>(values.size())});
    owner->versions.insert(owner->versions.end(), values.begin(), values.end());
  }
  HistoryColumns columns = columns_of(history);
  columns.version_orders = owner->orders;
  columns.versions = owner->versions;
  return history_of(columns, owner);
}

TEST(ExplainTest, StoriesByVersionOrdersAreMinimal) {
  std::map<Pattern, std::size_t> found;
  for (std::uint64_t seed = 1; seed <= 1'000 / kSlowdown; ++seed) {
    const History history = with_orders(random_history(seed, mixed_shape(seed)), seed);
    ASSERT_EQ(explained(history, Evidence::Versions, found), "") << "seed " << seed << "\n"
                                                                 << to_string(history);
  }
  EXPECT_GT(found[Pattern::LostUpdate] + found[Pattern::WriteSkew], 0u);
}

bool check_allows(const History& history, Level level, Evidence evidence) {
  CheckOptions options;
  options.evidence = evidence;
  options.threads = 1;
  if (history.txn_count() == 0) return true;
  const auto verdict = check(history, level, options);
  return verdict.ok() && verdict->outcome == Outcome::Holds;
}

std::string in_native_text(const History& history) {
  std::string text;
  return print_history(history, Format::Native, text).ok() ? text : "cannot be written";
}

// Because of this a story, which is about a part, is true of the whole history.
TEST(ExplainTest, PartsOfWhatIsAllowedAreAllowed) {
  std::map<Evidence, std::size_t> tried;
  for (std::uint64_t seed = 1; seed <= 3'000 / kSlowdown; ++seed) {
    const History items = random_history(seed, mixed_shape(seed));
    const History repeats = random_history(seed, repeating_shape(seed));
    const History rows = random_rows(seed);
    const std::pair<History, Evidence> wholes[] = {{items, Evidence::Observed},
                                                   {repeats, Evidence::Observed},
                                                   {ordinary_data(seed), Evidence::Observed},
                                                   {rows, Evidence::Observed},
                                                   {with_orders(items, seed), Evidence::Versions},
                                                   {rows, Evidence::Versions}};
    for (const auto& [whole, evidence] : wholes) {
      const History part = random_part(whole, evidence, seed);
      for (const LevelInfo& level : levels()) {
        if (!decidable(level.level, evidence) || !check_allows(whole, level.level, evidence))
          continue;
        ++tried[evidence];
        ASSERT_TRUE(check_allows(part, level.level, evidence))
            << "seed " << seed << ", " << level.name << ", by " << name(evidence) << '\n'
            << in_native_text(whole) << in_native_text(part);
      }
    }
  }
  EXPECT_GT(tried[Evidence::Observed], 10'000 / kSlowdown);
  EXPECT_GT(tried[Evidence::Versions], 10'000 / kSlowdown);
}

bool is_list(const History& history, KeyId key) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind == OpKind::Append && op.key == key) return true;
  }
  return false;
}

// By observation: the keys of edges that selects and aggregates of the story do not tell of.
std::vector<ReadKey> untold_keys(const History& history, const Story& story) {
  std::vector<ReadKey> out;
  if (story.evidence != Evidence::Observed) return out;
  for (const OpId read : story.ops) {
    if (!is_predicate_read(history.op(read).kind)) continue;
    const PredicateRead& details = history.predicate_read(read);
    const bool scan = history.op(read).kind == OpKind::Scan;
    if (scan && details.has_version_set) continue;
    const auto rows = history.rows(details);
    const auto add = [&](KeyId key) {
      if (scan && key.valid() && !oracle::in_range(history, details, key)) return;
      const bool told = std::any_of(rows.begin(), rows.end(),
                                    [&](const KeyVersion& row) { return row.key == key; });
      if (key.valid() && !told && !is_list(history, key)) out.push_back({read, key});
    };
    for (const Edge& edge : story.cases[0].cycle) {
      add(edge.key);
      if (edge.saw != read) continue;  // It may have seen any key that the transaction wrote.
      for (OpId id = history.first_op(edge.from); id < history.end_op(edge.from); ++id.value) {
        if (is_write(history.op(id).kind)) add(history.op(id).key);
      }
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Why the certifier does not accept the story's cycle as a proof about the whole history; "" if it
// does.
std::string certifier_complaint(const History& history, const Story& story) {
  if (story.cases.size() != 1 || !story.cases[0].given.empty()) return "";  // No cycle by itself.
  const std::vector<Edge>& cycle = story.cases[0].cycle;
  const bool retold =
      is_weak_level(story.level) && std::any_of(cycle.begin(), cycle.end(), [](const Edge& edge) {
        return edge.kind == EdgeKind::ReadWrite;
      });
  if (retold) return "";  // Proofs of these levels have no such edges.
  Verdict claim;
  claim.level = story.level;
  claim.evidence = story.evidence;
  claim.outcome = Outcome::Violated;
  claim.anomalies = {{.kind = AnomalyKind::ForbiddenCycle,
                      .txns = story.txns,
                      .ops = {},
                      .edges = story.cases[0].cycle,
                      .support = story.support}};
  claim.counts[static_cast<std::size_t>(AnomalyKind::ForbiddenCycle)] = 1;
  claim.untold = untold_keys(history, story);
  const auto certified = certify(history, make_certificate(history, claim));
  if (!certified.ok()) return certified.error().to_string();
  return certified->accepted ? "" : certified->reason;
}

// What is wrong with the stories of a history with predicate reads at some level, or "": they must
// be minimal, cycles and what single operations show alike, and true of the whole.
std::string rows_complaint(const History& history, Evidence evidence,
                           std::map<Pattern, std::size_t>& found) {
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, evidence)) continue;
    CheckOptions options;
    options.evidence = evidence;
    options.threads = 1;
    const auto verdict = check(history, level.level, options);
    if (!verdict.ok()) return verdict.error().to_string();
    const auto stories = explain(history, *verdict, thorough()).stories;
    if (stories.empty() != (verdict->outcome != Outcome::Violated)) return "no story";
    for (const Story& story : stories) {
      ++found[story.pattern];
      std::string wrong = complaint(history, story, check_allows);
      if (wrong.empty()) wrong = certifier_complaint(history, story);
      if (!wrong.empty()) return std::string(level.name) + ": " + name(story) + ": " + wrong;
    }
  }
  return "";
}

TEST(ExplainTest, StoriesOfPredicateReadsAreMinimal) {
  std::map<Pattern, std::size_t> observed;
  std::map<Pattern, std::size_t> by_versions;
  for (std::uint64_t seed = 1; seed <= 2'000; seed += kSlowdown | 1) {
    const History history = random_rows(seed);
    ASSERT_EQ(rows_complaint(history, Evidence::Observed, observed), "") << "seed " << seed << '\n'
                                                                         << in_native_text(history);
    ASSERT_EQ(rows_complaint(history, Evidence::Versions, by_versions), "")
        << "seed " << seed << '\n'
        << in_native_text(history);
  }
  const std::size_t many = kSlowdown > 1 ? 1 : 100;  // Some patterns are rare.
  EXPECT_GT(observed[Pattern::ResultSetMismatch], many);
  EXPECT_GT(
      observed[Pattern::WriteSkew] + observed[Pattern::LostUpdate] + observed[Pattern::Phantom],
      many);
  EXPECT_GT(by_versions[Pattern::ResultSetMismatch], many);
  EXPECT_GT(by_versions[Pattern::Phantom], many);
}

TEST(ExplainTest, StoriesByTimestampsAreAboutOneAnomalyAndMinimal) {
  std::map<Pattern, std::size_t> found;
  for (std::uint64_t seed = 1; seed <= 3'000 / kSlowdown; ++seed) {
    TimelineShape shape = mixed_timeline(seed);
    shape.unique_values = true;
    const History history = random_timeline(seed, shape);
    ASSERT_EQ(explained(history, Evidence::Timestamps, found), "") << "seed " << seed << "\n"
                                                                   << to_string(history);
  }
  if (kSlowdown > 1) return;  // Too few for the rare ones.
  EXPECT_EQ(found.size(), 13u);
  EXPECT_GT(found[Pattern::LostUpdate], 20u);
}

// A value written twice must not make an innocent reader guilty of what a writer did.
TEST(ExplainTest, ByTimestampsOnlyAnomaliesOfTheWholeHistoryAreTold) {
  std::size_t stories = 0;
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    TimelineShape shape = mixed_timeline(seed);
    shape.unique_values = false;
    const History history = random_timeline(seed, shape);
    for (const Level level : {Level::Si, Level::SessionSi, Level::Serializable}) {
      CheckOptions options;
      options.evidence = Evidence::Timestamps;
      options.threads = 1;
      options.examples = 1'000;
      const auto verdict = check(history, level, options);
      ASSERT_TRUE(verdict.ok());
      const Explanation explanation = explain(history, *verdict, thorough());
      stories += explanation.stories.size();
      for (const Story& story : explanation.stories) {
        ASSERT_TRUE(std::any_of(verdict->anomalies.begin(), verdict->anomalies.end(),
                                [&](const Anomaly& a) {
                                  // A phantom also shows the row that was missed.
                                  if (a.ops.empty()) return a.kind == story.kind;
                                  return a.kind == story.kind &&
                                         std::includes(story.shown_by.begin(), story.shown_by.end(),
                                                       a.ops.begin(), a.ops.begin() + 1);
                                }))
            << "seed " << seed << ": " << name(story) << '\n'
            << in_native_text(history);
      }
    }
  }
  EXPECT_GT(stories, 1'000 / kSlowdown);
}

TEST(ExplainTest, AReaderOfARepeatedValueIsInnocentOfAConflictOfItsWriters) {
  const auto history = parse_history(
      R"({"session":"w","start_ts":1,"commit_ts":2,"ops":[["w","x",8]]}
{"session":"v","start_ts":3,"commit_ts":4,"ops":[["w","x",-4]]}
{"session":"a","start_ts":10,"commit_ts":11,"ops":[["w","x",8],["w","y",1]]}
{"session":"b","start_ts":9,"commit_ts":12,"ops":[["w","y",2]]}
{"session":"c","start_ts":13,"commit_ts":13,"ops":[["r","x",8]]}
)");
  ASSERT_TRUE(history.ok());
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  const auto verdict = check(*history, Level::Si, options);
  ASSERT_TRUE(verdict.ok());
  const Explanation explanation = explain(*history, *verdict);
  ASSERT_EQ(explanation.stories.size(), 1u);
  EXPECT_EQ(explanation.stories[0].kind, AnomalyKind::WriteConflict);
  EXPECT_TRUE(explanation.complete);
}

std::vector<std::string> names(const Explanation& explanation) {
  std::vector<std::string> out;
  for (const Story& story : explanation.stories) out.push_back(name(story));
  return out;
}

Explanation explained(std::string_view text, Level level, std::size_t examples) {
  const History history = history_of(text);
  const auto verdict = check(history, level);
  EXPECT_TRUE(verdict.ok());
  return explain(history, *verdict, {.examples = examples, .work_limit = 0});
}

constexpr const char* kThree =
    "initial 0\n"
    "T1: r x 0, w x 1\n"
    "T2: r x 0, w x 2\n"
    "T3: r a 0, w b 1\n"
    "T4: r b 0, w a 2\n"
    "T5: r y 0, w y 1\n"
    "T6: r y 0, w y 2\n"
    "T7: r z 5\n";

TEST(ExplainTest, IndependentViolationsAreToldSeparately) {
  const Explanation one = explained(kThree, Level::Serializable, 1);
  EXPECT_EQ(names(one), (std::vector<std::string>{"thin-air read", "lost update", "write skew"}));
  const Explanation two = explained(kThree, Level::Serializable, 2);
  EXPECT_EQ(names(two), (std::vector<std::string>{"thin-air read", "lost update", "lost update",
                                                  "write skew"}));
  EXPECT_TRUE(two.complete);
  EXPECT_NE(two.stories[1].txns, two.stories[2].txns);
}

TEST(ExplainTest, WhatHoldsHasNoStory) {
  const Explanation none = explained("T1: w x 1\nT2: r x 1", Level::Serializable, 1);
  EXPECT_TRUE(none.stories.empty());
}

TEST(ExplainTest, WithoutTimeTheViolationIsToldAsItIs) {
  const History history = history_of(kThree);
  const auto verdict = check(history, Level::Serializable);
  ASSERT_TRUE(verdict.ok());
  std::atomic<bool> cancelled{true};
  const Explanation explanation = explain(history, *verdict, {.cancelled = &cancelled});
  ASSERT_FALSE(explanation.stories.empty());
  EXPECT_FALSE(explanation.stories[0].minimal);
  EXPECT_FALSE(explanation.complete);
}

TEST(ExplainTest, StoriesOfAKeyThatEverybodyUpdatesStaySmall) {
  std::string text = "initial 0\n";
  for (int i = 1; i <= 300; ++i) {
    text += "T" + std::to_string(i) + ": r x " + std::to_string(i - 1) + ", w x " +
            std::to_string(i) + "\n";
  }
  text += "T999: r x 150, w x 999\n";
  const Explanation explanation = explained(text, Level::Serializable, 1);
  ASSERT_EQ(names(explanation), std::vector<std::string>{"lost update"});
  EXPECT_EQ(explanation.stories[0].txns.size(), 3u);
  EXPECT_TRUE(explanation.stories[0].minimal);
}

TEST(ExplainTest, BothOrdersOfTwoWritesAreTold) {
  const Explanation explanation =
      explained("initial 0\nT1: r x 0, w x 1\nT2: r x 0, w x 2", Level::Si, 1);
  ASSERT_EQ(explanation.stories.size(), 1u);
  const Story& story = explanation.stories[0];
  ASSERT_EQ(story.cases.size(), 2u);
  EXPECT_EQ(story.cases[0].given, (std::vector<Assumption>{{KeyId{0}, TxnId{0}, TxnId{1}}}));
  EXPECT_EQ(story.cases[1].given, (std::vector<Assumption>{{KeyId{0}, TxnId{1}, TxnId{0}}}));
  EXPECT_EQ(story.cases[1].mirrors, 0u);
  EXPECT_EQ(story.weakest_violated,
            (std::vector{Level::ParallelSi, Level::Si, Level::RepeatableRead}));
  EXPECT_EQ(story.strongest_holding, std::vector{Level::Prefix});
}

// The reads of the keys that they overwrite show that T1 wrote both first.
TEST(ExplainTest, AReadThatSettlesAnOrderIsBetterThanACase) {
  const Explanation explanation =
      explained("T1: w x 1, w y 1, w z 1\nT2: r x 1, r y 1, r z 1, w x 2\nT3: r x 1, r y 1, w y 3",
                Level::Serializable, 1);
  ASSERT_EQ(names(explanation), std::vector<std::string>{"write skew"});
  const Story& story = explanation.stories[0];
  EXPECT_EQ(story.cases.size(), 1u);
  EXPECT_EQ(story.ops.size(), 8u) << "all but those of z";
  EXPECT_TRUE(story.minimal);
}

TEST(ExplainTest, OfStoriesThatAreAsSmallTheWorstIsTold) {
  const auto history = parse_history(
      R"({"session":"a","ops":[["w","x",1],["w","y",10],["r","z",null]]}
{"session":"b","ops":[["w","x",2],["w","y",20],["w","z",7]]}
{"key":"x","versions":[1,2],"complete":true}
{"key":"y","versions":[20,10],"complete":true}
{"key":"z","versions":[7],"complete":true}
)");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const auto verdict = check(*history, Level::Serializable, {.evidence = Evidence::Versions});
  ASSERT_TRUE(verdict.ok());
  const Explanation explanation = explain(*history, *verdict, {.work_limit = 0});
  ASSERT_EQ(explanation.stories.size(), 1u);
  EXPECT_EQ(name(explanation.stories[0]), "dirty write") << "and not the read skew of z and y";
  EXPECT_TRUE(explanation.stories[0].minimal);
}

// ---- precedence ----

}  // namespace
}  // namespace ouro::oracle
