// Shards of a history, and what their verdicts say together.

#include "ouro/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ouro/ouro.h"
#include "tests/files.h"
#include "tests/random_predicates.h"
#include "tests/random_timeline.h"
#include "tests/run_program.h"
#include "tests/stream_trial.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::size_t kAll = 1'000'000;  // Examples: all violations.

std::vector<Level> levels_by_timestamps() {
  std::vector<Level> out;
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level, Evidence::Timestamps)) out.push_back(level.level);
  }
  return out;
}

// The history as a file of it says, so that shards are read as they are written.
History reread(const History& history) {
  std::string text;
  EXPECT_TRUE(print_history(history, Format::Native, text).ok());
  auto again = parse_history(text);
  EXPECT_TRUE(again.ok()) << again.error().to_string() << '\n' << text;
  return *std::move(again);
}

CheckOptions by_timestamps(std::int64_t clock_drift) {
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  options.clock_drift = clock_drift;
  options.examples = kAll;
  return options;
}

// What check() says of a shard. It refuses histories without timestamps, a stream does not.
ShardVerdict judged(ShardId id, const History& shard, Level level, std::int64_t clock_drift) {
  if (shard.has_timestamps()) {
    const auto verdict = check(shard, level, by_timestamps(clock_drift));
    EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
    return shard_verdict(id, shard, *verdict, clock_drift);
  }
  auto stream = Stream::open({.level = level, .clock_drift = clock_drift});
  StreamDigest digest(level, kAll);
  EXPECT_TRUE(stream->append(std::make_shared<const History>(shard), StreamTime{0}).ok());
  const StreamSummary summary = stream->finish();
  digest.add(stream->poll());
  const auto [history, verdict] = digest.close(summary);
  return shard_verdict(id, history, verdict, clock_drift);
}

NextPiece one_piece(const History& history) {
  auto left = std::make_shared<const History>(history);
  return [left]() mutable -> Result<std::shared_ptr<const History>> {
    return std::exchange(left, nullptr);
  };
}

// What differs between the whole and its shards, or "".
std::string difference(const History& whole, ShardCounts counts, Level level,
                       std::int64_t clock_drift) {
  const auto wanted = check(whole, level, by_timestamps(clock_drift));
  if (!wanted.ok()) return wanted.error().to_string();
  Projector projector(counts);
  const auto parts = projector.add(whole);
  if (!parts.ok()) return parts.error().to_string();
  ShardPlan plan{.counts = counts, .history = "the whole"};
  plan.fingerprint = fingerprint(whole);
  plan.left_out = left_out(whole, Level::StrictSerializable, Evidence::Timestamps);
  std::vector<ShardVerdict> verdicts;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const ShardId id = projector.shards()[i];
    if ((*parts)[i].txn_count() == 0) continue;
    if (id.kind == ShardKind::Rows && !projector.has_predicate_reads()) continue;
    if (id.kind == ShardKind::Clocks && !projector.has_clocks()) continue;
    const History shard = reread((*parts)[i]);
    plan.shards.push_back({id, shard.txn_count(), shard.op_count()});
    verdicts.push_back(judged(id, shard, level, clock_drift));
  }
  const auto merged = merge(plan, "folder", verdicts,
                            {.examples = kAll, .whole = one_piece(whole), .certificate = true});
  if (!merged.ok()) return merged.error().to_string();
  if (merged->verdict.outcome != wanted->outcome) return "another outcome";
  if (merged->verdict.counts != wanted->counts) return "other counts";
  const auto told = oracle::findings_of(merged->history, merged->verdict, true);
  const auto all = oracle::findings_of(whole, *wanted, true);
  for (const auto& [text, count] : all) {
    if (!told.contains(text)) return "misses " + text;
  }
  for (const auto& [text, count] : told) {
    if (!all.contains(text)) return "invents " + text;
  }
  if (told != all) return "tells something twice";
  if (describe(merged->verdict.left_out) != describe(wanted->left_out)) return "leaves out others";
  const auto refusal_of = [&](const Certificate& certificate) {
    const auto checked = certify(whole, *parse_certificate(print_certificate(certificate)));
    return checked.ok() ? checked->reason : checked.error().to_string();
  };
  const std::string reason = refusal_of(*merged->certificate);
  return reason == refusal_of(make_certificate(whole, *wanted, clock_drift)) ? "" : reason;
}

