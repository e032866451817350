// Predicate reads in a stream: whatever the order of arrival, in the end it says of them what the
// check of the whole says.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "ouro/stream.h"
#include "tests/random_predicates.h"
#include "tests/stream_trial.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

using std::chrono::milliseconds;

constexpr Level kJudgedLevels[] = {Level::Si, Level::SessionSi, Level::Serializable,
                                   Level::SessionSerializable};

std::string native_text(const History& history) {
  std::string out;
  EXPECT_TRUE(print_history(history, Format::Native, out).ok());
  return out;
}

std::string predicates_folder() { return scratch_folder_of("stream_predicates"); }

Trial trial_of(std::uint64_t seed) {
  History history = random_predicates(seed, mixed_predicates(seed));
  if (seed % 3 == 0) history = with_initials(history, seed);
  return random_trial(history, seed,
                      {.reach = 1 + seed % 12,
                       .max_batch = 1 + seed / 3 % 6,
                       .max_wait_ms = static_cast<std::int64_t>(seed % 5)});
}

class StreamPredicatesTest : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove_all(predicates_folder());
    std::filesystem::remove(predicates_folder() + ".checkpoint");
  }
};

TEST_F(StreamPredicatesTest, AreJudgedAsCheckDoesHoweverLateTransactionsCome) {
  std::uint64_t mismatches = 0;
  std::uint64_t stragglers = 0;
  std::uint64_t flips = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 3'000 / kSlowdown; ++seed) {
    const Trial trial = trial_of(seed);
    for (const Level level : kJudgedLevels) {
      StreamOptions options;
      options.level = level;
      options.timeout = seed % 3 == 0 ? std::chrono::hours(1) : milliseconds(seed % 8);
      StreamSummary summary;
      ASSERT_EQ(complaint(trial, options, &summary), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native_text(trial.whole);
      mismatches += summary.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)];
      stragglers += summary.stragglers;
      flips += summary.flips;
    }
  }
  EXPECT_GT(mismatches, 2'000 / kSlowdown);
  EXPECT_GT(stragglers, 2'000 / kSlowdown);
  EXPECT_GT(flips, 1'000 / kSlowdown);
}

TEST_F(StreamPredicatesTest, AreJudgedTheSameWhenNothingStaysInMemory) {
  std::uint64_t recalled = 0;
  std::uint64_t keys_back = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 500 / kSlowdown; ++seed) {
    const Trial trial = trial_of(seed);
    StreamOptions options;
    options.level = kJudgedLevels[seed % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = seed % 3 == 0 ? 8'000 + seed % 16 * 1'000 : 1;
    options.folder = predicates_folder();
    StreamSummary summary;
    ASSERT_EQ(complaint(trial, options, &summary), "") << "seed " << seed << "\n"
                                                       << native_text(trial.whole);
    EXPECT_EQ(summary.lost_stragglers, 0);
    recalled += summary.recalled;
    keys_back += summary.keys_back;
  }
  EXPECT_GT(recalled, 1'000 / kSlowdown);
  EXPECT_GT(keys_back, 1'000 / kSlowdown);
}

// Rows and reads on disk are dropped so soon that many stragglers are lost. The stream may then
// miss something, but must not accuse anybody who is innocent.
TEST_F(StreamPredicatesTest, AreNeverAccusedFalselyHoweverShortTheRetention) {
  std::uint64_t lost = 0;
  std::uint64_t mismatches = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 600 / kSlowdown; ++seed) {
    History history = random_predicates(seed, mixed_predicates(seed));
    if (seed % 3 == 0) history = with_initials(history, seed);
    const Trial trial = stretched(
        random_trial(history, seed,
                     {.reach = 1 + seed % 30, .max_batch = 1 + seed % 4, .max_wait_ms = 3}),
        1'000);
    StreamOptions options;
    options.level = kJudgedLevels[seed % 4];
    options.timeout = milliseconds(seed % 3 * 1'000);
    options.retention = std::chrono::seconds(1 + seed % 3 * 4);
    options.memory = seed % 3 == 0 ? 8'000 : 1;
    options.folder = predicates_folder();
    StreamSummary summary;
    const std::string wrong = complaint(trial, options, &summary);
    // Whoever asks for the first time after something was dropped is refused.
    if (wrong.find("retention") != std::string::npos) continue;
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << native_text(trial.whole);
    lost += summary.lost_stragglers;
    mismatches += summary.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)];
  }
  EXPECT_GT(lost, 600 / kSlowdown);
  EXPECT_GT(mismatches, 600 / kSlowdown);
}

TEST_F(StreamPredicatesTest, SurviveCrashes) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 500 / kSlowdown; ++seed) {
    const Trial trial = trial_of(seed);
    StreamOptions options;
    options.level = kJudgedLevels[seed % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = seed % 4 == 0 ? 1 : 0;
    options.folder = predicates_folder();
    ASSERT_EQ(complaint_with_crashes(trial, options, seed, predicates_folder() + ".checkpoint"), "")
        << "seed " << seed << "\n"
        << native_text(trial.whole);
  }
}

// A table of 300 rows, one transaction after the other: updates and deletes by key, selects and
// counts by a range of a column; some miss a row.
History many_rows(std::uint64_t seed, std::size_t txns) {
  std::mt19937_64 random(seed);
  constexpr std::size_t kRows = 300;
  HistoryBuilder b;
  struct Row {
    std::int64_t c = 0;
    Value value;
  };
  std::vector<Row> rows(kRows);
  const ColumnId c = b.column("c");
  for (std::size_t t = 0; t < txns; ++t) {
    b.begin_txn(b.session(static_cast<std::int64_t>(random() % 20)));
    const auto at = static_cast<std::int64_t>(10 * t);
    b.timestamps({at, 0}, {at + 9, 0});
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t k = random() % kRows;
      if (random() % 2 == 0) {
        rows[k].c = static_cast<std::int64_t>(random() % 100);
        const HistoryBuilder::NamedCell cells[] = {
            {"c", b.integer(rows[k].c)}, {"u", b.integer(at + static_cast<std::int64_t>(i))}};
        rows[k].value = random() % 10 == 0 ? Value::null() : b.row(cells);
        b.write(b.key("k" + std::to_string(k)), rows[k].value);
        continue;
      }
      const auto low = static_cast<std::int64_t>(random() % 100);
      const Value bounds[] = {b.integer(low), b.integer(low + 3)};
      const PredicateId range = b.compare(PredicateKind::Between, c, bounds);
      std::vector<KeyVersion> found;
      for (std::size_t r = 0; r < kRows; ++r) {
        const bool in = !rows[r].value.is_null() && rows[r].c >= low && rows[r].c <= low + 3;
        if (in) found.push_back({b.key("k" + std::to_string(r)), rows[r].value});
      }
      if (random() % 50 == 0 && !found.empty()) found.pop_back();
      if (random() % 3 == 0) {
        b.aggregate(AggregateKind::Count, {}, range,
                    b.integer(static_cast<std::int64_t>(found.size())), {});
      } else {
        b.select(range, {.rows = found});
      }
    }
  }
  return *std::move(b).freeze();
}

// Far out of order, so that much has changed since most reads.
TEST_F(StreamPredicatesTest, OfManyRowsAreJudgedAsCheckDoes) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 8; ++seed) {
    const History history = many_rows(seed, 1'200 / kSlowdown + 100);
    const Trial trial = random_trial(
        history, seed, {.reach = seed % 2 == 0 ? std::size_t{20} : 600, .max_batch = 40});
    StreamOptions options;
    options.level = kJudgedLevels[seed % 4];
    options.timeout = milliseconds(seed * 3);
    options.memory = seed % 3 == 0 ? 100'000 : 0;
    options.folder = predicates_folder();
    StreamSummary summary;
    ASSERT_EQ(complaint(trial, options, &summary), "") << "seed " << seed;
    EXPECT_GT(summary.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)], 0);
  }
}

}  // namespace
}  // namespace ouro::oracle
