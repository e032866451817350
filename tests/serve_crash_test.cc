// The service is killed again and again; nothing that it acknowledged may be lost or counted twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "ouro/ouro.h"
#include "tests/files.h"
#include "tests/random_timeline.h"
#include "tests/serve_process.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Transactions as lines of native text, some of them wrong.
std::vector<std::string> random_lines(std::uint64_t seed, std::size_t txns, std::size_t keys = 12) {
  oracle::TimelineShape shape;
  shape.txns = txns;
  shape.keys = keys;
  shape.sessions = 6;
  shape.last_stamp = static_cast<std::int64_t>(txns) * 10;
  shape.wrong = 0.02;
  const History history = oracle::random_timeline(seed, shape);
  std::string text;
  EXPECT_TRUE(print_history(history, Format::Native, text).ok());
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("{\"session\"")) lines.push_back(line);
  }
  return lines;
}

// What the events say is violated now, by kind; each number once.
std::map<std::string, int> told(const std::string& events) {
  std::map<std::string, int> counts;
  std::vector<std::string> kinds;
  std::uint64_t expected = 1;
  for (const std::string& line : lines_of(events)) {
    EXPECT_EQ(json_at(line, "/event"), std::to_string(expected++)) << "lost or doubled";
    kinds.push_back(json_at(line, "/id"));
    const std::string withdraws = json_at(line, "/withdraws");
    if (withdraws != "(nothing)") --counts[kinds.at(std::stoul(withdraws) - 1)];
    if (json_at(line, "/kind") == "\"violation\"") ++counts[kinds.back()];
  }
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  return counts;
}

// To the service a transaction without timestamps is a fault of its recorder, no violation.
void forgive_recorder(Verdict& verdict) {
  verdict.counts[static_cast<std::size_t>(AnomalyKind::MissingTimestamp)] = 0;
}

std::string counts_text(const std::array<std::uint64_t, kAnomalyKindCount>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    std::string number = std::to_string(counts[i]);
    if (number.size() > 3) number.insert(number.size() - 3, ",");
    text += (text.empty() ? " (" : ", ") + number + ' ' +
            std::string(info(static_cast<AnomalyKind>(i)).name);
  }
  return text.empty() ? text : text + ')';
}

// Sends batch after batch over HTTP until the service took it; the service may be killed meanwhile.
class Sender {
 public:
  Sender(std::vector<std::string> batches, std::string client)
      : batches_(std::move(batches)), client_(std::move(client)) {}

  // Sends until all is sent or the service is gone; a third of all at most, so that however slowly
  // it is killed, it is killed more than once.
  void send(const ServeProcess& service) {
    const std::size_t end = std::min(batches_.size(), sent_ + (batches_.size() + 2) / 3);
    while (sent_ < end) {
      const Reply reply =
          service.post(batches_[sent_], "application/x-ndjson",
                       {{"X-Ouro-Batch", client_ + '/' + std::to_string(sent_ + 1)}});
      if (reply.status != 200) return;
      ++sent_;
    }
  }
  [[nodiscard]] bool done() const { return sent_ == batches_.size(); }
  [[nodiscard]] std::size_t sent() const { return sent_; }

 private:
  std::vector<std::string> batches_;
  std::string client_;
  std::atomic<std::size_t> sent_ = 0;
};