// Histories of all kinds of operations that timestamps decide.
History random_whole(std::uint64_t seed) {
  switch (seed % 4) {
    case 0: {
      oracle::TimelineShape shape = oracle::mixed_timeline(seed);
      shape.txns += seed % 40;
      shape.keys += seed % 5;
      return oracle::random_timeline(seed, shape);
    }
    case 1:
      return oracle::random_timeline(seed, oracle::mixed_timeline(seed));
    case 2:
      return oracle::random_predicates(seed, oracle::mixed_predicates(seed));
    default:
      return oracle::with_initials(oracle::random_timeline(seed, oracle::mixed_timeline(seed)),
                                   seed);
  }
}

// Every history with some numbers of shards; names are those of a trial, numbers, or none.
TEST(ShardTest, TheShardsTogetherSayWhatTheWholeSays) {
  const std::vector<Level> all = levels_by_timestamps();
  ASSERT_EQ(all.size(), 8u);
  std::array<std::size_t, kAnomalyKindCount> seen{};
  std::size_t held = 0;
  for (std::uint64_t seed = 1; seed <= 1'600 / kSlowdown; ++seed) {
    const oracle::Trial trial = oracle::random_trial(random_whole(seed), seed, {});
    const Level level = all[seed / 4 % all.size()];
    const std::int64_t drift = seed % 3 == 0 ? 5 : 0;
    const auto verdict = check(trial.whole, level, by_timestamps(drift));
    if (!verdict.ok()) continue;  // No timestamps at all, or a key that is a list and a register.
    held += verdict->outcome == Outcome::Holds ? 1 : 0;
    for (std::size_t k = 0; k < kAnomalyKindCount; ++k) seen[k] += verdict->counts[k];
    for (std::uint32_t keys = 1; keys <= 5; ++keys) {
      const auto sessions = static_cast<std::uint32_t>(1 + (seed + keys) % 3);
      ASSERT_EQ(difference(trial.whole, {keys, sessions}, level, drift), "")
          << "seed " << seed << ", " << keys << " and " << sessions << " shards, "
          << info(level).name;
    }
  }
  EXPECT_GT(held, 100 / kSlowdown);
  if (kSlowdown > 1) return;  // Too few for the rare ones.
  for (const AnomalyKind kind :
       {AnomalyKind::SnapshotMismatch, AnomalyKind::WriteConflict, AnomalyKind::SessionInversion,
        AnomalyKind::RealTimeInversion, AnomalyKind::MissingTimestamp,
        AnomalyKind::InvertedTimestamps, AnomalyKind::DuplicateTimestamp, AnomalyKind::Internal,
        AnomalyKind::NonRepeatableRead, AnomalyKind::ResultSetMismatch}) {
    EXPECT_GT(seen[static_cast<std::size_t>(kind)], 20u) << info(kind).name;
  }
}

TEST(ShardTest, EveryLevelAndEveryNumberOfShards) {
  for (std::uint64_t seed = 1; seed <= 24 / kSlowdown; ++seed) {
    const oracle::Trial trial = oracle::random_trial(random_whole(seed), seed, {});
    for (const Level level : levels_by_timestamps()) {
      if (!check(trial.whole, level, by_timestamps(0)).ok()) continue;
      for (std::uint32_t keys = 1; keys <= 5; ++keys) {
        for (std::uint32_t sessions = 1; sessions <= 3; ++sessions) {
          ASSERT_EQ(difference(trial.whole, {keys, sessions}, level, 0), "")
              << "seed " << seed << ", " << keys << " and " << sessions << " shards, "
              << info(level).name;
        }
      }
    }
  }
}

TEST(ShardTest, EachKindOfAnomalyIsDecidedByOneKindOfShard) {
  for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
    int deciding = 0;
    for (const ShardKind kind :
         {ShardKind::Keys, ShardKind::Rows, ShardKind::Sessions, ShardKind::Clocks}) {
      deciding += decides(kind, static_cast<AnomalyKind>(k)) ? 1 : 0;
    }
    EXPECT_EQ(deciding, 1) << info(static_cast<AnomalyKind>(k)).name;
  }
}

