// A group that works together by way of Kafka, without Kafka: messages go from projectors to
// checkers to a merger while these are killed and begin anew, and in the end the merger says what
// check() says of all transactions in the order in which they were projected.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/temporary_folder.h"
#include "kafka/board.h"
#include "kafka/raw_projection.h"
#include "kafka/shard_check.h"
#include "ouro/ouro.h"
#include "tests/random_predicates.h"
#include "tests/random_timeline.h"
#include "tests/this_build.h"

namespace ouro::kafka {
namespace {

using Random = std::mt19937_64;
constexpr std::uint32_t kPartitions = 3;

// Each transaction as a line of native text; and the line that says what keys hold at first.
std::vector<std::string> lines_of(const History& history) {
  std::string text;
  EXPECT_TRUE(print_history(history, Format::Native, text).ok());
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

History random_whole(std::uint64_t seed) {
  if (seed % 4 == 3) return oracle::random_predicates(seed, oracle::mixed_predicates(seed));
  oracle::TimelineShape shape = oracle::mixed_timeline(seed);
  shape.missing = 0;
  shape.txns += seed % 30;
  shape.keys += seed % 5;
  return oracle::random_timeline(seed, shape);
}

// Cuts the lines into messages, spreads these over partitions, each session in one, and projects
// them bit by bit. Transactions then have another order than in the history: that of `order`.
struct Projected {
  std::map<std::string, std::vector<std::string>> parts;  // The messages of each shard.
  std::string order;
};

Projected projected(const std::vector<std::string>& lines, ShardCounts counts,
                    std::optional<std::int64_t> initial, Random& random) {
  const auto session_of = [](const std::string& line) {
    const auto parsed = parse_history(line);
    return parsed.ok() && parsed->txn_count() == 1
               ? parsed->text(parsed->session_name(parsed->session(TxnId{0})))
               : "";
  };
  std::array<std::vector<std::string>, kPartitions> messages;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto& mine = messages[std::hash<std::string>()(session_of(lines[i])) % kPartitions];
    if (!mine.empty() && random() % 3 == 0) {
      mine.back() += '\n' + lines[i];
    } else {
      mine.push_back(lines[i]);
    }
  }
  const RawProjection projection(counts, initial, "raw");
  Projected out;
  out.order = lines[0] + '\n';
  std::array<std::size_t, kPartitions> next{};
  std::int64_t time = 1;
  const auto left = [&](std::size_t p) { return messages[p].size() - next[p]; };
  while (left(0) + left(1) + left(2) > 0) {
    const std::size_t p = random() % kPartitions;
    std::vector<RawMessage> some;
    for (std::size_t n = random() % 5; n > 0 && left(p) > 0; --n) {
      const std::string& text = messages[p][next[p]++];
      some.push_back({static_cast<std::int64_t>(next[p]), text});
      out.order += text + '\n';
    }
    for (ShardPart& part : projection.project(static_cast<std::int32_t>(p), some)) {
      EXPECT_EQ(part.missing, "");
      time += static_cast<std::int64_t>(random() % 700);
      if (random() % 2 == 0)
        part.clock = ShardPart::Clock{static_cast<std::uint32_t>(p), kPartitions, time};
      out.parts[name(part.shard)].push_back(message_of(part));
    }
  }
  return out;
}

// A shard that is checked by one process after the other.
class Owners {
 public:
  Owners(ShardId shard, ShardCounts counts, StreamOptions stream, Random& random)
      : options_{.shard = shard, .counts = counts, .stream = stream, .folder = {}},
        random_(random) {}

  // Takes all messages; sends what is found to `board`.
  void check(const std::vector<std::string>& messages, Board& board,
             std::vector<serving::EventText>& events) {
    begin();
    while (next_ < messages.size()) {
      ASSERT_TRUE(check_->take(messages[next_]).ok());
      ++next_;
      for (ToldEvent& event : check_->poll()) {
        if (event.number > told_) unsent_.push_back(std::move(event));
      }
      if (random_() % 3 == 0) send(board, events);
      if (random_() % 8 == 0) save(board, events);
      if (random_() % 8 == 0) begin();
    }
    send(board, events);
  }

 private:
  // Somebody new owns the shard, and knows only what was sent and saved.
  void begin() {
    auto folder = TemporaryFolder::make("kafka-test-");
    ASSERT_TRUE(folder.ok());
    check_.reset();
    folder_ = *std::move(folder);
    options_.folder = folder_.path();
    auto opened = ShardCheck::open(options_, records_);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    check_.emplace(*std::move(opened));
    next_ = static_cast<std::size_t>(check_->begin());
    unsent_.clear();
  }
  // Messages to the merger may come twice.
  void send(Board& board, std::vector<serving::EventText>& events) {
    if (next_ < sent_) return;
    const std::string shard = name(options_.shard);
    for (const ToldEvent& event : unsent_) {
      const auto taken = board.take(shard + '/' + std::to_string(event.number), event.line);
      ASSERT_TRUE(taken.ok()) << taken.error().to_string();
      ASSERT_TRUE(*taken) << event.line;
      events.push_back(**taken);
      EXPECT_FALSE(*board.take(shard + '/' + std::to_string(event.number), event.line));
    }
    unsent_.clear();
    ShardTally tally = check_->tally();
    tally.offset = static_cast<std::int64_t>(next_);
    told_ = tally.events;
    sent_ = next_;
    ASSERT_TRUE(board.take(shard, message_of(tally)).ok());
  }
  void save(Board& board, std::vector<serving::EventText>& events) {
    send(board, events);
    const RecordSink sink = [&](const std::string& record,
                                std::optional<std::string_view> content) -> Status {
      records_.erase(record);
      if (content) records_.emplace(record, *content);
      return {};
    };
    const Status saved = check_->save(static_cast<std::int64_t>(next_), sink);
    ASSERT_TRUE(saved.ok()) << saved.error().to_string();
  }

