// What a stream reports, and when, on histories made by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/report.h"
#include "ouro/stream.h"
#include "stream/copier.h"
#include "tests/stream_trial.h"

namespace ouro::oracle {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr StreamTime ms(std::int64_t count) { return milliseconds(count); }

std::shared_ptr<const History> batch(const std::string& text) {
  auto history = parse_history(text);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return std::make_shared<const History>(*std::move(history));
}

// A transaction as a line.
std::string txn(const std::string& session, int start, int commit, const std::string& ops) {
  return "{\"session\":\"" + session + "\",\"start_ts\":" + std::to_string(start) +
         ",\"commit_ts\":" + std::to_string(commit) + ",\"ops\":[" + ops + "]}\n";
}

class StreamCaseTest : public testing::Test {
 protected:
  void open(Level level = Level::SessionSi) {
    options_.level = level;
    auto opened = Stream::open(options_);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    stream_.emplace(*std::move(opened));
  }
  void TearDown() override { std::filesystem::remove_all(folder()); }
  static std::string folder() {
    return testing::TempDir() + "ouro_stream_case_" + std::to_string(getpid());
  }
  void add(const std::string& text, StreamTime now) {
    const Status status = stream_->append(batch(text), now);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
  }
  std::string refusal(const std::string& text) {
    const Status status = stream_->append(batch(text), ms(0));
    return status.ok() ? "none" : status.error().to_string();
  }
  // Nothing stays in memory, and what is on disk is dropped soon.
  void limit() {
    options_.memory = 1;
    options_.folder = folder();
    options_.timeout = milliseconds(10);
    options_.retention = seconds(1);
  }
  // The new events: numbers, kinds, and '-' with the number of what is withdrawn.
  std::string events() {
    std::string out;
    for (const StreamEvent& event : stream_->poll()) {
      out += std::to_string(event.number) + ' ';
      if (event.what == StreamEvent::What::Undecided) out += "undecided ";
      if (event.withdraws != 0) out += '-' + std::to_string(event.withdraws) + ' ';
      if (event.what == StreamEvent::What::Undecided && event.withdraws == 0) {
        out += "straggler; ";
      } else {
        out += std::string(info(event.kind).name) + "; ";
      }
      last_ = event;
    }
    return out;
  }
  [[nodiscard]] std::uint64_t count(AnomalyKind kind) const {
    return stream_->summary().counts[static_cast<std::size_t>(kind)];
  }