// Counters and sets, parts that were rolled back, and transactions without ids.
TEST(ShardTest, OperationsOfAllKindsAreJudgedAsInTheWhole) {
  const std::string lines = R"({"ouro":1,"initial":null}
{"key":"c","initial":3}
{"session":"a","start_ts":1,"commit_ts":4,"ops":[["inc","c",2],["add","s",5],["w","x",1]]}
{"session":"b","start_ts":2,"commit_ts":3,"ops":[["inc","c",1],["add","s",6],["add","s",5]]}
{"session":"a","start_ts":5,"commit_ts":6,"ops":[["r","c",6],["r","s",{"set":[5,6]}],["r","x",1]]}
{"session":"b","start_ts":7,"commit_ts":8,"ops":[["r","c",5],["r","s",{"set":[6]}],["r","x",2]]}
{"session":"c","start_ts":9,"commit_ts":9,"ops":[["rolled-back",[["w","x",7],["r","x",7],["append","l",1],["r","l",[1]]]],["r","x",1],["r","l",[]],["w","y",1]]}
{"session":"c","start_ts":9,"commit_ts":12,"ops":[["rolled-back",[["w","y",7],["r","y",6]]],["append","l",2],["r","y",7],["scan","a","z",[["x",1],["y",1]]]]}
{"session":"d","start_ts":13,"commit_ts":13,"ops":[["r","y",1],["cas","x",1,5,true],["cas","y",1,6,false]]}
{"session":"d","start_ts":14,"commit_ts":14,"ops":[["r","l",[2]],["select",{"ge":["@key",0]},[["x",5]]],["aggregate","count",null,true,3]]}
)";
  const auto whole = parse_history(lines);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  for (const Level level : levels_by_timestamps()) {
    for (std::uint32_t keys = 1; keys <= 5; ++keys) {
      EXPECT_EQ(difference(*whole, {keys, 1 + keys % 3}, level, 0), "")
          << keys << " shards, " << info(level).name;
    }
  }
}

// At a serial level who only reads comes behind who writes at the same timestamp. T2 only reads x,
// but it writes y, so it comes before T3, whose write of x it must not see.
TEST(ShardTest, WhoWritesElsewhereStaysAWriterOnTheTimeline) {
  const auto whole = parse_history(R"({"session":"a","commit_ts":1,"ops":[["w","x",1]]}
{"session":"b","commit_ts":5,"ops":[["r","x",1],["w","y",1]]}
{"session":"c","commit_ts":5,"ops":[["w","x",2],["w","y",1]]}
)");
  for (std::uint32_t keys = 1; keys <= 5; ++keys) {
    EXPECT_EQ(difference(*whole, {keys, 1}, Level::Serializable, 0), "") << keys;
  }
}

// Each of several machines says how many transactions come before its part.
TEST(ShardTest, PartsOfAHistoryAreProjectedAsTheWholeIs) {
  const std::string head = "{\"ouro\":1,\"initial\":0}\n";
  const std::string first = R"({"session":"a","commit_ts":1,"ops":[["w","x",1],["r","y",0]]}
)";
  const std::string second = R"({"session":"b","commit_ts":1,"ops":[["r","x",1],["w","y",1]]}
)";
  const auto text_of = [](Projector projector, const std::string& part) {
    std::string all;
    const auto parts = projector.add(*parse_history(part));
    for (const History& shard : *parts) {
      std::string text;
      EXPECT_TRUE(print_history(shard, Format::Native, text).ok());
      all += text.substr(text.find('\n') + 1);
    }
    return all;
  };
  const std::string whole = text_of(Projector({1, 1}), head + first + second);
  const std::string begin = text_of(Projector({1, 1}), head + first);
  const std::string end = text_of(Projector({1, 1}, 1), head + second);
  EXPECT_THAT(end, HasSubstr("#2"));
  EXPECT_EQ(whole.size(), begin.size() + end.size());
}