TEST(ServeCrashTest, KilledAtRandomMomentsItSaysInTheEndWhatTheOfflineCheckSays) {
  for (std::uint64_t seed = 1; seed <= (kSlowdown == 1 ? 4 : 2); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    ScratchFolder folder;
    const std::string state = folder / "state";
    const bool small = seed % 2 == 0;  // Hardly anything stays in memory.
    const std::vector<std::string> lines =
        random_lines(seed, kSlowdown == 1 ? 250 : 100, small ? 200 : 12);
    std::vector<std::string> batches;
    std::string all;
    for (std::size_t i = 0; i < lines.size();) {
      std::string batch;
      for (std::size_t count = 1 + random() % 8; count > 0 && i < lines.size(); --count) {
        batch += lines[i++] + '\n';
      }
      all += batch;
      batches.push_back(batch);
    }
    Sender sender(batches, "test");
    std::vector<std::string> arguments = {"--state", state,          "--timeout",
                                          "0.05",    "--checkpoint", "0"};
    if (small) arguments.insert(arguments.end(), {"--memory", "1KB"});
    int kills = 0;
    for (; !sender.done(); ++kills) {
      ServeProcess service(arguments);
      ASSERT_NE(service.http_port(), 0) << service.err();
      const std::size_t before = sender.sent();
      std::thread sending([&] { sender.send(service); });
      // Every other time something gets done, however slow the machine is.
      while (kills % 2 == 1 && sender.sent() == before) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
      service.kill();
      sending.join();
      ASSERT_LT(kills, 300);
    }
    ServeProcess service(arguments);
    EXPECT_EQ(service.summary("/keys_left") > 0, small);
    const auto end = service.stop();
    const auto history = parse_history(all, {.format = Format::Native});
    ASSERT_TRUE(history.ok());
    auto verdict = check(*history, Level::SessionSi, {.evidence = Evidence::Timestamps});
    ASSERT_TRUE(verdict.ok());
    forgive_recorder(*verdict);
    EXPECT_EQ(end.status, verdict->outcome == Outcome::Holds ? 0 : 1) << end.err;
    const std::string first = end.out.substr(0, end.out.find('\n'));
    EXPECT_EQ(first, (verdict->outcome == Outcome::Holds ? "holds" : "VIOLATED") +
                         std::string(" session-si by timestamps") + counts_text(verdict->counts));
    const std::map<std::string, int> events = told(slurp(state + "/events.ndjson"));
    int told_all = 0, counted = 0;
    for (const auto& [kind, count] : events) told_all += count;
    for (const std::uint64_t count : verdict->counts) counted += static_cast<int>(count);
    EXPECT_EQ(told_all, counted);
    EXPECT_GT(kills, 1);
  }
}

// The same over TCP, with many frames under way when the service dies.
TEST(ServeCrashTest, FramesThatWereNotAnsweredAreSentAgain) {
  ScratchFolder folder;
  std::mt19937_64 random(11);
  const std::vector<std::string> lines = random_lines(11, kSlowdown == 1 ? 600 : 200);
  const std::vector<std::string> arguments = {"--state",     folder / "state", "--tcp",
                                              "127.0.0.1:0", "--timeout",      "0.05"};
  std::size_t answered = 0;
  int kills = 0;
  for (; answered < lines.size(); ++kills) {
    ServeProcess service(arguments);
    const FrameClient client(service.tcp_port());
    client.send("{\"hello\":{\"client\":\"c\",\"next\":" + std::to_string(answered + 1) + "}}");
    // A third of all at a time, so that however slowly it is killed, it is killed more than once.
    std::thread sending([&, first = answered] {
      const std::size_t end = std::min(lines.size(), first + lines.size() / 3);
      for (std::size_t i = first; i < end && client.send(lines[i] + '\n'); ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 60));
      service.kill();
    });
    EXPECT_THAT(client.receive(), testing::AnyOf("", "{\"ok\":true}"));
    for (std::string answer; !(answer = client.receive()).empty(); ++answered) {
      ASSERT_EQ(json_at(answer, "/ok"), "true") << answer;
      ASSERT_EQ(json_at(answer, "/number"), std::to_string(answered + 1));
    }
    sending.join();
    killer.join();
    ASSERT_LT(kills, 300);
  }
  ServeProcess service(arguments);
  EXPECT_EQ(service.summary("/transactions") + service.summary("/left_out"), lines.size());
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  const auto history = parse_history(all, {.format = Format::Native});
  auto verdict = check(*history, Level::SessionSi, {.evidence = Evidence::Timestamps});
  ASSERT_TRUE(verdict.ok());
  forgive_recorder(*verdict);
  const auto end = service.stop();
  EXPECT_THAT(end.out, StartsWith("VIOLATED session-si by timestamps" +
                                  counts_text(verdict->counts) + "\n"));
  EXPECT_GT(kills, 1);
}

