// The service as its clients meet it: real processes, real sockets.

#include "ouro/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "ouro/ouro.h"
#include "tests/run_program.h"
#include "tests/serve_process.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// A transaction of `session` that reads `x` as `read` and writes it.
std::string update(const std::string& session, int start, int commit, const std::string& read,
                   int written) {
  return "{\"session\":\"" + session + "\",\"start_ts\":" + std::to_string(start) +
         ",\"commit_ts\":" + std::to_string(commit) + ",\"ops\":[[\"r\",\"x\"," + read +
         "],[\"w\",\"x\"," + std::to_string(written) + "]]}\n";
}

const std::string kFirst = update("a", 1, 4, "null", 1);
const std::string kLost = update("b", 2, 5, "null", 2);  // Overlaps with the first.
const std::string kFine = update("b", 5, 6, "1", 2);     // Follows it.
constexpr char kLostArray[] = R"([
  {"tid":1,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":4,"l":0},"rtts":7,
   "ops":[{"t":"r","k":7,"v":null},{"t":"w","k":7,"v":1}]},
  {"tid":2,"sid":2,"sts":{"p":"2","l":"0"},"cts":{"p":"5","l":"0"},
   "ops":[{"t":"r","k":7,"v":null},{"t":"w","k":7,"v":2}]}])";

std::string binary(const std::string& text) {
  const auto history = parse_history(text, {.format = Format::Native});
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  std::string out;
  EXPECT_TRUE(print_history(*history, Format::NativeBinary, out).ok());
  return out;
}

TEST(ServeTest, WhatAionsClientsSendIsJudgedAndReportedAtOnce) {
  ServeProcess service({});
  const Reply reply = service.post(kLostArray, "application/json");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(json_at(reply.body, "/transactions"), "2");
  service.wait_until("the event", [&] { return service.events().size() == 1; });
  const std::string event = service.events().front();
  EXPECT_EQ(json_at(event, "/event"), "1");
  EXPECT_EQ(json_at(event, "/kind"), "\"violation\"");
  EXPECT_EQ(json_at(event, "/anomaly"), "\"lost update\"");
  EXPECT_EQ(json_at(event, "/id"), "\"lost-update\"");
  EXPECT_EQ(json_at(event, "/story/kind"), "\"write conflict\"") << "by which it is counted";
  EXPECT_EQ(json_at(event, "/level"), "\"session-si\"");
  EXPECT_EQ(json_at(event, "/transactions/1/session"), "2");
  EXPECT_THAT(json_at(event, "/text"),
              HasSubstr("VIOLATED session-si by timestamps (lost update)"));
  EXPECT_EQ(service.get("/event/1").body, event + "\n");
  EXPECT_EQ(service.get("/event/2").status, 404);
  const auto end = service.stop();
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.out, StartsWith("VIOLATED session-si by timestamps (1 write conflict)\n\n"
                                  "2 transactions, 4 operations, 0 left out, 0 stragglers"));
}

TEST(ServeTest, EveryFormatAndOrderOfArrivalGivesTheSameVerdict) {
  for (const bool late : {false, true}) {
    ServeProcess service({"--timeout", "60"});
    EXPECT_EQ(service.post(late ? kFine : kFirst).status, 200);
    EXPECT_EQ(service.post(binary(late ? kFirst : kFine), "application/vnd.ouro").status, 200);
    EXPECT_EQ(service.post("[]", "application/json").status, 200);
    EXPECT_EQ(service.post("", "application/x-ndjson").status, 200);
    const auto end = service.stop();
    EXPECT_EQ(end.status, 0) << end.out << end.err;
    EXPECT_THAT(end.out, StartsWith("holds session-si by timestamps\n\n2 transactions"));
  }
}

