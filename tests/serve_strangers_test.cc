// Clients that a service must survive, and sources that must not meet.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/address.h"
#include "tests/run_program.h"
#include "tests/serve_process.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::HasSubstr;

std::string writes(const std::string& session, int start, const std::string& read, int written,
                   int commit) {
  return "{\"session\":\"" + session + "\",\"start_ts\":" + std::to_string(start) +
         ",\"commit_ts\":" + std::to_string(commit) + ",\"ops\":[[\"r\",\"x\"," + read +
         "],[\"w\",\"x\"," + std::to_string(written) + "]]}\n";
}

std::string writes(const std::string& session, int start, const std::string& read, int written) {
  return writes(session, start, read, written, start + 1);
}

// A connection that sends what it is told to, and no more.
class RawClient {
 public:
  explicit RawClient(int port)
      : port_(std::to_string(port)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  // In place of "HOST" it sends the name of the service.
  void send(std::string bytes) const {
    constexpr std::string_view kHost = "HOST";
    const std::size_t host = bytes.find(kHost);
    if (host != bytes.npos) bytes.replace(host, kHost.size(), "localhost:" + port_);
    static_cast<void>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  // All that comes until the connection ends, or `enough` has come.
  [[nodiscard]] std::string receive(const std::string& enough) const {
    std::string all;
    char buffer[4096];
    while (all.find(enough) == std::string::npos) {
      const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      all.append(buffer, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  std::string port_;
  int socket_;
  bool connected_ = false;
};

std::string post_head(const std::string& more) {
  return "POST /check HTTP/1.1\r\nHost: HOST\r\n" + more + "\r\n";
}

TEST(ServeStrangersTest, SourcesNeverMeet) {
  ScratchFolder folder;
  const std::vector<std::string> arguments{"--state", folder / "state", "--timeout", "0.05"};
  {
    ServeProcess service(arguments);
    // The same keys, sessions and timestamps; together they would be a lost update.
    EXPECT_EQ(service.post(writes("s", 1, "null", 1)).status, 200);
    for (const std::string source : {"one", "two"}) {
      EXPECT_EQ(
          service
              .post(writes("s", 1, "null", 1), "application/x-ndjson", {{"X-Ouro-Source", source}})
              .status,
          200);
    }
    service.wait_until("all", [&] { return service.summary("/transactions") == 3; });
    EXPECT_EQ(json_at(service.get("/summary").body, "/verdict"), "\"holds\"");
    EXPECT_EQ(
        service.post(writes("s", 5, "7", 8), "application/x-ndjson", {{"X-Ouro-Source", "two"}})
            .status,
        200);
    service.wait_until("the event", [&] { return service.events().size() == 1; });
    EXPECT_EQ(json_at(service.events().front(), "/source"), "\"two\"");
    service.kill();
  }
  ServeProcess service(arguments);
  service.wait_until("all", [&] { return service.summary("/transactions") == 4; });
  const std::string summary = service.get("/summary").body;
  EXPECT_EQ(json_at(summary, "/verdict"), "\"violated\"");
  EXPECT_EQ(json_at(summary, "/sources/1/source"), "\"one\"");
  EXPECT_EQ(json_at(summary, "/sources/1/verdict"), "\"holds\"");
  EXPECT_EQ(json_at(summary, "/sources/2/verdict"), "\"violated\"");
  EXPECT_THAT(service.get("/metrics").body, HasSubstr("ouro_source_verdict{source=\"two\"} 1\n"));
  EXPECT_THAT(service.get("/metrics").body, HasSubstr("source=\"two\"} 1\n"));
  RawClient client(service.http_port());
  client.send("DELETE /source/two HTTP/1.1\r\nHost: HOST\r\n\r\n");
  EXPECT_THAT(client.receive("}"), HasSubstr("200 OK"));
  client.send("DELETE /source/two HTTP/1.1\r\nHost: HOST\r\n\r\n");
  EXPECT_THAT(client.receive("}"), HasSubstr("404 Not Found"));
  service.wait_until("forgotten", [&] { return service.summary("/transactions") == 2; });
  EXPECT_EQ(json_at(service.get("/summary").body, "/verdict"), "\"holds\"");
  service.kill();
  ServeProcess again(arguments);
  again.wait_until("the rest", [&] { return again.summary("/transactions") == 2; });
  EXPECT_EQ(again.events().size(), 1u);
  // The name may be used again, for something new.
  EXPECT_EQ(
      again.post(writes("s", 1, "null", 1), "application/x-ndjson", {{"X-Ouro-Source", "two"}})
          .status,
      200);
  EXPECT_EQ(again.stop().status, 0);
}

TEST(ServeStrangersTest, AHeadIsAnsweredWithoutABody) {
  ServeProcess service({});
  const RawClient client(service.http_port());
  client.send("HEAD /healthz HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
  const std::string answer = client.receive("\r\n\r\n never");
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST(ServeStrangersTest, NamesOfSourcesAreTextAndNoneIsTheDefault) {
  ServeProcess service({"--tcp", "127.0.0.1:0"});
  for (const char* name : {"\xff", "a\xc3", "default"}) {
    const Reply reply =
        service.post(writes("a", 1, "null", 1), "application/x-ndjson", {{"X-Ouro-Source", name}});
    EXPECT_EQ(reply.status, 400) << name;
    EXPECT_THAT(reply.body, HasSubstr("X-Ouro-Source"));
  }
  const FrameClient client(service.tcp_port());
  EXPECT_THAT(client.ask("{\"hello\":{\"source\":\"default\"}}"), HasSubstr("source must be"));
  const Reply fine = service.post(writes("a", 1, "null", 1), "application/x-ndjson",
                                  {{"X-Ouro-Source", "\xc3\xbc"}});
  EXPECT_EQ(fine.status, 200) << fine.body;
  std::string metrics;  // They follow a moment later.
  for (int i = 0; i < 200 && metrics.find("source=\"\xc3\xbc\"") == metrics.npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    metrics = service.get("/metrics").body;
  }
  EXPECT_THAT(metrics, HasSubstr("source=\"\xc3\xbc\""));
}

TEST(ServeStrangersTest, SourcesOfFramesAreNamedInTheHello) {
  ServeProcess service({"--tcp", "127.0.0.1:0"});
  for (const std::string source : {"one", "two"}) {
    FrameClient client(service.tcp_port());
    EXPECT_EQ(client.ask("{\"hello\":{\"source\":\"" + source + "\"}}"), "{\"ok\":true}");
    EXPECT_THAT(client.ask(writes("s", 1, "null", 1)), HasSubstr("\"ok\":true"));
  }
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeStrangersTest, IdleSlowAndHalfSentRequestsKeepNobodyWaiting) {
  ServeProcess service({});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 900; ++i) {
    auto client = std::make_unique<RawClient>(service.http_port());
    if (!client->connected()) break;
    if (i % 4 == 1) client->send("GET /healthz HT");
    if (i % 4 == 2) client->send(post_head("Content-Length: 1000\r\n") + "{\"sess");
    if (i % 4 == 3) client->send("GET /events HTTP/1.1\r\nHost: HOST\r\n\r\n");
    clients.push_back(std::move(client));
  }
  EXPECT_GT(clients.size(), 300u);
  EXPECT_EQ(service.get("/healthz").body, "ok\n");
  EXPECT_EQ(service.post(writes("s", 1, "null", 1)).status, 200);
  EXPECT_EQ(service.stop().status, 0);  // Readers of events never go away by themselves.
}

TEST(ServeStrangersTest, WhatIsAnnouncedButNotSentTakesNoRoom) {
  ServeProcess service({"--tcp", "127.0.0.1:0"});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(service.http_port()));
    clients.back()->send(post_head("Content-Length: 33554432\r\n") + "{\"session");
    clients.push_back(std::make_unique<RawClient>(service.http_port()));
    clients.back()->send(post_head("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"));
    clients.push_back(std::make_unique<RawClient>(service.tcp_port()));
    clients.back()->send(std::string("\0\0\0\2{\"session", 13));
  }
  EXPECT_EQ(service.post(writes("s", 1, "null", 1)).status, 200);
  FrameClient frames(service.tcp_port());
  EXPECT_THAT(frames.ask(writes("s", 5, "1", 2)), HasSubstr("\"ok\":true"));
  EXPECT_EQ(service.stop().status, 0);
}

// Native text of that size with `line`.
std::string padded(std::size_t bytes, const std::string& line) {
  return std::string(bytes - line.size(), '\n') + line;
}

TEST(ServeStrangersTest, WhoStopsInTheMiddleLosesItsRoomWhenOthersNeedIt) {
  ServeProcess service({"--queue", "1MB", "--tcp", "127.0.0.1:0"});
  const std::string most(900'000, '\n');
  const RawClient half(service.http_port());
  half.send(post_head("Content-Length: 1000000\r\n") + most);
  service.wait_until("the half", [&] { return service.summary("/queue_bytes") == 900'000; });
  int status = 503;
  while (status == 503) status = service.post(padded(500'000, writes("s", 1, "null", 1))).status;
  EXPECT_EQ(status, 200);
  EXPECT_THAT(half.receive("}"), HasSubstr("408 Request Timeout"));
  // The same with frames.
  const RawClient frame(service.tcp_port());
  frame.send(std::string("\x40\x42\x0f\0", 4) + most);
  service.wait_until("the half", [&] { return service.summary("/queue_bytes") >= 900'000; });
  const FrameClient whole(service.tcp_port());
  EXPECT_THAT(whole.ask(padded(500'000, writes("s", 5, "1", 2))), HasSubstr("\"ok\":true"));
  EXPECT_THAT(frame.receive("}"), HasSubstr("took too long"));
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeStrangersTest, WhoHasNoTokenTakesNoRoomAndIdleConnectionsMakeWay) {
  ServeProcess service({"--queue", "1MB", "--tcp", "127.0.0.1:0", "--token", "secret"});
  const RawClient stranger(service.tcp_port());
  stranger.send(std::string("\x40\x42\x0f\0", 4));
  EXPECT_THAT(stranger.receive("}"), HasSubstr("must be a hello"));
  const std::string hello = R"({"hello":{"token":"secret"}})";
  std::vector<std::unique_ptr<FrameClient>> clients;
  for (int i = 0; i < 300; ++i) {  // More than there may be.
    clients.push_back(std::make_unique<FrameClient>(service.tcp_port()));
    ASSERT_EQ(clients.back()->ask(hello), "{\"ok\":true}") << i;
  }
  EXPECT_EQ(clients.front()->ask(hello), "");
  EXPECT_THAT(clients.back()->ask(writes("s", 1, "null", 1)), HasSubstr("\"ok\":true"));
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeStrangersTest, AWebhookThatNeverAnswersDoesNotKeepItFromEnding) {
  const auto silent = net::listen_at({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(silent.ok());
  ServeProcess service(
      {"--webhook", "http://127.0.0.1:" + std::to_string(silent->port), "--timeout", "0.01"});
  for (int i = 0; i < 3; ++i) {
    const std::string reads = writes("s" + std::to_string(i), 10 * i + 1, "99", i);
    EXPECT_EQ(service.post(reads).status, 200);
  }
  service.wait_until("the events", [&] { return service.events().size() == 3; });
  EXPECT_TRUE(net::readable(silent->socket, 60'000));  // The first delivery is under way.
  EXPECT_EQ(service.get("/healthz").body, "ok\n");
  const auto end = service.stop();
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.err, HasSubstr("3 events were not delivered"));
  ::close(silent->socket);
}

TEST(ServeStrangersTest, ManyReadersOfEventsAllGetThem) {
  ServeProcess service({"--timeout", "0.01"});
  std::vector<std::unique_ptr<RawClient>> readers;
  for (int i = 0; i < 100; ++i) {
    readers.push_back(std::make_unique<RawClient>(service.http_port()));
    readers.back()->send("GET /events HTTP/1.1\r\nHost: HOST\r\n\r\n");
  }
  EXPECT_EQ(service.post(writes("s", 1, "7", 1)).status, 200);
  for (const auto& reader : readers) {
    EXPECT_THAT(reader->receive("\"kind\":\"violation\""), HasSubstr("\"event\":1"));
  }
}

TEST(ServeStrangersTest, HostAndOriginAreComparedWhole) {
  ServeProcess service({});
  const auto status = [&](const HeaderList& headers) {
    return service.get("/summary", headers).status;
  };
  const std::string port = std::to_string(service.http_port());
  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(status({{"Host", "localhost:" + port}}), 200);
  EXPECT_EQ(status({{"Host", "localhost:1"}}), 403);
  EXPECT_EQ(status({{"Host", "localhost"}}), 403);
  EXPECT_EQ(status({{"Host", "127.0.0.1.evil.com"}}), 403);
  EXPECT_EQ(status({{"Host", "127.evil.com:" + port}}), 403);
  EXPECT_EQ(status({{"Host", "localhost.evil.com"}}), 403);
  const std::string host = "127.0.0.1:" + port;
  EXPECT_EQ(status({{"Host", host}, {"Origin", "http://" + host}}), 200);
  EXPECT_EQ(status({{"Host", host}, {"Origin", "http://127.0.0.1:1"}}), 403);
  EXPECT_EQ(status({{"Host", host}, {"Origin", "http://127.0.0.1"}}), 403);
  EXPECT_EQ(status({{"Host", host}, {"Origin", "http://" + host + ".evil.com"}}), 403);
  EXPECT_EQ(status({{"Host", host}, {"Origin", "null"}}), 403);
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in = text;
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

TEST(ServeStrangersTest, GzipOfSeveralMembersIsReadToItsEndAndATornOneIsRefused) {
  ServeProcess service({"--body-limit", "1KB"});
  const HeaderList zipped{{"Content-Encoding", "gzip"}};
  const std::string both = gzip(writes("a", 1, "null", 1)) + gzip(writes("b", 3, "1", 2));
  const Reply whole = service.post(both, "application/x-ndjson", zipped);
  EXPECT_EQ(json_at(whole.body, "/transactions"), "2");
  const Reply torn = service.post(both.substr(0, both.size() - 5), "application/x-ndjson", zipped);
  EXPECT_EQ(torn.status, 400);
  EXPECT_THAT(torn.body, HasSubstr("too early"));
  EXPECT_EQ(service.post(gzip("a") + "xyz", "application/x-ndjson", zipped).status, 400);
  EXPECT_EQ(service.post(gzip(std::string(100'000, ' ')), "application/x-ndjson", zipped).status,
            413);
  EXPECT_EQ(service.stop().status, 0);
}

TEST(ServeStrangersTest, BeyondThisMachineItWantsAToken) {
  const auto refused = run_program({kOuroBinary, "serve", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(refused.status, 254);
  EXPECT_THAT(refused.err, HasSubstr("--insecure"));
  ServeProcess service({"--listen", "0.0.0.0:0", "--insecure"});
  EXPECT_GT(service.http_port(), 0);
}

TEST(ServeStrangersTest, ATransactionWithoutTimestampsIsAFaultOfItsRecorder) {
  ServeProcess service({"--timeout", "0.05"});
  EXPECT_EQ(service
                .post(R"({"session":"a","ops":[["w","x",1]]})"
                      "\n" +
                      writes("b", 5, "1", 2))
                .status,
            200);
  service.wait_until("the end", [&] { return service.summary("/undecided") == 1; });
  service.wait_until("the fault", [&] { return service.events().size() == 1; });
  EXPECT_EQ(json_at(service.events().front(), "/kind"), "\"input-fault\"");
  EXPECT_EQ(json_at(service.get("/summary").body, "/verdict"), "\"undecided\"");
  EXPECT_EQ(service.events().size(), 1u);
  // What nobody wrote is a violation as before.
  EXPECT_EQ(service.post(writes("b", 7, "9", 3)).status, 200);
  service.wait_until("the violation", [&] { return service.events().size() == 2; });
  EXPECT_THAT(service.get("/metrics").body, HasSubstr("ouro_input_faults_total 1\n"));
  EXPECT_EQ(service.stop().status, 1);
}

TEST(ServeStrangersTest, CountersOfEventsSurviveARestart) {
  ScratchFolder folder;
  const std::vector<std::string> arguments{"--state", folder / "state", "--timeout", "0.01"};
  const std::string counter = "ouro_violations_total{level=\"session-si\",anomaly=";
  {
    ServeProcess service(arguments);
    EXPECT_EQ(service.post(writes("b", 7, "9", 3)).status, 200);
    service.wait_until("the violation", [&] { return service.events().size() == 1; });
    EXPECT_THAT(service.get("/metrics").body, HasSubstr(counter));
    EXPECT_EQ(service.stop().status, 1);
  }
  ServeProcess service(arguments);
  EXPECT_THAT(service.get("/metrics").body, HasSubstr(counter));
  EXPECT_THAT(service.get("/metrics").body, HasSubstr("ouro_verdict 1\n"));
  EXPECT_EQ(service.stop().status, 1);
  // Events that are gone are noticed.
  std::filesystem::resize_file(folder / "state/events.ndjson", 0);
  ServeProcess damaged(arguments);
  EXPECT_THAT(damaged.wait().err, HasSubstr("has 0 events, and there were 1"));
}

TEST(ServeStrangersTest, ALostUpdateIsCountedAsWhatWasFoundAlsoWhenEventsAreReadAgain) {
  ScratchFolder folder;
  const std::vector<std::string> arguments{"--state", folder / "state", "--timeout", "0.01"};
  const std::string counter =
      "ouro_violations_total{level=\"session-si\",anomaly=\"write conflict\"} 1\n";
  for (int life = 0; life < 2; ++life) {
    ServeProcess service(arguments);
    if (life == 0) {
      const std::string both = writes("a", 1, "null", 1, 4) + writes("b", 2, "null", 2, 5);
      EXPECT_EQ(service.post(both).status, 200);
    }
    service.wait_until("the event", [&] { return service.events().size() == 1; });
    EXPECT_EQ(json_at(service.events().front(), "/anomaly"), "\"lost update\"");
    EXPECT_EQ(json_at(service.events().front(), "/counted_as"), "\"write conflict\"");
    EXPECT_THAT(service.get("/metrics").body, HasSubstr(counter));
    service.kill();
  }
}

}  // namespace
}  // namespace ouro
