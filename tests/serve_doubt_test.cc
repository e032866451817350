// Input that is missing or wrong is the fault of who recorded it, and never held against the
// database.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/serve_process.h"

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

constexpr char kLines[] = "application/x-ndjson";

std::string verdict_of(const ServeProcess& service, int source) {
  return json_at(service.get("/summary").body, "/sources/" + std::to_string(source) + "/verdict");
}

TEST(ServeDoubtTest, ASourceWhoseRecorderTakesItBackIsUndecidedAlsoAfterACrash) {
  ScratchFolder folder;
  const std::vector<std::string> arguments{"--state", folder / "state", "--timeout", "0.05"};
  const HeaderList shop{{"X-Ouro-Source", "shop"}};
  std::vector<std::string> told;
  {
    ServeProcess service(arguments);
    EXPECT_EQ(service.post(writes("a", 1, "null", 1)).status, 200);
    EXPECT_EQ(service.post(writes("s", 5, "7", 8), kLines, shop).status, 200);
    service.wait_until("the accusation", [&] { return service.events().size() == 1; });
    service.wait_until("the verdict", [&] { return verdict_of(service, 1) == "\"violated\""; });
    const Reply reply = service.post("the table orders was altered\n", "text/plain", {},
                                     "/source/shop/undecided");
    EXPECT_EQ(reply.status, 200) << reply.body;
    // It can no longer be accused of anything.
    const Reply more = service.post(writes("s", 9, "77", 8), kLines, shop);
    EXPECT_EQ(more.body, "{\"ok\":true,\"transactions\":1,\"undecided\":true}\n");
    service.wait_until("the event", [&] { return service.events().size() == 2; });
    told = service.events();
    EXPECT_EQ(json_at(told.back(), "/kind"), "\"undecided\"");
    EXPECT_EQ(json_at(told.back(), "/voids"), "\"everything\"");
    EXPECT_EQ(json_at(told.back(), "/reason"), "\"the table orders was altered\"");
    EXPECT_EQ(json_at(told.back(), "/source"), "\"shop\"");
    service.kill();
  }
  for (int life = 0; life < 2; ++life) {  // From the log, then from a checkpoint.
    ServeProcess service(arguments);
    EXPECT_EQ(service.events(), told);
    EXPECT_EQ(verdict_of(service, 0), "\"holds\"");
    EXPECT_EQ(verdict_of(service, 1), "\"undecided\"");
    const std::string summary = service.get("/summary").body;
    EXPECT_EQ(json_at(summary, "/verdict"), "\"undecided\"");
    EXPECT_EQ(json_at(summary, "/sources/1/doubt/reason"), "\"the table orders was altered\"");
    const std::string metrics = service.get("/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("ouro_verdict 2\n"));
    EXPECT_THAT(metrics, HasSubstr("ouro_source_verdict{source=\"shop\"} 2\n"));
    const auto end = service.stop();
    EXPECT_EQ(end.status, 2);
    EXPECT_THAT(end.out, HasSubstr("UNDECIDED session-si by timestamps (shop: the table orders"));
  }
  ServeProcess service(arguments);
  // Another source is judged as ever.
  EXPECT_EQ(service.post(writes("b", 5, "7", 8)).status, 200);
  service.wait_until("the violation", [&] { return service.events().size() == 3; });
  EXPECT_EQ(service.stop().status, 1);
}

TEST(ServeDoubtTest, ADoubtMayComeBeforeTheFirstBatchAndTwiceAndIsForgottenWithItsSource) {
  ServeProcess service({"--timeout", "0.05"});
  for (const std::string reason : {"", "again"}) {
    EXPECT_EQ(service.post(reason, "text/plain", {}, "/source/default/undecided").status, 200);
  }
  EXPECT_EQ(service.post(writes("s", 5, "7", 8)).status, 200);
  service.wait_until("the verdict", [&] { return verdict_of(service, 0) == "\"undecided\""; });
  EXPECT_EQ(json_at(service.get("/summary").body, "/sources/0/doubt/reason"),
            "\"its recorder says so\"");
  service.wait_until("the events", [&] { return service.events().size() == 2; });
  EXPECT_EQ(service.post("x", "text/plain", {}, "/source//undecided").status, 404);
  EXPECT_EQ(service.post(std::string(5000, 'x'), "text/plain", {}, "/source/long/undecided").status,
            200);
  service.wait_until("the event", [&] { return service.events().size() == 3; });
  EXPECT_THAT(service.events().back(), HasSubstr("xx…\""));
  EXPECT_EQ(service.stop().status, 2);
}

TEST(ServeDoubtTest, WhatIsLeftOutOfALineInputAccusesNobody) {
  ServeProcess service({"-", "--timeout", "0.05", "--events", "-"});
  // The writer of 2 is cut off.
  service.write_input("{\"ouro\":1}\n" + writes("a", 1, "null", 1) + "{\"session\":\"b\",\"sta\n" +
                      writes("c", 5, "2", 3));
  service.close_input();
  const auto end = service.wait();
  EXPECT_EQ(end.status, 2) << end.out;
  EXPECT_THAT(end.out, HasSubstr("\"kind\":\"input-fault\""));
  EXPECT_THAT(end.out, HasSubstr("\"kind\":\"undecided\",\"anomaly\":\"snapshot mismatch\""));
  EXPECT_THAT(end.out, testing::Not(HasSubstr("\"kind\":\"violation\"")));
  EXPECT_THAT(end.err, HasSubstr("UNDECIDED session-si by timestamps (standard input: left out"));
}

TEST(ServeDoubtTest, WhatKnownTransactionsShowStillCountsBesideWhatIsMissing) {
  ServeProcess service({"-", "--timeout", "0.05"});
  service.write_input("{\"ouro\":1}\nnonsense\n");
  service.write_input(writes("a", 1, "null", 1, 4) + writes("b", 2, "null", 2, 5));
  service.close_input();
  const auto end = service.wait();
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.out, HasSubstr("VIOLATED session-si by timestamps (1 write conflict)"));
}