TEST(ShardTest, WhatCannotBeSplitIsRefused) {
  const auto refused = [](const std::string& text) {
    Projector projector({2, 1});
    const auto parts = projector.add(*parse_history(text));
    return parts.ok() ? "" : parts.error().what;
  };
  EXPECT_THAT(refused(R"({"session":1,"ops":[["w","(elsewhere) 5",1]]})"), HasSubstr("rename it"));
  EXPECT_THAT(refused(R"({"session":1,"id":"#3","ops":[["w","x",1]]})"), HasSubstr("rename it"));
  EXPECT_EQ(refused(R"({"session":1,"id":"#","ops":[["w","x",1]]})"), "");
  Projector projector({2, 1});
  const History counter = *parse_history(R"({"session":1,"ops":[["inc","x",1]]})");
  EXPECT_TRUE(projector.add(counter).ok());
  const auto again = projector.add(counter);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().what, HasSubstr("read as a whole"));
}

class ShardFolderTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(base_); }
  void TearDown() override { fs::remove_all(base_); }
  [[nodiscard]] std::string path(const std::string& name) const { return base_ / name; }
  static Ran ouro(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kOuroBinary);
    return run_program(arguments);
  }
  std::string generated(const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments = {"generate", "--timestamps", "-o", path("whole.jsonl")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(ouro(arguments).status, 0);
    return path("whole.jsonl");
  }
  static std::string counts_in(const std::string& json) {
    const std::size_t from = json.find("\"counts\"");
    return json.substr(from, json.find('}', from) - from);
  }

  const fs::path base_ = temporary("shards");
};

TEST_F(ShardFolderTest, FilesCheckedOneByOneGiveTheVerdictOnTheWhole) {
  for (const std::string what : {"lost-update=0.01", "lost-update=0"}) {
    const std::string whole =
        generated({"-l", "strong-si", "-n", "3000", "--keys", "300", "--clocks", "--fault", what});
    const std::string folder = path(what);
    ASSERT_EQ(
        ouro({"shard", "split", whole, "--keys", "3", "--sessions", "2", "-o", folder}).status, 0);
    const Ran early = ouro({"shard", "merge", folder});
    EXPECT_EQ(early.status, 254);
    EXPECT_THAT(early.err,
                HasSubstr("there is no verdict on keys-1; make it by 'ouro shard check"));
    const int status = what.ends_with("=0") ? 0 : 1;
    EXPECT_EQ(ouro({"shard", "check", "-l", "strong-si", folder}).status, status);
    const std::string certificate = path("certificate");
    const Ran merged = ouro(
        {"shard", "merge", folder, "--history", whole, "--json", "--certificate", certificate});
    EXPECT_EQ(merged.status, status) << merged.err;
    const Ran checked = ouro({"check", "-l", "strong-si", "--evidence", "timestamps", "--json",
                              "--certificate", path("other"), whole});
    EXPECT_EQ(counts_in(merged.out), counts_in(checked.out));
    EXPECT_THAT(ouro({"certify", whole, certificate}).out, HasSubstr("accepted"));
    if (status == 0) {
      EXPECT_EQ(slurp(certificate), slurp(path("other")));
    }
    EXPECT_EQ(ouro({"shard", "merge", folder}).status, status);
  }
}

// Parts that several machines split, joined, are what one machine makes of the whole.
TEST_F(ShardFolderTest, PartsThatWereSplitApartAreJoinedToTheShardsOfTheWhole) {
  const std::string whole = generated({"-w", "range-b", "-l", "strong-si", "-n", "600", "--keys",
                                       "60", "--clocks", "--fault", "lost-update=0.05"});
  ASSERT_EQ(ouro({"shard", "split", whole, "--keys", "3", "-o", path("one")}).status, 0);
  std::ifstream file(whole);
  std::string head, line;
  std::getline(file, head);
  std::vector<std::string> lines;
  while (std::getline(file, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 600u);
  std::vector<std::string> joined = {"shard", "join"};
  const std::size_t cuts[] = {0, 1, 1, 250, 600};
  for (std::size_t i = 4; i-- > 0;) {  // The last part first.
    const std::string part = path("part" + std::to_string(i));
    std::ofstream out(part + ".jsonl");
    out << head << '\n';
    for (std::size_t k = cuts[i]; k < cuts[i + 1]; ++k) out << lines[k] << '\n';
    out.close();
    const Ran ran = ouro({"shard", "split", part + ".jsonl", "--keys", "3", "--before",
                          std::to_string(cuts[i]), "-o", part});
    ASSERT_EQ(ran.status, 0) << ran.err;
    joined.push_back(part);
  }
  const Ran ran = ouro([&] {
    auto arguments = joined;
    arguments.insert(arguments.end(), {"-o", path("joined")});
    return arguments;
  }());
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(path("one"))) {
    if (entry.path().extension() != ".jsonl") continue;
    ++files;
    EXPECT_EQ(slurp(entry.path()), slurp(fs::path(path("joined")) / entry.path().filename()));
  }
  EXPECT_EQ(files, 6u) << "three of keys, rows, sessions and clocks";
  for (const std::string folder : {"one", "joined"}) {
    EXPECT_EQ(ouro({"shard", "check", "-l", "strong-si", path(folder)}).status, 1);
  }
  const Ran one = ouro({"shard", "merge", "--json", path("one")});
  const Ran other = ouro({"shard", "merge", "--json", path("joined")});
  EXPECT_EQ(counts_in(other.out), counts_in(one.out));
  EXPECT_EQ(
      ouro({"shard", "merge", path("joined"), "--history", whole, "--certificate", path("proof")})
          .status,
      1);
  EXPECT_THAT(ouro({"certify", whole, path("proof")}).out, HasSubstr("accepted"));

  joined.erase(joined.begin() + 3);
  joined.insert(joined.end(), {"-o", path("other")});
  EXPECT_THAT(ouro(joined).err, HasSubstr("name every part once"));
}

TEST_F(ShardFolderTest, WhatIsLeftOutOfSessionsIsLeftOutOfTheWhole) {
  std::ofstream(path("h.jsonl"))
      << R"({"session":null,"start_ts":1,"commit_ts":2,"ops":[["w","x",1]]}
{"session":"a","start_ts":3,"commit_ts":3,"ops":[["r","x",1]]}
)";
  ASSERT_EQ(ouro({"shard", "split", path("h.jsonl"), "-o", path("s")}).status, 0);
  for (const std::string level : {"si", "session-si"}) {
    ASSERT_EQ(ouro({"shard", "check", "-l", level, path("s")}).status, 0);
    const Ran merged = ouro({"shard", "merge", path("s")});
    EXPECT_EQ(merged.status, 0) << merged.err;
    EXPECT_EQ(merged.out.find("as far as was checked") != std::string::npos, level == "session-si")
        << merged.out;
  }
}