TEST(ServeCrashTest, AFileThatIsFollowedThroughRotationsIsNeitherReadTwiceNorSkipped) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  const std::string path = folder / "history.jsonl";
  const std::vector<std::string> lines = random_lines(5, 300);
  std::ofstream(path, std::ios::binary) << lines.front() << '\n';
  {
    ServeProcess service({"--state", state, "--follow", path});
    service.wait_until("the first", [&] {
      return service.summary("/transactions") + service.summary("/left_out") == 1;
    });
    service.kill();
  }
  std::atomic<bool> written{false};
  std::thread writer([&] {
    std::ofstream file(path, std::ios::binary | std::ios::app);
    std::mt19937 random(5);
    int rotated = 0;
    for (const std::string& line : std::span(lines).subspan(1)) {
      if (random() % 30 == 0) {
        file.close();
        std::filesystem::rename(path, path + "." + std::to_string(++rotated));
        file.open(path, std::ios::binary);
      }
      const std::size_t cut = random() % line.size();
      file << line.substr(0, cut) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 3));
      file << line.substr(cut) << '\n' << std::flush;
    }
    written = true;
  });
  std::mt19937 random(6);
  while (!written) {
    ServeProcess service({"--state", state, "--follow", path});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
    service.kill();
  }
  writer.join();
  ServeProcess service({"--state", state, "--follow", path});
  service.wait_until("all transactions", [&] {
    return service.summary("/transactions") + service.summary("/left_out") == lines.size();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(service.summary("/transactions") + service.summary("/left_out"), lines.size());
  EXPECT_EQ(service.summary("/gaps"), 0u);
}

TEST(ServeCrashTest, AGracefulEndAndANewBeginningGoOnWithTheSameState) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  const auto line = [](int n, int read) {
    return "{\"session\":1,\"start_ts\":" + std::to_string(2 * n) +
           ",\"commit_ts\":" + std::to_string(2 * n + 1) + ",\"ops\":[[\"r\",\"x\"," +
           (read == 0 ? "null" : std::to_string(read)) + "],[\"w\",\"x\"," + std::to_string(n) +
           "]]}\n";
  };
  for (int n = 1; n <= 4; ++n) {
    ServeProcess service({"--state", state});
    // The third read is stale.
    EXPECT_EQ(service
                  .post(line(n, n == 3 ? 1 : n - 1), "application/x-ndjson",
                        {{"X-Ouro-Batch", "c/" + std::to_string(n)}})
                  .status,
              200);
    EXPECT_THAT(service.post(line(1, 0), "application/x-ndjson", {{"X-Ouro-Batch", "c/1"}}).body,
                HasSubstr("repeated"))
        << n;
    const auto end = service.stop();
    EXPECT_EQ(end.status, n < 3 ? 0 : 1) << end.err;
    EXPECT_THAT(end.out, HasSubstr("\n" + std::to_string(n) + " transaction"));
    EXPECT_EQ(lines_of(slurp(state + "/events.ndjson")).size(), n < 3 ? 0u : 1u);
  }
}

// Two writers of one key that overlap.
std::string conflict(int n) {
  std::string lines;
  for (int writer = 0; writer < 2; ++writer) {
    lines += "{\"session\":" + std::to_string(2 * n + writer) +
             ",\"start_ts\":" + std::to_string(10 * n + writer) +
             ",\"commit_ts\":" + std::to_string(10 * n + 5 + writer) + ",\"ops\":[[\"w\"," +
             std::to_string(n) + "," + std::to_string(writer) + "]]}\n";
  }
  return lines;
}

// What a killed process had sent may be handled late, behind the newest, so the last one delivered
// says nothing.
bool contains(const std::vector<int>& delivered, int event) {
  return std::find(delivered.begin(), delivered.end(), event) != delivered.end();
}

