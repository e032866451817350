#include "report/narrator.h"

#include <gtest/gtest.h>

#include "ouro/history_builder.h"

namespace ouro {
namespace {

// A story with one case, a cycle.
Story story_of(std::vector<Edge> cycle, std::vector<TxnId> txns = {}) {
  Story story;
  story.kind = AnomalyKind::DependencyCycle;
  story.txns = std::move(txns);
  story.cases.push_back({.given = {}, .cycle = std::move(cycle)});
  return story;
}

// One history with an example of everything that the sentences mention.
class NarratorTest : public testing::Test {
 protected:
  NarratorTest() {
    HistoryBuilder b;
    x = b.key("x");
    l = b.key("l");
    t1 = b.begin_txn(b.session("a"));
    r0 = b.read(x, Value::null());
    w1 = b.write(x, b.integer(1));
    w2 = b.write(x, b.integer(2));
    a1 = b.append(l, b.integer(7));
    b.clocks(1, 10);
    t2 = b.begin_txn(b.session("a"));
    b.status(TxnStatus::Unknown);
    r1 = b.read(x, b.integer(1));
    r2 = b.read(x, b.integer(2));
    const Value seven_eight[] = {b.integer(7), b.integer(8)};
    list = b.read_list(l, seven_eight);
    const Value twice[] = {b.integer(7), b.integer(7)};
    doubled = b.read_list(l, twice);
    w3 = b.write(x, b.integer(3));
    a2 = b.append(l, b.integer(8));
    b.clocks(20, 30);
    const KeyVersion rows[] = {{x, b.integer(2)}};
    t3 = b.begin_txn(b.session("b"));
    scan = b.scan(b.text("a"), b.text("z"), {.rows = rows});
    for (int i = 10; i < 30; ++i) b.write(x, b.integer(i));
    history = *std::move(b).freeze();
  }

  std::string plain(AnomalyKind kind, std::vector<OpId> ops) const {
    Story story;
    story.kind = kind;
    story.shown_by = std::move(ops);
    const auto lines = Narrator(history, story).lines();
    EXPECT_EQ(lines.size(), 1u);
    return lines.front();
  }

  std::string edge(const Edge& edge) const {
    const Story story = story_of({edge}, {t1, t2, t3});
    return Narrator(history, story).because(edge);
  }