  StreamOptions options_;
  std::optional<Stream> stream_;
  StreamEvent last_;
};

TEST_F(StreamCaseTest, WhatTransactionsShowByThemselvesIsReportedAtOnce) {
  open();
  add(txn("a", 1, 2, R"(["w","x",1],["r","x",2])"), ms(1));
  EXPECT_EQ(events(), "1 internal inconsistency; ");
  add(txn("a", 1, 4, R"(["r","y",null],["r","y",3])"), ms(2));
  EXPECT_EQ(events(), "2 session inversion; 3 non-repeatable read; ");
  add(txn("b", 3, 5, R"(["w","z",1])") + txn("c", 4, 6, R"(["w","z",2])"), ms(3));
  EXPECT_EQ(events(), "4 write conflict; ");
  EXPECT_EQ(last_.arrived, ms(3));
  add(R"({"session":"d","start_ts":1,"ops":[["w","z",3]]})", ms(4));
  add(txn("d", 9, 8, R"(["w","u",3])"), ms(4));
  EXPECT_EQ(events(), "5 missing timestamp; 6 inverted timestamps; ");
}

TEST_F(StreamCaseTest, AReadMayWaitForItsWriter) {
  open();
  add(txn("b", 3, 4, R"(["r","x",1])"), ms(0));
  EXPECT_EQ(stream_->summary().provisional, 1);
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 1);
  stream_->advance(ms(4999));
  EXPECT_EQ(events(), "");
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(4999));
  stream_->advance(ms(60'000));
  EXPECT_EQ(events(), "");
  const StreamSummary summary = stream_->summary();
  EXPECT_EQ(summary.provisional, 0);
  EXPECT_EQ(summary.flips, 1);
  EXPECT_EQ(summary.flipped_txns, 1);
  EXPECT_EQ(summary.window_txns, 0);
  EXPECT_EQ(summary.stragglers, 0);
}

TEST_F(StreamCaseTest, AReadIsReportedAtItsTimeOutAndNotBefore) {
  open();
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(10));
  add(txn("b", 3, 4, R"(["r","x",null])"), ms(20));
  stream_->advance(ms(5019));
  EXPECT_EQ(events(), "");
  stream_->advance(ms(5020));
  EXPECT_EQ(events(), "1 snapshot mismatch; ");
  EXPECT_EQ(last_.arrived, ms(20));
  EXPECT_EQ(last_.reported, ms(5020));
  EXPECT_EQ(last_.verdict.anomalies[0].expected, "1");
  EXPECT_EQ(last_.history->txn_count(), 2);
  stream_->advance(ms(50'000));
  stream_->finish();
  EXPECT_EQ(events(), "");
}

TEST_F(StreamCaseTest, FlipsAreCountedByTransaction) {
  open();
  // Both reads are wrong at first; the transaction is right only when both are.
  add(txn("r", 10, 11, R"(["r","x",1],["r","y",1])"), ms(0));
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(1));
  EXPECT_EQ(stream_->summary().flips, 0);
  add(txn("b", 1, 2, R"(["w","y",1])"), ms(2));
  EXPECT_EQ(stream_->summary().flips, 1);
  add(txn("c", 3, 4, R"(["w","y",2])"), ms(3));  // Wrong again …
  EXPECT_EQ(stream_->summary().flips, 2);
  EXPECT_THAT(stream_->summary().flipped, testing::ElementsAre(0, 1, 0, 0));
  add(txn("d", 5, 6, R"(["w","y",1])"), ms(4));  // … and right …
  EXPECT_EQ(stream_->summary().flips, 3);
  EXPECT_EQ(stream_->summary().flipped_txns, 1);
  for (int i = 0; i < 2; ++i) {  // … and twice more, by halves of a second.
    const std::string_view value = i == 0 ? "2" : "1";
    add(txn("d", 7 + i, 8 + i, fmt::format(R"(["w","y",{}])", value)), ms(500 * (i + 1)));
  }
  EXPECT_EQ(stream_->summary().flipped_txns, 1);
  EXPECT_THAT(stream_->summary().flipped, testing::ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(stream_->summary().flip_waits, testing::ElementsAre(0, 3, 0, 2, 0));
  stream_->finish();
  EXPECT_EQ(events(), "");
}

TEST_F(StreamCaseTest, AStragglerWithdrawsWhatItExplains) {
  open();
  add(txn("b", 3, 4, R"(["r","x",1])"), ms(0));
  stream_->advance(ms(5000));
  EXPECT_EQ(events(), "1 snapshot mismatch; ");
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(9000));
  EXPECT_EQ(events(), "2 -1 snapshot mismatch; ");
  EXPECT_EQ(last_.what, StreamEvent::What::Withdrawal);
  EXPECT_EQ(stream_->summary().stragglers, 1);
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 0);
  // Another one makes it wrong again, a third changes what it should have been.
  add(txn("c", 2, 3, R"(["w","x",5])"), ms(9001));
  EXPECT_EQ(events(), "3 snapshot mismatch; ");
  EXPECT_EQ(last_.verdict.anomalies[0].expected, "5");
  add(R"({"session":"d","start_ts":3,"commit_ts":3,"ops":[["w","x",6]]})", ms(9002));
  EXPECT_EQ(events(), "4 duplicate timestamp; 5 -3 snapshot mismatch; 6 snapshot mismatch; ");
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 1);
}

TEST_F(StreamCaseTest, ANegativeClockDriftIsAnError) {
  const auto stream = Stream::open({.clock_drift = -1});
  ASSERT_FALSE(stream.ok());
  EXPECT_NE(stream.error().what.find("clock_drift is -1"), std::string::npos);
}