TEST(ServeCrashTest, EventFilesAndWebhooksMissNothing) {
  ScratchFolder folder;
  std::mutex mutex;
  std::vector<int> delivered;
  PostServer server([&](const std::string& body) {
    const std::lock_guard lock(mutex);
    delivered.push_back(std::stoi(json_at(body, "/event")));
    return 200;
  });
  const std::string file = folder / "events";
  const std::vector<std::string> arguments = {"--state", folder / "state", "--events",
                                              file,      "--webhook",      server.url()};
  constexpr int kConflicts = 12;
  for (int n = 0; n < kConflicts; ++n) {
    ServeProcess service(arguments);
    const HeaderList named = {{"X-Ouro-Batch", "c/" + std::to_string(n + 1)}};
    ASSERT_EQ(service.post(conflict(n), "application/x-ndjson", named).status, 200);
    std::this_thread::sleep_for(std::chrono::milliseconds(n % 4));
    service.kill();
  }
  ServeProcess service(arguments);
  service.wait_until("all deliveries", [&] {
    const std::lock_guard lock(mutex);
    return contains(delivered, kConflicts);
  });
  EXPECT_EQ(service.stop().status, 1);
  const std::vector<std::string> lines = lines_of(slurp(file));
  ASSERT_EQ(lines.size(), kConflicts + 0u);
  for (int n = 0; n < kConflicts; ++n) {
    EXPECT_EQ(json_at(lines[static_cast<std::size_t>(n)], "/event"), std::to_string(n + 1));
  }
  // At least once each, and for the first time in order: what a killed process had sent may be
  // handled late, behind what the next one sent again.
  std::vector<int> first;
  for (const int event : delivered) {
    if (!contains(first, event)) first.push_back(event);
  }
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(first.size(), kConflicts + 0u);
}

// Events that are in DIR, by number, from both files.
std::vector<int> kept_events(const std::string& state) {
  std::vector<int> numbers;
  for (const char* const file : {"/events.old.ndjson", "/events.ndjson"}) {
    for (const std::string& line : lines_of(slurp(state + file))) {
      numbers.push_back(std::stoi(json_at(line, "/event")));
    }
  }
  return numbers;
}