  History history;
  KeyId x, l;
  TxnId t1, t2, t3;
  OpId r0, w1, w2, a1, r1, r2, list, doubled, w3, a2, scan;
};

TEST_F(NarratorTest, PlainAnomaliesAreOneSentence) {
  EXPECT_EQ(plain(AnomalyKind::AbortedRead, {r1, w1}),
            "T1 read x=1, which T2 wrote; but T2 aborted.");
  EXPECT_EQ(plain(AnomalyKind::AbortedRead, {list, a1}),
            "T1 read l=[7,8], whose 7 T2 appended; but T2 aborted.");
  EXPECT_EQ(plain(AnomalyKind::IntermediateRead, {r1, w1}),
            "T1 read x=1, which T2 wrote and then overwrote itself.");
  EXPECT_EQ(plain(AnomalyKind::IntermediateRead, {r1, w1, w2}),
            "T1 read x=1, which T2 wrote and then overwrote with 2 itself.");
  EXPECT_EQ(plain(AnomalyKind::ThinAirRead, {r1}), "T1 read x=1, which nobody wrote.");
  EXPECT_EQ(plain(AnomalyKind::FutureRead, {r1, w3}), "T1 read x=1, which it wrote only later.");
  EXPECT_EQ(plain(AnomalyKind::Internal, {r1, w3}),
            "T1 read x=1, although it had written x=3 before.");
  EXPECT_EQ(plain(AnomalyKind::DuplicateElements, {doubled}),
            "T1 read l=[7,7], which holds 7 more than once.");
  EXPECT_EQ(plain(AnomalyKind::IncompatibleOrder, {list, doubled}),
            "T1 read l=[7,8] and T1 read l=[7,7]: neither continues the other.");
  EXPECT_EQ(plain(AnomalyKind::NonRepeatableRead, {r2, r1}),
            "T1 read x=1 and then read x=2, and wrote nothing to it in between.");
  EXPECT_EQ(plain(AnomalyKind::ResultSetMismatch, {scan}),
            "T1 got scan a..z (1 row), which no versions of the rows give.");
  EXPECT_EQ(plain(AnomalyKind::ThinAirRead, {}), "a read returns a value that nobody wrote.");
}

TEST_F(NarratorTest, EveryKindOfEdgeHasItsReason) {
  EXPECT_EQ(edge({.from = t1, .to = t2, .kind = EdgeKind::Session}),
            "T1 is before T2 in session a");
  EXPECT_EQ(edge({.from = t1,
                  .to = t2,
                  .kind = EdgeKind::WriteRead,
                  .key = x,
                  .from_op = w2,
                  .to_op = r2}),
            "T2 read x=2, which T1 wrote");
  EXPECT_EQ(edge({.from = t1,
                  .to = t2,
                  .kind = EdgeKind::WriteRead,
                  .key = l,
                  .from_op = a1,
                  .to_op = list}),
            "T2 read l=[7,8], whose 7 T1 appended");
  EXPECT_EQ(
      edge({.from = kInitialTxn, .to = t1, .kind = EdgeKind::WriteRead, .key = x, .to_op = r0}),
      "T1 read x=null, the initial value");
  EXPECT_EQ(edge({.from = t1,
                  .to = t3,
                  .kind = EdgeKind::WriteRead,
                  .key = x,
                  .from_op = w2,
                  .to_op = scan}),
            "T3 read x=2 by scan a..z (1 row), which T1 wrote");
  EXPECT_EQ(edge({.from = t1,
                  .to = t2,
                  .kind = EdgeKind::WriteWrite,
                  .key = x,
                  .from_op = w2,
                  .to_op = w3}),
            "T2 overwrote T1's x=2 with 3");
  EXPECT_EQ(edge({.from = t1,
                  .to = t2,
                  .kind = EdgeKind::WriteWrite,
                  .key = l,
                  .from_op = a1,
                  .to_op = a2}),
            "T2 appended 8 to l behind T1's 7");
  EXPECT_EQ(edge({.from = t1,
                  .to = t2,
                  .kind = EdgeKind::ReadWrite,
                  .key = x,
                  .from_op = r0,
                  .to_op = w3}),
            "T1 read x=null, which T2 overwrote with 3");
  EXPECT_EQ(edge({.from = t1, .to = t2, .kind = EdgeKind::RealTime}),
            "T1 completed at 10, before T2 was invoked at 20 (by the clients' clocks)");
}

TEST_F(NarratorTest, ForcedEdgesSayHowTheReaderSaw) {
  const Edge by_session{.from = t1,
                        .to = t3,
                        .kind = EdgeKind::Forced,
                        .key = x,
                        .from_op = w2,
                        .to_op = w3,
                        .read = r2};
  EXPECT_EQ(
      edge(by_session),
      "T2 saw T1 (T1 is before it in session a), yet read x=2 from T3; so T1's x must be older");
  Edge far = by_session;
  far.from = t3;
  far.to = kInitialTxn;
  EXPECT_EQ(edge(far),
            "T2 saw T3 (through other transactions), yet read x=2, the initial value; so T3's x "
            "would be older still");
}

TEST(NarratorPathTest, ForcedEdgesTellThroughWhomTheReaderSaw) {
  HistoryBuilder b;
  const TxnId cause = b.begin_txn(b.session("a"));
  const OpId write = b.write(b.key("x"), b.integer(1));
  const TxnId middle = b.begin_txn(b.session("b"));
  const OpId relay = b.read(b.key("x"), b.integer(1));
  const TxnId effect = b.begin_txn(b.session("b"));
  const OpId told = b.write(b.key("y"), b.integer(2));
  const TxnId reader = b.begin_txn(b.session("c"));
  const OpId heard = b.read(b.key("y"), b.integer(2));
  const OpId missed = b.read(b.key("x"), Value::null());
  const KeyId first = b.key("x"), second = b.key("y");
  const History chain = *std::move(b).freeze();
  const Edge forced{.from = cause,
                    .to = kInitialTxn,
                    .kind = EdgeKind::Forced,
                    .key = first,
                    .from_op = write,
                    .read = missed};
  const Edge steps[] = {{.from = cause,
                         .to = middle,
                         .kind = EdgeKind::WriteRead,
                         .key = first,
                         .from_op = write,
                         .to_op = relay},
                        {.from = middle, .to = effect, .kind = EdgeKind::Session},
                        {.from = effect,
                         .to = reader,
                         .kind = EdgeKind::WriteRead,
                         .key = second,
                         .from_op = told,
                         .to_op = heard}};
  Story story = story_of(
      {{.from = kInitialTxn, .to = cause, .kind = EdgeKind::WriteWrite, .key = first}, forced},
      {cause, middle, effect, reader});
  story.support.assign(std::begin(steps), std::end(steps));
  EXPECT_EQ(Narrator(chain, story).because(forced),
            "T4 saw T1 (T2 read x=1 from T1, T3 is after T2 in session b, T4 read y=2 from T3), "
            "yet read x=null, the initial value; so T1's x would be older still");

  story.support.clear();
  for (int i = 0; i < 10; ++i) {
    story.support.push_back({.from = i == 0 ? cause : middle, .to = i == 9 ? reader : middle});
  }
  EXPECT_NE(Narrator(chain, story).because(forced).find(", … 2 more steps …, "), std::string::npos);
}

TEST_F(NarratorTest, TransactionsShowOnlyWhatMatters) {
  const OpId late{scan.index() + 15};
  Story story;
  story.txns = {t2, t3};
  story.ops = {r2, w3, late};
  const auto cast = Narrator(history, story).cast();
  ASSERT_EQ(cast.size(), 2u);
  EXPECT_EQ(cast[0],
            "T1  session a, transaction 2, unknown   …   r x=2   …   w x=3   …   (6 operations)");
  EXPECT_EQ(cast[1], "T2  session b, transaction 3            …   w x=24   …   (21 operations)");
}

TEST_F(NarratorTest, LongCyclesLoseTheirMiddle) {
  std::vector<Edge> cycle;
  for (int i = 0; i < 100; ++i) {
    cycle.push_back({.from = i % 2 == 0 ? t1 : t2, .to = i % 2 == 0 ? t2 : t1});
  }
  const Story story = story_of(cycle);
  const auto sentences = Narrator(history, story).lines();
  ASSERT_EQ(sentences.size(), 25u);
  EXPECT_EQ(sentences[12], "… 76 more steps …");
  EXPECT_TRUE(sentences.back().starts_with("But T2 < T1, because ")) << sentences.back();
  EXPECT_TRUE(sentences.back().ends_with(": a contradiction.")) << sentences.back();
}

TEST_F(NarratorTest, CasesSayWhatTheyAssume) {
  Story story = story_of(
      {{.from = t1, .to = t2, .kind = EdgeKind::WriteWrite, .key = x, .from_op = w2, .to_op = w3},
       {.from = t2, .to = t1, .kind = EdgeKind::ReadWrite, .key = x, .from_op = r1, .to_op = w2}},
      {t1, t2});
  story.ops = {w2, r1, w3};
  story.cases[0].given = {{x, t1, t2}};
  story.cases.push_back(story.cases[0]);
  story.cases[1].given = {{x, t2, t1}};
  story.cases[1].mirrors = 0;
  story.cases[1].other_txns = {{t1, t2}, {t2, t1}};
  EXPECT_EQ(Narrator(history, story).lines(),
            (std::vector<std::string>{
                "If T1 wrote x first:", "  T1 < T2, because T2 overwrote T1's x=2 with 3.",
                "  But T2 < T1, because T2 read x=1, which T1 overwrote with 2: a contradiction.",
                "If T2 wrote x first: the same, with T1 and T2 swapped."}));
  story.cases[0].given = {{x, t1, t2}, {l, t2, t1}};
  EXPECT_EQ(Narrator(history, story).premise(story.cases[0]),
            "If T1 wrote x before T2 and T2 wrote l before T1:");
}

// Of many cases the first are told, and the one that names the story, wherever it is.
TEST_F(NarratorTest, TheCaseThatNamesTheStoryIsAmongThoseThatAreTold) {
  Story story = story_of(
      {{.from = t1, .to = t2, .kind = EdgeKind::WriteWrite, .key = x, .from_op = w2, .to_op = w3},
       {.from = t2, .to = t1, .kind = EdgeKind::ReadWrite, .key = x, .from_op = r1, .to_op = w2}},
      {t1, t2});
  story.cases[0].given = {{x, t1, t2}};
  for (int i = 1; i < 12; ++i) story.cases.push_back(story.cases[0]);
  // In cases 0 to 2 a read would have returned something else, and case 11 is case 9 again.
  for (std::size_t i = 0; i < 3; ++i) {
    story.cases[i].cycle.clear();
    story.cases[i].plain = AnomalyKind::ResultSetMismatch;
  }
  story.cases[11].mirrors = 9;
  story.named_by = 11;
  const Narrator narrator(history, story);
  const Narrator::ToldCases told = narrator.told_cases(4);
  EXPECT_EQ(told.numbers, (std::vector<std::size_t>{3, 4, 5, 11}));
  EXPECT_EQ(told.left, 5u);
  EXPECT_FALSE(told.mirrored(story.cases[11])) << "nobody knows what it would be the same as";
  EXPECT_TRUE(narrator.told_cases(9).mirrored(story.cases[11]));
  const std::vector<std::string> lines = narrator.lines();
  EXPECT_EQ(lines[lines.size() - 2], "… and 1 more case, until no order of the writes is left.");
  EXPECT_EQ(lines.back(), "If they saw other versions, they would have returned something else.");
}

TEST(NarratorListsTest, LongListsAreShownWhereTheyDisagree) {
  HistoryBuilder b;
  const KeyId key = b.key("l");
  std::vector<Value> list;
  for (int i = 0; i < 60; ++i) list.push_back(b.integer(i));
  const TxnId t1 = b.begin_txn(b.session("a"));
  const OpId one = b.read_list(key, list);
  const TxnId t2 = b.begin_txn(b.session("b"));
  std::swap(list[30], list[31]);
  const OpId two = b.read_list(key, list);
  const History history = *std::move(b).freeze();
  Story story;
  story.kind = AnomalyKind::IncompatibleOrder;
  story.txns = {t1, t2};
  story.ops = story.shown_by = {one, two};
  const Narrator narrator(history, story);
  EXPECT_EQ(narrator.in_short(),
            "T1 read l=[0, … 28 more … ,29,30,31,32, … 26 more … ,59] and T2 read l=[0, … 28 more "
            "… ,29,31,30,32, … 26 more … ,59]: neither continues the other.");
  EXPECT_TRUE(narrator.cast()[1].ends_with("r l=[0, … 28 more … ,29,31,30,32, … 26 more … ,59]"))
      << narrator.cast()[1];
}

TEST(NarratorRowsTest, TheColumnsThatTellMostVersionsApartComeFirst) {
  HistoryBuilder b;
  const auto row = [&](std::int64_t balance, std::int64_t branch) {
    std::vector<HistoryBuilder::NamedCell> cells = {{"branch", b.integer(branch)}};
    std::vector<std::string> names;
    for (int i = 0; i < 9; ++i) names.push_back("column " + std::to_string(i));
    for (const std::string& name : names) cells.push_back({name, b.integer(7)});
    cells.push_back({"balance", b.integer(balance)});
    return b.row(cells);
  };
  const KeyId key = b.key("account");
  const TxnId t1 = b.begin_txn(b.session("a"));
  const OpId first = b.write(key, row(100, 1));
  const TxnId t2 = b.begin_txn(b.session("b"));
  const OpId read = b.read(key, row(100, 1));
  const OpId second = b.write(key, row(90, 1));
  const OpId third = b.write(key, row(80, 2));
  const History history = *std::move(b).freeze();
  Story story;
  story.txns = {t1, t2};
  story.ops = {first, read, second, third};
  const auto cast = Narrator(history, story).cast();
  EXPECT_TRUE(cast[0].ends_with(R"(w account={"balance":100,"branch":1,"column 0":7, … 8 more})"))
      << cast[0];
  EXPECT_NE(cast[1].find(R"(w account={"balance":90,"branch":1,"column 0":7, … 8 more})"),
            std::string::npos)
      << cast[1];
}

TEST(NarratorKeysTest, LongKeysAreCutShort) {
  HistoryBuilder b;
  const KeyId key = b.key(std::string(3000, 'k'));
  const TxnId t1 = b.begin_txn(b.session("a"));
  const OpId w1 = b.write(key, b.integer(1));
  const TxnId t2 = b.begin_txn(b.session("b"));
  const OpId w2 = b.write(key, b.integer(2));
  const History history = *std::move(b).freeze();
  Story story = story_of({{.from = t1, .to = t2, .kind = EdgeKind::WriteWrite, .key = key},
                          {.from = t2, .to = t1, .kind = EdgeKind::ReadWrite, .key = key}},
                         {t1, t2});
  story.ops = {w1, w2};
  story.cases[0].given = {{key, t1, t2}};
  const Narrator narrator(history, story);
  EXPECT_LT(narrator.premise(story.cases[0]).size(), 200u);
  for (const Edge& edge : story.cases[0].cycle) {
    EXPECT_LT(narrator.because(edge).size(), 200u);
    EXPECT_LT(narrator.otherwise(edge).size(), 200u);
  }
}

}  // namespace
}  // namespace ouro