TEST_F(StreamCaseTest, RefusesAsAWholeWhatItCannotTake) {
  open();
  add(txn("a", 1, 2, R"(["append","l",1],["w","x",1])"), ms(0));
  const StreamSummary before = stream_->summary();
  EXPECT_NE(refusal(txn("a", 3, 4, R"(["w","y",1])") + txn("a", 5, 6, R"(["w","l",1])"))
                .find("l is a list elsewhere, but a register here"),
            std::string::npos);
  EXPECT_NE(refusal(txn("a", 5, 6, R"(["append","x",1])")).find("x is a register elsewhere"),
            std::string::npos);
  EXPECT_NE(
      refusal("{\"ouro\":1,\"initial\":7}\n" + txn("a", 5, 6, R"(["r","x",1])")).find("initial"),
      std::string::npos);
  EXPECT_EQ(stream_->summary().txns, before.txns);
  EXPECT_EQ(stream_->summary().keys, before.keys);
  EXPECT_EQ(events(), "");
}

TEST_F(StreamCaseTest, OpensOnlyWhatItCanDo) {
  options_.level = Level::Causal;
  EXPECT_FALSE(Stream::open(options_).ok());
  options_.level = Level::Si;
  options_.memory = 1 << 20;
  EXPECT_FALSE(Stream::open(options_).ok());
  options_.folder = "/dev/null/nowhere";
  EXPECT_FALSE(Stream::open(options_).ok());
}

TEST_F(StreamCaseTest, ADamagedCheckpointIsNoCheckpoint) {
  open();
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(0));
  const std::string file = folder() + ".checkpoint";
  ASSERT_TRUE(stream_->save(file).ok());
  ASSERT_TRUE(Stream::restore(options_, file).ok());
  StreamOptions others = options_;
  others.level = Level::Serializable;
  EXPECT_FALSE(Stream::restore(others, file).ok());
  std::string bytes(std::filesystem::file_size(file), '\0');
  std::ifstream(file).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(file, std::ios::trunc) << damaged;
    EXPECT_FALSE(Stream::restore(options_, file).ok()) << at;
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, bytes.size() - 1}) {
    std::ofstream(file, std::ios::trunc) << bytes.substr(0, length);
    EXPECT_FALSE(Stream::restore(options_, file).ok()) << length;
  }
  std::filesystem::remove(file);
  EXPECT_FALSE(Stream::restore(options_, file).ok());
}

TEST_F(StreamCaseTest, AStragglerOlderThanTheRetentionIsCountedAsLost) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(0));
  add(txn("a", 10, 11, R"(["r","x",1])"), ms(1));
  add(txn("a", 20, 21, R"(["w","x",2])"), ms(100));
  stream_->advance(ms(200));
  add(txn("b", 3, 4, R"(["w","x",7])"), ms(300));  // What it concerns comes back from disk.
  EXPECT_EQ(events(), "1 snapshot mismatch; ");
  EXPECT_EQ(stream_->summary().lost_stragglers, 0);
  stream_->advance(ms(400));
  stream_->advance(ms(5000));
  EXPECT_EQ(events(), "");
  // Nothing is left on disk but the key: a run has at least three pages.
  EXPECT_EQ(stream_->summary().keys, 0);
  EXPECT_LT(stream_->summary().disk, 20'000);
  // What it concerns was dropped. It would explain event 1, if nobody else wrote since; and nobody
  // did: the read should have returned 7, which is older.
  add(txn("c", 5, 6, R"(["w","x",1])"), ms(5001));
  EXPECT_EQ(events(), "2 -1 snapshot mismatch; 3 undecided straggler; ");
  EXPECT_EQ(last_.history->txn_count(), 1);
  EXPECT_EQ(stream_->summary().lost_stragglers, 1);
  // On time, all is well: the newest version is still known.
  add(txn("d", 30, 31, R"(["r","x",2])"), ms(5002));
  EXPECT_EQ(stream_->finish().provisional, 0);
  EXPECT_EQ(events(), "");
}

// Saved by the version before, after a write conflict and a read of a value that nobody wrote.
TEST_F(StreamCaseTest, ACheckpointOfTheFormerVersionIsRead) {
  options_.level = Level::SessionSi;
  options_.timeout = milliseconds(100);
  auto restored =
      Stream::restore(options_, OURO_SOURCE_DIR "/tests/data/stream/stream-8.checkpoint");
  ASSERT_TRUE(restored.ok()) << restored.error().to_string();
  stream_.emplace(*std::move(restored));
  EXPECT_EQ(stream_->summary().txns, 4u);
  EXPECT_EQ(count(AnomalyKind::WriteConflict), 1u);
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 1u);
  EXPECT_EQ(stream_->summary().undecided, 0u);
}