// The second transaction of the session arrives first; it began before the first committed.
TEST(ServeTest, NumbersInTheSessionOrderItWhateverArrivesFirst) {
  const auto txn = [](int sno, const std::string& stamps, const std::string& ops) {
    return "{\"session\":\"a\",\"sno\":" + std::to_string(sno) + "," + stamps + ",\"ops\":[" + ops +
           "]}\n";
  };
  const std::string first = txn(1, R"("start_ts":1,"commit_ts":4)", R"(["w","x",1])");
  const std::string second = txn(2, R"("start_ts":5,"commit_ts":6)", R"(["r","x",1])");
  const std::string early = txn(2, R"("start_ts":3,"commit_ts":6)", R"(["r","x",null])");
  {
    ServeProcess service({});
    EXPECT_EQ(service.post(second).status, 200);
    EXPECT_EQ(service.post(first).status, 200);
    EXPECT_THAT(service.post(first).body, HasSubstr("had this \\\"sno\\\" already"));
    EXPECT_THAT(service.post(kFirst).body, HasSubstr("others have none"));
    EXPECT_EQ(service.stop().status, 0);
  }
  for (const bool together : {false, true}) {
    ServeProcess service({});
    EXPECT_EQ(service.post(together ? early + first : early).status, 200);
    if (!together) {
      EXPECT_EQ(service.post(first).status, 200);
    }
    const auto end = service.stop();
    EXPECT_EQ(end.status, 1);
    EXPECT_THAT(end.out, HasSubstr("1 session inversion")) << end.err;
  }
}

TEST(ServeTest, ABadBatchIsRefusedWholeWithTheReason) {
  ServeProcess service({});
  const Reply reply = service.post(kFirst + "{\"session\":\n");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(json_at(reply.body, "/error"), HasSubstr("body:2: "));
  const Reply mixed = service.post(
      kFirst + R"({"session":"c","start_ts":8,"commit_ts":9,"ops":[["append","x",5]]})" + "\n");
  EXPECT_EQ(mixed.status, 400);
  EXPECT_THAT(mixed.body, HasSubstr("list"));
  EXPECT_EQ(service.post("\x1f\x8b nonsense", "application/x-ndjson").status, 400);
  EXPECT_EQ(service.post(R"({"key":"x","versions":[1],"complete":true})").status, 400);
  EXPECT_EQ(service.post("{\"ouro\":1,\"initial\":0}\n" + kFirst).status, 400);
  EXPECT_EQ(service.summary("/transactions"), 0u);
  EXPECT_EQ(service.post(kFirst).status, 200) << "nothing of the bad ones is left";
  service.wait_until("one transaction", [&] { return service.summary("/transactions") == 1; });
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0);
  EXPECT_THAT(end.out, HasSubstr("1 transaction, 2 operations"));
  EXPECT_THAT(end.out, HasSubstr("5 rejected"));
}

TEST(ServeTest, InitialValuesAreWhatTheServiceWasTold) {
  ServeProcess service({"--initial", "0", "--timeout", "0.05"});
  const std::string zero = R"([{"tid":1,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},
    "ops":[{"t":"r","k":7,"v":0}]}])";
  const std::string nothing = R"([{"tid":2,"sid":1,"sts":{"p":3,"l":0},"cts":{"p":4,"l":0},
    "ops":[{"t":"r","k":7,"v":null}]}])";
  EXPECT_EQ(service.post(zero, "application/json").status, 200);
  EXPECT_EQ(service.post(nothing, "application/json").status, 200);
  service.wait_until("the event", [&] { return service.events().size() == 1; });
  EXPECT_EQ(json_at(service.events().front(), "/transactions/0/id"), "2");
  EXPECT_EQ(service.stop().status, 1);
}