TEST(ServeCrashTest, OldEventsAreDroppedButNoneThatTheWebhookDidNotGet) {
  ScratchFolder folder;
  std::mutex mutex;
  std::vector<int> delivered;
  std::atomic<bool> takes = false;
  PostServer server([&](const std::string& body) {
    const std::lock_guard lock(mutex);
    if (takes) delivered.push_back(std::stoi(json_at(body, "/event")));
    return takes ? 200 : 503;
  });
  const std::string state = folder / "state";
  const std::vector<std::string> arguments = {
      "--state", state, "--webhook", server.url(), "--events-retention", "20KB"};
  constexpr int kBatches = 40;
  constexpr int kConflicts = 10;  // In each.
  for (int n = 0; n < kBatches;) {
    ServeProcess service(arguments);
    for (int some = 0; some < 8; ++some, ++n) {
      std::string batch;
      for (int i = 0; i < kConflicts; ++i) batch += conflict(n * kConflicts + i);
      ASSERT_EQ(service.post(batch).status, 200);
    }
    service.kill();
    if (n == kBatches / 2 - 4) {
      EXPECT_EQ(kept_events(state).front(), 1) << "dropped what was not delivered";
      takes = true;
    }
  }
  ServeProcess service(arguments);
  constexpr int kLast = kBatches * kConflicts;
  const auto wait_for_delivery = [&](int event) {
    service.wait_until("the delivery", [&] {
      const std::lock_guard lock(mutex);
      return contains(delivered, event);
    });
  };
  wait_for_delivery(kLast);
  // All is delivered, so now they can be dropped: as soon as enough is behind them.
  constexpr int kMore = 4 * kConflicts;
  for (int i = 0; i < kMore; ++i) {
    ASSERT_EQ(service.post(conflict(kLast + i)).status, 200);
    wait_for_delivery(kLast + i + 1);
  }
  EXPECT_EQ(service.stop().status, 1);
  EXPECT_EQ(std::set<int>(delivered.begin(), delivered.end()).size(), kLast + kMore + 0u);
  const std::vector<int> kept = kept_events(state);
  ASSERT_FALSE(kept.empty());  // How many, depends on when the webhook was answered.
  EXPECT_EQ(kept.back(), kLast + kMore);
  EXPECT_EQ(kept.back() - kept.front() + 1, static_cast<int>(kept.size()));
  EXPECT_GT(kept.front(), kLast / 2);
  EXPECT_LT(slurp(state + "/events.ndjson").size(), 12'000u);
}

TEST(ServeCrashTest, WithLittleMemoryItSpillsSurvivesAndJudgesTheSame) {
  ScratchFolder folder;
  GenerateOptions options;
  options.store = Level::StrictSerializable;
  options.txns = 30'000;
  options.keys = 20'000;
  options.timestamps = true;
  const auto history = generate(options);
  std::string text;
  ASSERT_TRUE(print_history(*history, Format::Native, text).ok());
  const std::string path = folder / "history.jsonl";
  std::ofstream(path, std::ios::binary) << text;
  const std::vector<std::string> arguments = {
      "--state", folder / "state", "--follow", path,       "--timeout",
      "0.05",    "--checkpoint",   "1",        "--memory", "2MB"};
  const auto taken = [](const ServeProcess& service) {
    return service.summary("/transactions") + service.summary("/left_out");
  };
  {
    ServeProcess service(arguments);
    service.wait_until("some input", [&] { return taken(service) > 5'000; });
    service.kill();
  }
  ServeProcess service(arguments);
  service.wait_until("all input", [&] { return taken(service) == history->txn_count(); });
  service.wait_until("something on disk", [&] { return service.summary("/disk_bytes") > 0; });
  service.wait_until("keys on disk", [&] { return service.summary("/keys_left") > 0; });
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0) << end.out << end.err;
}

TEST(ServeCrashTest, AStateIsUsedByOneServiceWithOneLevel) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  ServeProcess service({"--state", state});
  EXPECT_NE(service.http_port(), 0);
  ServeProcess second({"--state", state});
  EXPECT_EQ(second.wait().status, 254);
  EXPECT_THAT(second.err(), HasSubstr("another ouro serve uses this folder"));
  EXPECT_EQ(service.stop().status, 0);
  ServeProcess other({"--state", state, "--level", "ser"});
  EXPECT_EQ(other.wait().status, 254);
  EXPECT_THAT(other.err(), HasSubstr("this state has level session-si"));
}

TEST(ServeCrashTest, ALogThatIsDamagedInTheMiddleIsRefused) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  {
    ServeProcess service({"--state", state});
    for (const std::string& line : random_lines(9, 20)) {
      EXPECT_EQ(service.post(line + '\n').status, 200);
    }
    service.kill();
  }
  std::fstream log(state + "/input-1.log", std::ios::binary | std::ios::in | std::ios::out);
  log.seekp(20);  // In the first record.
  log << '?';
  log.close();
  ServeProcess service({"--state", state});
  EXPECT_EQ(service.wait().status, 254);
  EXPECT_THAT(service.err(), HasSubstr("input-1.log: damaged at byte 0"));
  EXPECT_THAT(service.err(), HasSubstr("--repair"));
  {
    ServeProcess repaired({"--state", state, "--repair"});
    EXPECT_THAT(repaired.err(), HasSubstr("lost: bytes 0 to "));
    EXPECT_EQ(repaired.summary("/transactions") + repaired.summary("/left_out"), 19u);
    EXPECT_EQ(json_at(repaired.events().back(), "/kind"), "\"input-fault\"");
    EXPECT_EQ(json_at(repaired.get("/summary").body, "/sources/0/doubt/voids"), "\"reads\"");
    repaired.kill();
  }
  ServeProcess again({"--state", state});
  EXPECT_EQ(again.summary("/transactions") + again.summary("/left_out"), 19u);
}

TEST(ServeCrashTest, ALogWhoseLastRecordIsTornIsContinued) {
  ScratchFolder folder;
  const std::string state = folder / "state";
  const std::vector<std::string> lines = random_lines(9, 20);
  {
    ServeProcess service({"--state", state});
    for (const std::string& line : lines) EXPECT_EQ(service.post(line + '\n').status, 200);
    service.kill();
  }
  const std::string log = state + "/input-1.log";
  ASSERT_GT(std::filesystem::file_size(log), 100u);
  std::ofstream(log, std::ios::binary | std::ios::app)
      << std::string("OL2\xf5\x99\x01\0\0torn", 12);
  ServeProcess service({"--state", state});
  EXPECT_EQ(service.summary("/transactions") + service.summary("/left_out"), lines.size());
  EXPECT_EQ(service.post(lines.back() + '\n').status, 200);
}

}  // namespace
}  // namespace ouro