TEST(ServeDoubtTest, ALineThatIsTooLongOrAnInputThatIsNoHistoryLeavesTheVerdictOpen) {
  const std::string read = writes("c", 5, "2", 3);
  for (const std::string& input :
       {std::string(3000, 'x') + "\n" + read, std::string(3000, 'x'), std::string("[{\"tid\":")}) {
    ServeProcess service({"-", "--timeout", "0.05", "--body-limit", "1KB"});
    service.write_input(input);
    service.close_input();
    const auto end = service.wait();
    EXPECT_EQ(end.status, 2) << end.out;
    EXPECT_THAT(end.out, HasSubstr("standard input: "));
  }
}

TEST(ServeDoubtTest, WhatWasLeftOutOfAFileIsRememberedAfterACrash) {
  ScratchFolder folder;
  const std::string path = folder / "live.jsonl";
  const std::vector<std::string> arguments{"--state",  folder / "state", "--timeout", "0.05",
                                           "--follow", path};
  std::ofstream(path) << "{\"ouro\":1}\n" << writes("a", 1, "null", 1) << "nonsense\n";
  {
    ServeProcess service(arguments);
    service.wait_until("the fault", [&] { return service.events().size() == 1; });
    service.kill();
  }
  std::ofstream(path, std::ios::app) << writes("c", 5, "2", 3);
  ServeProcess service(arguments);
  service.wait_until("all", [&] { return service.summary("/transactions") == 2; });
  service.wait_until("the event", [&] { return service.events().size() == 2; });
  EXPECT_EQ(json_at(service.events().back(), "/kind"), "\"undecided\"");
  EXPECT_EQ(service.summary("/rejected"), 0u);
  EXPECT_THAT(service.get("/metrics").body, HasSubstr("ouro_verdict 2\n"));
  EXPECT_EQ(service.stop().status, 2);
}

TEST(ServeDoubtTest, ARestThatIsGoneLeavesTheVerdictOpenEverywhere) {
  ScratchFolder folder;
  const std::string path = folder / "live.jsonl";
  const std::vector<std::string> arguments{"--state",  folder / "state", "--timeout", "0.05",
                                           "--follow", path};
  std::ofstream(path) << "{\"ouro\":1}\n" << writes("a", 1, "null", 1);
  {
    ServeProcess service(arguments);
    service.wait_until("the first", [&] { return service.summary("/transactions") == 1; });
    service.kill();
  }
  std::ofstream(folder / "other") << "{\"ouro\":1}\n" << writes("c", 5, "2", 3);
  std::filesystem::rename(folder / "other", path);
  for (int life = 0; life < 2; ++life) {
    ServeProcess service(arguments);
    service.wait_until("both", [&] { return service.summary("/transactions") == 2; });
    service.wait_until("the events", [&] { return service.events().size() == 2; });
    EXPECT_EQ(json_at(service.events().front(), "/id"), "\"missing-input\"");
    EXPECT_EQ(json_at(service.get("/summary").body, "/verdict"), "\"undecided\"");
    EXPECT_THAT(service.get("/metrics").body, HasSubstr("ouro_verdict 2\n"));
    service.kill();
  }
}