TEST(ServeTest, AWriterThatComesTooLateWithdrawsAViolation) {
  ServeProcess service({"--timeout", "0.05"});
  EXPECT_EQ(service.post(kFine).status, 200);
  service.wait_until("the violation", [&] { return service.events().size() == 1; });
  EXPECT_EQ(service.post(kFirst).status, 200);
  service.wait_until("the withdrawal", [&] { return service.events().size() == 2; });
  EXPECT_EQ(json_at(service.events()[1], "/kind"), "\"withdrawal\"");
  EXPECT_EQ(json_at(service.events()[1], "/withdraws"), "1");
  service.wait_until("the count", [&] { return service.summary("/stragglers") == 1; });
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeTest, PredicateReadsAreJudgedToo) {
  ServeProcess service({"--timeout", "0.05"});
  const std::string scan =
      R"({"session":"a","start_ts":5,"commit_ts":6,"ops":[["scan","a","f",[["b",1],["e",7]]]]})";
  const std::string write =
      R"({"session":"b","start_ts":1,"commit_ts":2,"ops":[["w","b",1],["w","e",7],["w","g",8]]})";
  EXPECT_EQ(service.post(scan).status, 200);
  service.wait_until("the violation", [&] { return service.events().size() == 1; });
  const std::string event = service.events().front();
  EXPECT_EQ(json_at(event, "/anomaly"), "\"result-set mismatch\"");
  EXPECT_THAT(json_at(event, "/text"), HasSubstr("which by its timestamp it should not"));
  EXPECT_EQ(json_at(event, "/transactions/0/ops/0/0"), "\"scan\"");
  EXPECT_EQ(service.post(binary(write), "application/vnd.ouro").status, 200);
  service.wait_until("the withdrawal", [&] { return service.events().size() == 2; });
  EXPECT_EQ(json_at(service.events()[1], "/withdraws"), "1");
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeTest, OnlyThoseWithTheTokenMayAsk) {
  ServeProcess service({"--token", "s3cret", "--tcp", "127.0.0.1:0"});
  EXPECT_EQ(service.post(kFirst).status, 401);
  EXPECT_EQ(
      service.post(kFirst, "application/x-ndjson", {{"Authorization", "Bearer wrong"}}).status,
      401);
  const HeaderList shown = {{"Authorization", "Bearer s3cret"}};
  for (const char* path : {"/summary", "/metrics", "/events?live=no", "/event/1"}) {
    EXPECT_EQ(service.get(path).status, 401) << path;
    EXPECT_THAT(service.get(path, shown).status, AnyOf(200, 404)) << path;
  }
  EXPECT_EQ(service.get("/healthz").status, 200);
  EXPECT_EQ(service.get("/").status, 200) << "the page knows nothing yet";
  EXPECT_EQ(service.post(kFirst, "application/x-ndjson", shown).status, 200);
  FrameClient stranger(service.tcp_port());
  EXPECT_THAT(stranger.ask(kFine), HasSubstr("hello"));
  EXPECT_EQ(stranger.receive(), "") << "the connection is closed";
  FrameClient liar(service.tcp_port());
  EXPECT_THAT(liar.ask(R"({"hello":{"token":"s3cre"}})"), HasSubstr("wrong token"));
  FrameClient friendly(service.tcp_port());
  EXPECT_EQ(friendly.ask(R"({"hello":{"token":"s3cret"}})"), R"({"ok":true})");
  EXPECT_EQ(friendly.ask(kFine), R"({"ok":true,"transactions":1})");
}