  ShardCheck::Options options_;
  Random& random_;
  TemporaryFolder folder_;
  std::optional<ShardCheck> check_;
  StateRecords records_;
  std::vector<ToldEvent> unsent_;
  std::size_t next_ = 0;
  std::size_t sent_ = 0;
  std::uint64_t told_ = 0;
};

// How many violations of each kind stand, by the events.
std::map<std::string, int> standing(const std::vector<serving::EventText>& events) {
  std::map<std::string, int> counts;
  for (const serving::EventText& event : events) {
    if (event.what == StreamEvent::What::Violation) ++counts[event.counted_as];
    if (event.what == StreamEvent::What::Withdrawal) --counts[event.counted_as];
  }
  std::erase_if(counts, [](const auto& each) { return each.second == 0; });
  return counts;
}

void expect_the_same(std::uint64_t seed, const History& history, Level level, ShardCounts counts,
                     std::size_t memory) {
  Random random(seed);
  const auto lines = lines_of(history);
  const Value initial = history.default_initial();
  if (!initial.is_null() && initial.kind() != ValueKind::Integer) return;
  const auto first = initial.is_null()
                         ? std::nullopt
                         : std::optional<std::int64_t>(std::stoll(history.text(initial)));
  Projected all = projected(lines, counts, first, random);
  const auto whole = parse_history(all.order);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  CheckOptions by_timestamps;
  by_timestamps.evidence = Evidence::Timestamps;
  const auto wanted = ouro::check(*whole, level, by_timestamps);
  if (!wanted.ok()) return;  // No timestamps at all, or a key that is a list and a register.
  // check() holds these against the database, a service against who recorded them.
  if (wanted->counts[static_cast<std::size_t>(AnomalyKind::MissingTimestamp)] > 0) return;
  // With a limit, rows that nobody asked for yet are forgotten, and what reads them is undecided.
  StreamOptions stream{.level = level,
                       .timeout = std::chrono::seconds(2),
                       .memory = whole->has_predicate_reads() ? 0 : memory};
  stream.retention = std::chrono::hours(1000);
  Board board(counts, level);
  std::vector<serving::EventText> events;
  std::vector<std::int64_t> ends;
  for (const ShardId shard : shards_of(counts)) {
    std::vector<std::string>& messages = all.parts[name(shard)];
    for (std::uint32_t p = 0; p < kPartitions; ++p) {  // Time passes.
      const ShardPart::Clock clock{p, kPartitions, 10'000'000};
      messages.push_back(
          message_of(ShardPart{.shard = shard, .counts = counts, .missing = {}, .clock = clock}));
    }
    ends.push_back(static_cast<std::int64_t>(messages.size()));
    Owners(shard, counts, stream, random).check(messages, board, events);
  }
  board.measure(0, 0, ends, {});
  const serving::Vitals vitals = board.vitals(Board::When::Finished, {});
  EXPECT_EQ(vitals.stream.counts, wanted->counts);
  EXPECT_EQ(vitals.outcome(), wanted->outcome);
  EXPECT_EQ(vitals.stream.window_txns, 0u);
  EXPECT_EQ(vitals.stream.txns + vitals.stream.left_out, whole->txn_count());
  EXPECT_EQ(vitals.txns[0] + vitals.txns[1] + vitals.txns[2], whole->txn_count());
  std::map<std::string, int> kinds;
  for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
    const auto count = static_cast<int>(wanted->counts[k]);
    if (count > 0) kinds[std::string(info(static_cast<AnomalyKind>(k)).name)] = count;
  }
  EXPECT_EQ(standing(events), kinds);
}

TEST(KafkaTest, WhoeverIsKilledTheShardsSayTogetherWhatTheWholeSays) {
  std::vector<Level> all;
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level, Evidence::Timestamps)) all.push_back(level.level);
  }
  for (std::uint64_t seed = 1; seed <= 400 / kSlowdown; ++seed) {
    const ShardCounts counts{static_cast<std::uint32_t>(1 + seed % 4),
                             static_cast<std::uint32_t>(1 + seed % 3)};
    const std::size_t memory = seed % 5 == 0 ? 1 : 0;
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_the_same(seed, random_whole(seed), all[seed % all.size()], counts, memory);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace ouro::kafka