TEST(ServeDoubtTest, TwoRotationsAtOnceOfWhichOneFileIsLeftAccuseNobody) {
  ScratchFolder folder;
  const std::string path = folder / "live.jsonl";
  ServeProcess service({"--timeout", "0.05", "--follow", path});
  const std::string head = "{\"ouro\":1}\n";
  std::ofstream(path) << head << writes("a", 1, "null", 1);
  service.wait_until("the first", [&] { return service.summary("/transactions") == 1; });
  std::ofstream(folder / "middle") << head << writes("b", 3, "1", 2);
  std::ofstream(folder / "last") << head << writes("c", 5, "2", 3);
  std::filesystem::rename(folder / "middle", path + ".1");
  std::filesystem::rename(folder / "last", path);  // The first file is gone.
  service.wait_until("all", [&] { return service.summary("/transactions") == 3; });
  EXPECT_EQ(service.summary("/gaps"), 1u);  // There may have been others.
  EXPECT_EQ(service.stop().status, 2);
}

// The file is cut, as rotation with "copytruncate" does, with a copy or without, while the service
// runs or not, and grows beyond where it was read to or not.
TEST(ServeDoubtTest, AFileThatWasCutIsReadFromItsCopyOrLeavesTheVerdictOpen) {
  const std::string head = "{\"ouro\":1}\n";
  for (int way = 0; way < 8; ++way) {
    SCOPED_TRACE(way);
    const bool copied = (way & 1) != 0;
    const bool longer = (way & 2) != 0;
    const bool down = (way & 4) != 0;
    ScratchFolder folder;
    const std::string path = folder / "live.jsonl";
    const std::vector<std::string> arguments{"--state",  folder / "state", "--timeout", "0.05",
                                             "--follow", path};
    std::ofstream(path) << head << writes("a", 1, "null", 1);
    auto service = std::make_unique<ServeProcess>(arguments);
    service->wait_until("the first", [&] { return service->summary("/transactions") == 1; });
    if (down) service->kill();
    const std::string next = writes("a", 3, "1", 2);
    const std::string rest = writes("a", 5, "2", 3) + (longer ? writes("a", 7, "3", 4) : "");
    // All in one step, so that a service that runs sees only what comes of it.
    std::ofstream(folder / "copy") << head << writes("a", 1, "null", 1) << next;
    if (copied) std::filesystem::rename(folder / "copy", path + ".1");
    std::ofstream(path, std::ios::in | std::ios::out | std::ios::trunc) << head << rest;
    if (down) service = std::make_unique<ServeProcess>(arguments);
    const std::uint64_t all = (copied ? 3 : 2) + (longer ? 1 : 0);
    service->wait_until("all", [&] { return service->summary("/transactions") == all; });
    EXPECT_EQ(service->summary("/gaps"), copied ? 0u : 1u);
    const auto end = service->stop();
    EXPECT_EQ(end.status, copied ? 0 : 2) << end.out << end.err;
  }
}

TEST(ServeDoubtTest, AfterACrashAndRotationsAllIsReadInOrder) {
  ScratchFolder folder;
  const std::string path = folder / "live.jsonl";
  const std::vector<std::string> arguments{"--state",  folder / "state", "--timeout", "0.05",
                                           "--follow", path};
  const std::string head = "{\"ouro\":1}\n";
  std::ofstream(path) << head << writes("a", 1, "null", 1);
  {
    ServeProcess service(arguments);
    service.wait_until("the first", [&] { return service.summary("/transactions") == 1; });
    service.kill();
  }
  std::ofstream(path, std::ios::app) << writes("a", 3, "1", 2);
  std::filesystem::rename(path, path + ".2");
  std::ofstream(path + ".1") << head << writes("a", 5, "2", 3);
  std::ofstream(path) << head << writes("a", 7, "3", 4);
  ServeProcess service(arguments);
  service.wait_until("all", [&] { return service.summary("/transactions") == 4; });
  EXPECT_EQ(service.stop().status, 0);
}

}  // namespace
}  // namespace ouro
