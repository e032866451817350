#include <gtest/gtest.h>

#include "ouro/history_builder.h"
#include "ouro/report.h"
#include "report/notation.h"

namespace ouro {
namespace {

// T1 writes x and y; T2 overwrites both; T3 sees T2's x and T1's y.
struct Fractured {
  History history;
  Verdict verdict;
  std::vector<Explanation> explanations;

  Fractured() {
    HistoryBuilder b;
    b.file("bank.jsonl", PlaceUnit::Line);
    const KeyId x = b.key("x");
    const KeyId y = b.key("y");
    const TxnId t1 = b.begin_txn(b.session("a"), 1);
    const OpId w1x = b.write(x, b.integer(1));
    const OpId w1y = b.write(y, b.integer(1));
    const TxnId t2 = b.begin_txn(b.session("b"), 2);
    const OpId r2x = b.read(x, b.integer(1));
    b.write(x, b.integer(2));
    const OpId w2y = b.write(y, b.integer(2));
    b.begin_txn(b.session("c"), 3);
    b.name(b.integer(4711));
    const OpId r3x = b.read(x, b.integer(2));
    const OpId r3y = b.read(y, b.integer(1));
    history = *std::move(b).freeze();

    verdict.level = Level::ReadAtomic;
    verdict.outcome = Outcome::Violated;
    verdict.counts[static_cast<std::size_t>(AnomalyKind::FracturedRead)] = 13;
    Anomaly anomaly;
    anomaly.kind = AnomalyKind::FracturedRead;
    anomaly.txns = {t1, t2};
    anomaly.edges = {
        {.from = t1, .to = t2, .kind = EdgeKind::WriteRead, .key = x, .from_op = w1x, .to_op = r2x},
        {.from = t2,
         .to = t1,
         .kind = EdgeKind::Forced,
         .key = y,
         .from_op = w2y,
         .to_op = w1y,
         .read = r3y,
         .saw = r3x}};
    verdict.anomalies.push_back(anomaly);
    explanations.push_back(explain(history, verdict));
  }
};

TEST(TextReportTest, CycleIsToldWithItsCastItsReasonsAndTheContradictionLast) {
  const Fractured f;
  EXPECT_EQ(
      describe(f.history, f.verdict, {.explanations = f.explanations, .check_seconds = 0.0004}),
      "bank.jsonl: VIOLATED read-atomic (fractured read)\n"
      "\n"
      "  T3 saw a part of T1 and a part of T2: whichever came last, it missed the rest.\n"
      "\n"
      "  T1  session a, line 1            w x=1   w y=1\n"
      "  T2  session b, line 2            …   w x=2   w y=2   (3 operations)\n"
      "  T3  session c, line 3, id 4711   r x=2   r y=1\n"
      "\n"
      "  T1 < T2, because T3 saw T1 (it read y=1 from T1), yet read x=2 from T2; so T1's x "
      "must be older.\n"
      "  But T2 < T1, because T3 saw T2 (it read x=2 from T2), yet read y=1 from T1; so T2's "
      "y must be older: a contradiction.\n"
      "\n"
      "  Forbidden from read-atomic, si, repeatable-read on, allowed up to read-committed.\n"
      "  Also called G-single, FracturedReadCO, FracturedReadAO, read skew, A5A. See "
      "docs/anomalies.md#fractured-read.\n"
      "\n"
      "  … and 12 more of this kind.\n"
      "\n"
      "3 transactions, 2 keys, 0.4 ms\n");
}

TEST(TextReportTest, WithoutOptionsTheFileNamesTheHistoryAndNoTimeIsTold) {
  const Fractured f;
  const std::string text = describe(f.history, f.verdict);
  EXPECT_TRUE(text.starts_with("bank.jsonl: VIOLATED")) << text;
  EXPECT_TRUE(text.ends_with("\n3 transactions, 2 keys\n")) << text;
}

TEST(TextReportTest, WithoutAnExplanationTheKindsAreToldAndNothingIsSearched) {
  const Fractured f;
  EXPECT_EQ(describe(f.history, f.verdict, {.name = "h"}),
            "h: VIOLATED read-atomic (fractured read)\n\n3 transactions, 2 keys\n");
}

TEST(TextReportTest, HeadlinesAreOneLine) {
  const Fractured f;
  Verdict verdict;
  verdict.level = Level::Serializable;
  verdict.outcome = Outcome::Holds;
  EXPECT_EQ(headline(f.history, verdict), "bank.jsonl: holds serializable\n");
  EXPECT_EQ(headline(History(), verdict), "history: holds serializable\n");
  EXPECT_NE(describe(f.history, verdict).find("\n  Stronger levels were not asked; --level all "),
            std::string::npos);
  verdict.outcome = Outcome::Undecided;
  verdict.reason = "time limit of 5 s reached";
  EXPECT_EQ(headline(f.history, verdict, {.name = "h"}),
            "h: UNDECIDED serializable (time limit of 5 s reached)\n");
}

TEST(TextReportTest, OtherLevelsThatAreKnownSayWhatTheDatabaseGave) {
  const Fractured f;
  Verdict causal{.level = Level::Causal, .outcome = Outcome::Holds};
  const Verdict others[] = {{.level = Level::Serializable, .outcome = Outcome::Violated},
                            {.level = Level::Si, .outcome = Outcome::Holds}};
  EXPECT_TRUE(describe(f.history, causal, {.others = others})
                  .starts_with("bank.jsonl: holds causal\n\n  The database gave: causal, si.  "
                               "Weakest level violated: serializable.\n"));
  const Verdict alone[] = {causal};
  const std::string several = describe(f.history, alone, {.others = others});
  EXPECT_NE(several.find("The database gave: causal, si.  Weakest level violated: serializable.\n"),
            std::string::npos)
      << several;
  EXPECT_EQ(several.find("holds      si"), std::string::npos) << "nobody asked for it: " << several;
  causal.outcome = Outcome::Violated;
  causal.evidence = Evidence::Versions;
  EXPECT_NE(
      describe(f.history, causal, {.others = {others, 1}})
          .find("\n  The database gave no level by versions.  Weakest level violated: causal, "
                "serializable.\n"),
      std::string::npos);
  EXPECT_EQ(describe(f.history, alone[0], {.whole = ReportOptions::Whole{}}).find("--level all"),
            std::string::npos);
}

TEST(TextReportTest, WhatIsUndecidedIsNotDenied) {
  const Fractured f;
  const Verdict others[] = {{.level = Level::ReadCommitted, .reason = "too much work"},
                            {.level = Level::Causal, .reason = "too much work"}};
  const Verdict si{.level = Level::Si, .outcome = Outcome::Violated};
  const std::string text = describe(f.history, si, {.others = others});
  EXPECT_NE(text.find("\n  Which level the database gave is not known.  Weakest level violated: si."
                      "\n  Undecided: read-committed, causal (too much work).\n"),
            std::string::npos)
      << text;
}

// If the part of a story violates a level, the whole history does, though its check was undecided.
TEST(TextReportTest, StoriesDecideWhatIsUndecided) {
  const Fractured f;
  const Verdict others[] = {{.level = Level::ReadCommitted, .reason = "too much work"},
                            {.level = Level::ReadAtomic, .reason = "too much work"}};
  Verdict causal = f.verdict;
  causal.level = Level::Causal;
  const Explanation story = explain(f.history, causal);
  const std::string text =
      describe(f.history, causal, {.explanations = {&story, 1}, .others = others});
  EXPECT_NE(text.find("\n  Which level the database gave is not known.  Weakest level violated: "
                      "read-atomic, si, repeatable-read.\n"
                      "  Undecided: read-committed (too much work).\n\n"),
            std::string::npos)
      << text;
}

// The table and the first line say of a level what is said below them.
TEST(TextReportTest, TablesSayWhatStoriesDecide) {
  const Fractured f;
  const std::string late = "time limit of 0.5 s reached";
  const std::vector<Verdict> verdicts{{.level = Level::ReadCommitted, .reason = late},
                                      f.verdict,
                                      {.level = Level::ParallelSi, .reason = late},
                                      {.level = Level::Prefix, .reason = "too much work"},
                                      {.level = Level::RepeatableRead, .reason = late}};
  const ReportOptions options{.explanations = f.explanations};
  const std::string text = describe(f.history, verdicts, options);
  EXPECT_TRUE(text.starts_with(
      "bank.jsonl: VIOLATED read-atomic (fractured read); UNDECIDED read-committed (time limit of "
      "0.5 s reached)\n\n"
      "  UNDECIDED  read-committed\n"
      "  VIOLATED   read-atomic\n"
      "  VIOLATED   parallel-si\n"
      "  VIOLATED   prefix\n"
      "  VIOLATED   repeatable-read\n"))
      << text;
  EXPECT_EQ(headline(f.history, verdicts, options), text.substr(0, text.find('\n') + 1));
  const std::string json = to_json(f.history, verdicts, options);
  EXPECT_NE(json.find("\"parallel-si\":\"violated\",\"prefix\":\"violated\""), json.npos) << json;
  EXPECT_NE(json.find("\"reasons\":{\"read-committed\":"), json.npos) << json;
  const std::vector<Verdict> open{{.level = Level::Causal, .reason = late},
                                  {.level = Level::Prefix, .reason = "too much work"},
                                  {.level = Level::Si, .reason = late}};
  EXPECT_EQ(headline(f.history, open),
            "bank.jsonl: UNDECIDED causal, si (time limit of 0.5 s reached); UNDECIDED prefix (too "
            "much work)\n");
}

TEST(TextReportTest, ColourOnlyIfAsked) {
  const Fractured f;
  EXPECT_EQ(describe(f.history, f.verdict).find('\033'), std::string::npos);
  EXPECT_EQ(headline(f.history, f.verdict, {.colour = true, .explanations = f.explanations}),
            "bank.jsonl: \033[1;31mVIOLATED\033[0m read-atomic (fractured read)\n");
}

Verdict verdict_at(Level level, Outcome outcome) {
  Verdict verdict;
  verdict.level = level;
  verdict.outcome = outcome;
  return verdict;
}

TEST(TextReportTest, SeveralLevelsNameTheStrongestThatHoldsAndTheWeakestViolated) {
  const Fractured f;
  const std::vector<Verdict> verdicts{verdict_at(Level::ReadCommitted, Outcome::Holds), f.verdict,
                                      verdict_at(Level::Causal, Outcome::Violated)};
  EXPECT_EQ(strongest_holding(verdicts), std::vector{Level::ReadCommitted});
  EXPECT_EQ(weakest_violated(verdicts), std::vector{Level::ReadAtomic});
  EXPECT_EQ(worst(verdicts), Outcome::Violated);
  EXPECT_EQ(headline(f.history, verdicts, {.explanations = f.explanations}),
            "bank.jsonl: VIOLATED read-atomic (fractured read); holds read-committed\n");
  const std::string text = describe(f.history, verdicts, {.explanations = f.explanations});
  EXPECT_NE(text.find("\n  holds      read-committed\n"
                      "  VIOLATED   read-atomic\n"
                      "  VIOLATED   causal\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("\n  The database gave: read-committed.  Weakest level violated: read-atomic, si, "
                "repeatable-read.\n"),
      std::string::npos)
      << text;
}

TEST(TextReportTest, ManyLevelsAreATableWithMarks) {
  std::vector<Verdict> verdicts;
  for (const LevelInfo& level : levels()) {
    if (level.level == Level::RepeatableRead) continue;
    verdicts.push_back(verdict_at(level.level, Outcome::Holds));
  }
  verdicts[5].outcome = Outcome::Undecided;  // si
  const std::string text = describe(History(), verdicts, {});
  EXPECT_NE(text.find("\n  ✓ read-committed  "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  ? si  "), std::string::npos) << text;
  EXPECT_NE(text.find("\n    repeatable-read  "), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "The database gave at least: strict-serializable.  No level is known to be violated.\n"
          "  Undecided: si.\n"),
      std::string::npos)
      << text;
}

TEST(TextReportTest, WithoutVerdictsNoLevelIsNamed) {
  EXPECT_NE(describe(History(), std::span<const Verdict>(), {}).find("No level is violated."),
            std::string::npos);
  EXPECT_EQ(headline(History(), std::span<const Verdict>(), {.name = "h"}), "h: \n");
}

TEST(TextReportTest, IncomparableLevelsAreAllNamed) {
  const std::vector<Verdict> verdicts{verdict_at(Level::Causal, Outcome::Holds),
                                      verdict_at(Level::Si, Outcome::Holds),
                                      verdict_at(Level::ReadCommitted, Outcome::Holds),
                                      verdict_at(Level::Prefix, Outcome::Undecided)};
  EXPECT_EQ(strongest_holding(verdicts), (std::vector{Level::Causal, Level::Si}));
  EXPECT_TRUE(weakest_violated(verdicts).empty());
  EXPECT_EQ(worst(verdicts), Outcome::Undecided);
}

TEST(NotationTest, TimesAndCountsReadWell) {
  EXPECT_EQ(duration(0.0004), "0.4 ms");
  EXPECT_EQ(duration(0.0123), "12 ms");
  EXPECT_EQ(duration(3.21), "3.2 s");
  EXPECT_EQ(duration(125), "2 min 5 s");
  EXPECT_EQ(counted(1, "key"), "1 key");
  EXPECT_EQ(counted(1234567, "key"), "1,234,567 keys");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
}

TEST(NotationTest, LongValuesLoseTheirMiddle) {
  HistoryBuilder b;
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "ü";  // Two bytes each.
  const Value text = b.text(long_text);
  std::vector<Value> elements;
  for (int i = 1; i <= 1000; ++i) elements.push_back(b.integer(i));
  b.begin_txn(b.session("a"));
  const OpId read = b.read_list(b.key("l"), elements);
  const History history = *std::move(b).freeze();
  EXPECT_EQ(notation(history, history.op(read)), "r l=[1,2,3, … 994 more … ,998,999,1000]");
  EXPECT_EQ(
      list_around(history, history.op(read).value, {{history.list(history.op(read).value)[499]}}),
      "[1, … 497 more … ,499,500,501, … 498 more … ,1000]");
  const std::string shown = short_text(history, text);
  EXPECT_LT(shown.size(), 60u);
  EXPECT_NE(shown.find("ü…ü"), std::string::npos) << shown;  // No half characters.
}

TEST(NotationTest, LongRowsLoseWholeCells) {
  HistoryBuilder b;
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("c" + std::to_string(10 + i));
  std::vector<HistoryBuilder::NamedCell> cells;
  for (const std::string& name : names) cells.push_back({name, b.integer(7)});
  const Value row = b.row(cells);
  const History history = *std::move(b).freeze();
  EXPECT_EQ(short_text(history, row),
            R"({"c10":7,"c11":7,"c12":7,"c13":7,"c14":7,"c15":7, … 44 more})");
}

}  // namespace
}  // namespace ouro