TEST(ServeTest, PagesOfOtherSitesCannotUseIt) {
  ServeProcess service({});
  EXPECT_EQ(service.post(kFirst, "text/plain", {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(service.get("/summary", {{"Host", "evil.example:80"}}).status, 403);
  EXPECT_EQ(service.get("/summary", {{"Origin", service.url()}}).status, 200);
  EXPECT_EQ(service.summary("/transactions"), 0u);
}

TEST(ServeTest, ABatchThatIsTooLargeIsRefused) {
  ServeProcess service({"--body-limit", "1KB", "--tcp", "127.0.0.1:0"});
  std::string large;
  while (large.size() < 2000) large += kFirst;
  EXPECT_EQ(service.post(large).status, 413);
  EXPECT_EQ(service.post(kFirst).status, 200);
  FrameClient client(service.tcp_port());
  EXPECT_THAT(client.ask(large), HasSubstr("the limit is 1024"));
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeTest, FramesAreAnsweredInOrderAndARepeatedBatchIsNotAppliedTwice) {
  ServeProcess service({"--tcp", "127.0.0.1:0"});
  {
    FrameClient client(service.tcp_port());
    EXPECT_EQ(client.ask(R"({"hello":{"client":"app 1","next":1}})"), R"({"ok":true})");
    client.send(kFirst);
    client.send("{\"session\":\n");
    client.send(binary(kFine));
    EXPECT_EQ(client.receive(), R"({"ok":true,"transactions":1,"number":1})");
    EXPECT_THAT(client.receive(), StartsWith(R"({"ok":false,"error":"frame:1: )"));
    EXPECT_EQ(client.receive(), R"({"ok":true,"transactions":1,"number":3})");
  }
  FrameClient again(service.tcp_port());
  EXPECT_EQ(again.ask(R"({"hello":{"client":"app 1","next":3}})"), R"({"ok":true})");
  EXPECT_EQ(again.ask(kFine), R"({"ok":true,"transactions":1,"number":3,"repeated":true})");
  EXPECT_EQ(service.post(kFirst, "application/x-ndjson", {{"X-Ouro-Batch", "app 1/1"}}).body,
            R"({"ok":true,"transactions":1,"repeated":true})"
            "\n");
  EXPECT_EQ(service.post(kFirst, "application/x-ndjson", {{"X-Ouro-Batch", "app 1"}}).status, 400);
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0) << end.out;
  EXPECT_THAT(end.out, HasSubstr("\n2 transactions,"));
}

TEST(ServeTest, NonsenseOnItsSocketsDoesNotHurtIt) {
  ServeProcess service({"--tcp", "127.0.0.1:0", "--body-limit", "64KB"});
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::string bytes;
    if (round % 3 == 1)
      bytes = "POST /check HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n";
    if (round % 3 == 2) {
      bytes = "POST /check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    }
    for (std::size_t i = random() % 300; i > 0; --i) bytes += static_cast<char>(random());
    for (const int port : {service.http_port(), service.tcp_port()}) {
      const FrameClient client(port);
      static_cast<void>(client.send_raw(bytes));
    }
    // A frame that is whole, but no history.
    const FrameClient client(service.tcp_port());
    EXPECT_THAT(client.ask("OURO" + bytes), HasSubstr("\"ok\":false"));
  }
  EXPECT_EQ(service.post(kFirst).status, 200);
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeTest, ABusyServiceMakesClientsWaitInsteadOfLosingThem) {
  // One byte of queue: a batch fits only if it is alone.
  ServeProcess service({"--queue", "1"});
  std::atomic<int> taken{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 25; ++i) {
        const int at = 1000 * client + 10 * i;
        const std::string line = "{\"session\":" + std::to_string(client) +
                                 ",\"start_ts\":" + std::to_string(at) +
                                 ",\"commit_ts\":" + std::to_string(at + 5) + ",\"ops\":[[\"w\"," +
                                 std::to_string(client) + "," + std::to_string(i) + "]]}\n";
        int status = 503;
        while (status == 503) status = service.post(line).status;
        taken += status == 200 ? 1 : 0;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(taken, 100);
  const auto end = service.stop();
  EXPECT_THAT(end.out, HasSubstr("\n100 transactions, 100 operations"));
}

TEST(ServeTest, StandardInputEndsTheServiceAndBadLinesAreLeftOut) {
  ServeProcess service({"-", "--events", "-"});
  const std::string inverted =
      R"({"session":"d","invoked":2,"completed":1,"start_ts":8,"commit_ts":9,"ops":[]})";
  service.write_input("{\"ouro\":1}\n" + kFirst + "nonsense\n" + inverted + "\n" +
                      kLost.substr(0, 10));
  service.write_input(kLost.substr(10));
  service.write_input(update("c", 7, 8, "1", 3).substr(0, 60));  // Cut off.
  service.close_input();
  const auto end = service.wait();
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.out, HasSubstr("\"kind\":\"input-fault\""));
  EXPECT_THAT(end.out, HasSubstr("\"kind\":\"violation\",\"anomaly\":\"lost update\""));
  EXPECT_THAT(end.err, HasSubstr("standard input: left out a line: "));
  EXPECT_THAT(end.err, HasSubstr("completed at 1, before it was invoked at 2"));
  EXPECT_THAT(end.err, HasSubstr("VIOLATED session-si by timestamps (1 write conflict)"));
  EXPECT_THAT(end.err, HasSubstr("3 rejected"));
}

TEST(ServeTest, OtherFormatsComeThroughStandardInputToo) {
  for (const std::string& input : {std::string(kLostArray), binary(kFirst + kLost)}) {
    ServeProcess service({"-"});
    service.write_input(input);
    service.close_input();
    const auto end = service.wait();
    EXPECT_EQ(end.status, 1) << end.err;
    EXPECT_THAT(end.out, HasSubstr("\n2 transactions,"));
  }
}

TEST(ServeTest, AGrowingFileIsFollowedThroughRotationAndCutting) {
  ScratchFolder folder;
  const std::string path = folder / "history.jsonl";
  ServeProcess service({"--follow", path});
  const auto append = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
  };
  const auto await = [&](std::uint64_t count) {
    service.wait_until(std::to_string(count) + " transactions",
                       [&] { return service.summary("/transactions") == count; });
  };
  append("{\"ouro\":1}\n" + update("a", 1, 2, "null", 1) + update("a", 3, 4, "1", 2).substr(0, 30));
  await(1);
  append(update("a", 3, 4, "1", 2).substr(30));
  await(2);
  append(update("a", 5, 6, "2", 3));
  std::filesystem::rename(path, path + ".1");
  append(update("a", 7, 8, "3", 4));
  await(4);
  std::filesystem::copy_file(path, path + ".2");
  std::ofstream(path, std::ios::binary | std::ios::trunc).close();
  service.wait_until("the cut", [&] { return service.err().find("was cut") != std::string::npos; });
  append(update("a", 9, 10, "4", 5));
  await(5);
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0) << end.out << end.err;
  EXPECT_THAT(end.err, HasSubstr("was cut"));
}

// Reads /events from now on, on a thread of its own.
class EventReader {
 public:
  // Waits until the service has begun to answer, so that the reader gets what happens from now on.
  explicit EventReader(const ServeProcess& service, const std::string& path = "/events")
      : thread_([this, &service, path] {
          service.stream(
              path, [this] { begun_.count_down(); },
              [this](const std::string& bytes) {
                const std::lock_guard lock(mutex_);
                text_ += bytes;
              });
          if (!begun_.try_wait()) begun_.count_down();  // No answer came.
        }) {
    begun_.wait();
  }
  [[nodiscard]] std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  // Waits for the end of the stream.
  [[nodiscard]] std::string all() {
    thread_.join();
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::latch begun_{1};
  std::thread thread_;
};

TEST(ServeTest, EventsAreStreamedLiveAndThoseOfTheEndToo) {
  ServeProcess service({"--timeout", "600"});
  EventReader reader(service);
  EXPECT_EQ(service.post(kFirst + kLost).status, 200);
  service.wait_until("the event", [&] { return reader.text().ends_with('\n'); });
  EXPECT_EQ(json_at(reader.text(), "/event"), "1");
  EventReader later(service, "/events?after=1");
  // Reads what nobody wrote, as far as is known.
  EXPECT_EQ(service.post(update("c", 9, 10, "7", 8)).status, 200);
  service.wait_until("a provisional violation",
                     [&] { return service.summary("/provisional") == 1; });
  EXPECT_EQ(service.summary("/events"), 1u) << "it may still come";
  EXPECT_EQ(service.stop().status, 1);
  const std::string all = reader.all();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
  EXPECT_EQ(json_at(later.all(), "/event"), "2");
}

TEST(ServeTest, ProvisionalViolationsDoNotCountYet) {
  ServeProcess service({"--timeout", "600"});
  EXPECT_EQ(service.post(kFine).status, 200);
  service.wait_until("a provisional violation",
                     [&] { return service.summary("/provisional") == 1; });
  EXPECT_EQ(json_at(service.get("/summary").body, "/verdict"), "\"holds\"");
  EXPECT_EQ(service.post(kFirst).status, 200);
  service.wait_until("the flip", [&] { return service.summary("/flips") == 1; });
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeTest, WebhooksAreRetriedAndDeliveredInOrder) {
  std::mutex mutex;
  std::vector<std::string> got;
  int calls = 0;
  PostServer server([&](const std::string& body) {
    const std::lock_guard lock(mutex);
    if (++calls % 2 == 1) return 500;
    got.push_back(json_at(body, "/event"));
    return 200;
  });
  ServeProcess service({"--webhook", server.url()});
  EXPECT_EQ(service.post(kFirst + kLost).status, 200);
  EXPECT_EQ(service.post(update("c", 3, 6, "null", 3)).status, 200);
  std::uint64_t events = 0;
  service.wait_until("deliveries", [&] {
    events = service.summary("/events");
    const std::lock_guard lock(mutex);
    return got.size() >= 2 && got.size() == events;
  });
  EXPECT_EQ(service.stop().status, 1);
  const std::lock_guard lock(mutex);  // Some may have come since, and their thread is still there.
  ASSERT_EQ(got.size(), events);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::to_string(i + 1));
}

TEST(ServeTest, MetricsHaveTheirNamesAndCount) {
  ServeProcess service({});
  EXPECT_EQ(service
                .post(kFirst + kLost +
                      R"({"session":"d","status":"aborted","ops":[["w","x",9]]})"
                      "\n")
                .status,
            200);
  service.wait_until("the counts", [&] {
    const std::string text = service.get("/metrics").body;
    return text.find(
               "ouro_violations_total{level=\"session-si\",anomaly=\"write conflict\"} 1\n") !=
               text.npos &&
           text.find("ouro_transactions_total{status=\"committed\"} 2\n") != text.npos;
  });
  const Reply reply = service.get("/metrics");
  EXPECT_THAT(reply.headers.at("Content-Type"), StartsWith("text/plain; version=0.0.4"));
  for (const char* line :
       {"ouro_transactions_total{status=\"committed\"} 2\n",
        "ouro_transactions_total{status=\"aborted\"} 1\n",
        "ouro_transactions_total{status=\"unknown\"} 0\n", "\nouro_verdict_flips_total ",
        "\nouro_window_transactions ", "\nouro_resident_bytes ", "\nouro_lag_seconds ",
        "\nouro_check_duration_seconds_bucket{le=\"+Inf\"} 1\n",
        "\nouro_check_duration_seconds_count 1\n", "\nouro_gc_transactions_total ",
        "\nouro_unknown_total 0\n", "# TYPE ouro_check_duration_seconds histogram\n"}) {
    EXPECT_THAT(reply.body, HasSubstr(line));
  }
  EXPECT_EQ(service.get("/healthz").body, "ok\n");
  EXPECT_EQ(service.get("/nothing").status, 404);
}

TEST(ServeTest, UsageIsExplained) {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kOuroBinary, "serve"});
    const Ran ran = run_program(arguments);
    EXPECT_EQ(ran.status, 254) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_THAT(refused({"--level", "causal"}), HasSubstr("timestamps cannot decide causal"));
  EXPECT_THAT(refused({"--listen", "7117"}), HasSubstr("write HOST:PORT"));
  EXPECT_THAT(refused({"--memory", "much"}), HasSubstr("is no size"));
  EXPECT_THAT(refused({"--memory", "1GB"}), HasSubstr("--state"));
  EXPECT_THAT(refused({"file.jsonl"}), HasSubstr("--follow"));
  EXPECT_THAT(refused({"--listen", "none"}), HasSubstr("no input"));
  EXPECT_THAT(refused({"--webhook", "nowhere"}), HasSubstr("is no URL"));
  EXPECT_THAT(refused({"--initial", "x"}), HasSubstr("neither an integer nor null"));
  ServeProcess service({});
  const std::string address = service.url().substr(7);
  EXPECT_THAT(refused({"--listen", address}), HasSubstr("cannot listen at " + address));
}

}  // namespace
}  // namespace ouro