TEST_F(ShardFolderTest, VerdictsThatDoNotFitTogetherAreRefused) {
  const std::string whole = generated({"-n", "300"});
  const std::string folder = path("a");
  ASSERT_EQ(ouro({"shard", "split", whole, "-o", folder}).status, 0);
  EXPECT_THAT(ouro({"shard", "split", whole, "-o", folder}).err, HasSubstr("not empty"));
  ASSERT_EQ(ouro({"shard", "check", folder}).status, 0);
  ASSERT_EQ(ouro({"shard", "check", "-l", "si", folder + "/keys-2.jsonl"}).status, 0);
  EXPECT_THAT(ouro({"shard", "merge", folder}).err,
              HasSubstr("keys-1 was checked at session-si, but keys-2 at si"));
  ASSERT_EQ(ouro({"shard", "check", folder}).status, 0);
  const std::string other = path("b");
  ASSERT_EQ(ouro({"shard", "split", whole, "--keys", "3", "-o", other}).status, 0);
  fs::copy_file(folder + "/keys-1.verdict", other + "/keys-1.verdict");
  EXPECT_THAT(ouro({"shard", "merge", other}).err, HasSubstr("about another split"));
  std::ofstream(whole, std::ios::app)
      << R"({"session":1,"start_ts":1,"commit_ts":1,"ops":[]})" << '\n';
  EXPECT_THAT(ouro({"shard", "merge", folder, "--history", whole}).err,
              HasSubstr("not the one that was split"));
  EXPECT_THAT(ouro({"shard", "check", "-l", "causal", folder}).err,
              HasSubstr("cannot be decided by timestamps"));
  std::ofstream(path("plain.jsonl")) << R"({"session":1,"ops":[["w","x",1]]})" << '\n';
  EXPECT_THAT(ouro({"shard", "split", path("plain.jsonl"), "-o", path("c")}).err,
              HasSubstr("no timestamps"));
}

}  // namespace
}  // namespace ouro