// Nobody can tell whether the straggler wrote before or after the newest version, of which only the
// value is left.
TEST_F(StreamCaseTest, AfterALostStragglerAKeyIsNotJudgedBeforeItsNextVersion) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(0));
  add(txn("a", 20, 21, R"(["w","x",2])"), ms(100));
  stream_->advance(ms(200));
  stream_->advance(ms(5000));
  add(txn("b", 3, 4, R"(["w","x",7])"), ms(5001));
  EXPECT_EQ(events(), "1 undecided straggler; ");
  add(txn("c", 30, 31, R"(["r","x",7])"), ms(5002));
  add(txn("d", 32, 33, R"(["r","x",2])"), ms(5003));
  add(txn("a", 40, 41, R"(["w","x",3])"), ms(5004));
  add(txn("c", 42, 43, R"(["r","x",2])"), ms(5005));  // That is wrong in any case.
  stream_->advance(ms(6000));
  EXPECT_EQ(events(), "2 snapshot mismatch; ");
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 1);
  // From here on the key is as sure as any other.
  add(txn("d", 50, 51, R"(["r","x",7])"), ms(9000));
  stream_->finish();
  EXPECT_EQ(events(), "3 snapshot mismatch; ");
}

// The version that the straggler needs was written out long ago, but was the newest until a moment
// ago.
TEST_F(StreamCaseTest, WhatWasReplacedAMomentAgoIsKnownHoweverOldItIs) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["w","x",1],["append","l",1])"), ms(0));
  for (int second = 1; second < 60; ++second) {  // Many sweeps.
    add(txn("z", 10 * second, 10 * second + 1, R"(["w","z",)" + std::to_string(second) + "]"),
        ms(1000 * second));
  }
  add(txn("a", 700, 701, R"(["w","x",2],["append","l",2])"), ms(60'000));
  stream_->advance(ms(60'100));
  add(txn("z", 702, 703, R"(["w","z",60])"), ms(60'101));               // Another sweep.
  add(txn("b", 690, 691, R"(["r","x",1],["r","l",[1]])"), ms(60'200));  // Reads what was replaced.
  add(txn("c", 692, 693, R"(["w","y",1])"), ms(60'201));
  add(txn("d", 695, 696, R"(["w","x",3],["append","l",3])"), ms(60'202));
  add(txn("e", 697, 698, R"(["r","x",3],["r","l",[1,3]])"), ms(60'203));
  add(txn("f", 710, 711, R"(["r","x",2],["r","l",[1,3,2]])"), ms(60'204));
  EXPECT_EQ(stream_->finish().lost_stragglers, 0);
  EXPECT_EQ(events(), "");
  EXPECT_GT(stream_->summary().recalled, 0);
}

TEST_F(StreamCaseTest, ALostStragglerTakesBackWhatItMayExplain) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["append","l",1])"), ms(0));
  add(txn("b", 10, 11, R"(["r","l",[1,2]])"), ms(1));
  add(txn("c", 12, 13, R"(["r","x",7])"), ms(2));
  add(txn("d", 14, 15, R"(["r","x",8])"), ms(3));
  add(txn("a", 20, 21, R"(["append","l",3],["w","x",1])"), ms(100));
  stream_->advance(ms(200));
  EXPECT_EQ(events(), "1 snapshot mismatch; 2 snapshot mismatch; 3 snapshot mismatch; ");
  stream_->advance(ms(5000));
  add(txn("e", 5, 6, R"(["append","l",2],["w","x",7])"), ms(5001));
  // The read of 7 is right, as all is known that it could see. That of 8 is wrong.
  EXPECT_EQ(events(),
            "4 undecided -1 snapshot mismatch; 5 -2 snapshot mismatch; 6 undecided straggler; ");
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 1);
  EXPECT_EQ(stream_->summary().undecided, 1);
  add(txn("f", 30, 31, R"(["r","l",[1,2,3]],["r","x",1])"), ms(5002));
  EXPECT_EQ(stream_->finish().lost_stragglers, 1);
  EXPECT_EQ(events(), "");
}

// Its reader was dropped, but the read itself came back for an earlier straggler, and was accused
// anew.
TEST_F(StreamCaseTest, ALostStragglerTakesBackWhatItMayExplainOfAReaderThatIsGone) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["append","l",1])"), ms(0));
  add(txn("b", 10, 11, R"(["r","l",[1,2,3,4]])"), ms(1));
  stream_->advance(ms(200));
  EXPECT_EQ(events(), "1 snapshot mismatch; ");
  add(txn("c", 6, 6, R"(["append","l",3])"), ms(900));
  EXPECT_EQ(events(), "2 -1 snapshot mismatch; 3 snapshot mismatch; ");
  stream_->advance(ms(1000));
  stream_->advance(ms(1500));
  add(txn("d", 7, 8, R"(["append","l",4])"), ms(1600));
  EXPECT_EQ(events(), "4 -3 snapshot mismatch; 5 snapshot mismatch; 6 undecided straggler; ");
  stream_->advance(ms(1700));
  stream_->advance(ms(5000));
  add(txn("e", 3, 4, R"(["append","l",2])"), ms(5001));
  EXPECT_EQ(events(), "7 undecided -5 snapshot mismatch; 8 undecided straggler; ");
  EXPECT_EQ(count(AnomalyKind::SnapshotMismatch), 0);
}

constexpr char kAskCheap[] = R"(["select",{"lt":["price",10]},[["k1",{"price":4}]]])";

TEST_F(StreamCaseTest, APredicateReadIsReportedAtItsTimeOut) {
  open();
  add(txn("c", 5, 6, kAskCheap), ms(0));  // It arrives before the writers.
  EXPECT_EQ(stream_->summary().provisional, 1);
  add(txn("a", 1, 2, R"(["w","k1",{"price":4}],["w","k2",{"price":15}])"), ms(1));
  EXPECT_EQ(stream_->summary().provisional, 0);
  EXPECT_EQ(stream_->summary().flips, 1);
  add(txn("b", 3, 4, R"(["w","k3",{"price":7}])"), ms(2));
  EXPECT_EQ(stream_->summary().flips, 2);
  EXPECT_EQ(count(AnomalyKind::ResultSetMismatch), 1);
  stream_->advance(ms(4999));
  EXPECT_EQ(events(), "");
  stream_->advance(ms(5000));
  EXPECT_EQ(events(), "1 result-set mismatch; ");
  EXPECT_EQ(last_.arrived, ms(2));
  EXPECT_EQ(last_.history->txn_count(), 3);  // Who wrote what should have come back is in it.
  EXPECT_EQ(last_.verdict.anomalies[0].expected, R"([["k1",{"price":4}],["k3",{"price":7}]])");
  EXPECT_NE(describe(*last_.history, last_.verdict).find("select (1 row) missed k3"),
            std::string::npos)
      << describe(*last_.history, last_.verdict);
}

TEST_F(StreamCaseTest, AStragglerChangesWhatAPredicateReadShouldReturnOnce) {
  open();
  add(txn("c", 9, 10, kAskCheap), ms(0));
  stream_->advance(ms(5000));
  EXPECT_EQ(events(), "1 result-set mismatch; ");
  EXPECT_EQ(last_.verdict.anomalies[0].expected, "[]");
  // Both writes of a transaction count together.
  add(txn("a", 1, 2, R"(["w","k1",{"price":4}],["w","k2",{"price":5}])"), ms(6000));
  EXPECT_EQ(events(), "2 -1 result-set mismatch; 3 result-set mismatch; ");
  EXPECT_EQ(last_.verdict.anomalies[0].expected, R"([["k1",{"price":4}],["k2",{"price":5}]])");
  add(txn("b", 3, 4, R"(["w","k9",{"price":50}])"), ms(6001));  // The select does not ask for it.
  EXPECT_EQ(events(), "");
  add(txn("b", 5, 6, R"(["d","k2","gone"])"), ms(6002));
  EXPECT_EQ(events(), "4 -3 result-set mismatch; ");
  EXPECT_EQ(stream_->summary().stragglers, 2);
  EXPECT_EQ(count(AnomalyKind::ResultSetMismatch), 0);
}

TEST_F(StreamCaseTest, PredicateReadsOlderThanTheRetentionAreLost) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["w","k1",{"price":4}])"), ms(0));
  add(txn("b", 10, 11, kAskCheap), ms(1));
  add(txn("a", 20, 21, R"(["w","k1",{"price":5}])"), ms(100));
  stream_->advance(ms(200));
  add(txn("c", 15, 16, kAskCheap), ms(300));  // What it needs comes back.
  stream_->advance(ms(400));
  EXPECT_EQ(events(), "");
  EXPECT_GT(stream_->summary().recalled, 0);
  add(txn("a", 24, 25, R"(["w","k2",{"price":50}])"), ms(500));
  stream_->advance(ms(5000));
  add(txn("d", 12, 13, kAskCheap), ms(5001));  // What it needs was dropped.
  EXPECT_EQ(stream_->summary().lost_stragglers, 1);
  // On time, all is well: the newest version is still known.
  add(txn("e", 30, 31, R"(["scan",null,"k1",[["k1",{"price":5}]]])"), ms(5002));
  EXPECT_EQ(stream_->finish().provisional, 0);
  EXPECT_EQ(events(), "1 undecided straggler; ");
}

TEST_F(StreamCaseTest, ALostRowTakesBackWhatItMayExplainOfPredicateReads) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["w","k0",{"price":40}])"), ms(0));
  add(txn("b", 10, 11, kAskCheap), ms(1));
  add(txn("a", 20, 21, R"(["w","k0",{"price":50}])"), ms(100));
  add(txn("b", 24, 25, kAskCheap), ms(101));
  stream_->advance(ms(200));
  EXPECT_EQ(events(), "1 result-set mismatch; 2 result-set mismatch; ");
  add(txn("a", 26, 27, R"(["w","k0",{"price":51}])"), ms(4000));
  stream_->advance(ms(4100));
  stream_->advance(ms(5000));
  add(txn("c", 5, 6, R"(["w","k1",{"price":4}])"), ms(5001));
  EXPECT_EQ(events(),
            "3 undecided -1 result-set mismatch; 4 undecided -2 result-set mismatch; "
            "5 undecided straggler; ");
  EXPECT_EQ(count(AnomalyKind::ResultSetMismatch), 0);
  add(txn("b", 30, 31, kAskCheap), ms(5002));
  stream_->finish();
  EXPECT_EQ(events(), "");
}

// Values that are no rows are not kept for predicates before the first predicate read.
TEST_F(StreamCaseTest, TheFirstPredicateReadMustComeWithinTheRetention) {
  limit();
  open();
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(0));
  add(txn("a", 3, 4, R"(["w","x",2])"), ms(500));
  stream_->advance(ms(600));
  stream_->advance(ms(5000));
  EXPECT_NE(refusal(txn("b", 7, 8, R"(["scan",null,null,[["x",2]]])")).find("retention"),
            std::string::npos);
  open();
  add(txn("a", 1, 2, R"(["w","x",1])"), ms(0));
  add(txn("a", 3, 4, R"(["w","x",2])"), ms(500));
  add(txn("b", 7, 8, R"(["scan",null,null,[["x",2]]])"), ms(501));
  add(txn("b", 1, 3, R"(["scan",null,null,[]])"), ms(502));
  stream_->finish();
  EXPECT_EQ(events(), "1 session inversion; ");
}

// Half a million versions of one key, with stragglers among them.
TEST_F(StreamCaseTest, AHotKeyIsNoProblem) {
  open();
  int value = 0;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int j = 0; j < 100; ++j) {
      const int at = (i * 100 + j) * 10;
      if (j == 50) continue;
      text += txn("a", at + 1, at + 2, "[\"w\",\"x\"," + std::to_string(++value) + ']');
      text += txn("b", at + 3, at + 4, "[\"r\",\"x\"," + std::to_string(value) + ']');
    }
    add(text, ms(i));
    if (i < 100) continue;
    const int late = ((i - 100) * 100 + 50) * 10;
    add(txn("c" + std::to_string(i), late + 1, late + 2, R"(["w","x",0])"), ms(i));
  }
  const StreamSummary summary = stream_->finish();
  EXPECT_EQ(summary.flips, 0);
  EXPECT_EQ(summary.txns, 200 * 99 * 2 + 100);
  EXPECT_EQ(events(), "");
}

// The description without the headline and without numbers that differ between a part and the
// whole.
std::string told(const History& history, const Verdict& verdict) {
  const std::string text = describe(history, verdict);
  const std::size_t end = text.find("See docs");
  const std::size_t begin = std::min(text.find("\n  T1"), end);
  const std::string plain = std::regex_replace(text.substr(begin, end - begin),
                                               std::regex("transaction [0-9]+"), "transaction");
  return std::regex_replace(plain, std::regex(" +"), " ");
}

// The history with its transactions in the order of their commits, as they arrive if nothing delays
// them.
History in_commit_order(const History& history) {
  const auto shared = std::make_shared<const History>(history);
  std::vector<TxnId> txns;
  for (std::size_t t = 0; t < history.txn_count(); ++t) txns.push_back(TxnId{t});
  const auto ends = [&](TxnId txn) {
    return history.commit_ts(txn).value_or(history.start_ts(txn).value_or(Timestamp{}));
  };
  std::stable_sort(txns.begin(), txns.end(), [&](TxnId a, TxnId b) { return ends(a) < ends(b); });
  stream::Copier copier;
  copier.say_initial(history, history.default_initial());
  for (const TxnId txn : txns) copier.add({shared, txn});
  return *copier.freeze();
}

// The small history that an event carries is told like the whole.
TEST(StreamStoryTest, EventsAreToldAsTheReportTellsThem) {
  for (const Fault fault : {Fault::LostUpdate, Fault::Internal, Fault::NonRepeatableRead,
                            Fault::AbortedRead, Fault::StaleRead}) {
    GenerateOptions generated;
    generated.store = Level::StrictSerializable;
    generated.txns = 300;
    generated.keys = 20;
    generated.abort_share = 0.1;
    generated.timestamps = true;
    generated.faults = {{fault, 0.05}};
    const auto made = generate(generated);
    ASSERT_TRUE(made.ok());
    const History history = in_commit_order(*made);
    auto stream = Stream::open({});
    ASSERT_TRUE(stream.ok());
    ASSERT_TRUE(stream->append(std::make_shared<const History>(history), ms(0)).ok());
    stream->finish();
    CheckOptions options;
    options.evidence = Evidence::Timestamps;
    options.examples = 1'000'000;
    const auto verdict = check(history, Level::SessionSi, options);
    ASSERT_TRUE(verdict.ok());
    std::multiset<std::string> wanted;
    for (const Anomaly& anomaly : verdict->anomalies) {
      Verdict one = *verdict;
      one.anomalies = {anomaly};
      one.counts = {};
      one.counts[static_cast<std::size_t>(anomaly.kind)] = 1;
      wanted.insert(told(history, one));
    }
    std::multiset<std::string> found;
    for (const StreamEvent& event : stream->poll()) {
      found.insert(told(*event.history, event.verdict));
    }
    EXPECT_FALSE(found.empty()) << name(fault);
    std::vector<std::string> missed;
    std::vector<std::string> invented;
    std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(),
                        std::back_inserter(missed));
    std::set_difference(found.begin(), found.end(), wanted.begin(), wanted.end(),
                        std::back_inserter(invented));
    EXPECT_EQ(invented, missed) << name(fault);
  }
}

// Larger histories of every kind of value, in batches of a hundred.
TEST(StreamWorkloadTest, AgreesWithCheckOnGeneratedHistories) {
  for (const WorkloadKind kind : {WorkloadKind::General, WorkloadKind::ListAppend}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      GenerateOptions generated;
      generated.workload = kind;
      generated.store = seed % 2 == 0 ? Level::Si : Level::StrictSerializable;
      generated.seed = seed;
      generated.txns = 2'000;
      generated.keys = 50;
      generated.abort_share = 0.05;
      generated.unknown_share = 0.02;
      generated.timestamps = generated.clocks = true;
      generated.faults = {{Fault::LostUpdate, 0.01}, {Fault::StaleRead, 0.01}};
      const auto history = generate(generated);
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      const Trial trial = random_trial(*history, seed, {.reach = 200, .max_batch = 100});
      for (const Level level : {Level::StrongSi, Level::StrictSerializable}) {
        StreamOptions options;
        options.level = level;
        options.timeout = milliseconds(10 * seed);
        EXPECT_EQ(complaint(trial, options), "") << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace ouro::oracle
