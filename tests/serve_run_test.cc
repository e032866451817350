// A workload that feeds a service while it runs: the whole loop, live.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/built_in.h"
#include "tests/run_program.h"
#include "tests/serve_process.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ServeRunTest, ARunFeedsItWhileItGoesOn) {
  ServeProcess service({"--level", "si"});
  const Ran run = run_program(
      {kOuroBinary, "run", "rocksdb:", "--serve", service.url(), "-n", "3000", "--keys", "20"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr(" took 3000 transactions"));
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0) << end.out << end.err;
  EXPECT_THAT(end.out, StartsWith("holds si by timestamps\n"));
}

TEST(ServeRunTest, TwoRunsAtTheSameTimeDoNotMeet) {
  ServeProcess service({"--level", "si"});
  const auto run = [&](std::string database, Ran& ran) {
    ran = run_program({kOuroBinary, "run", std::move(database), "--serve", service.url(), "-n",
                       "3000", "--keys", "20"});
  };
  Ran one, other;
  std::thread first([&] { run("sim:session-si", one); });
  run("sim:session-si", other);
  first.join();
  EXPECT_EQ(one.status, 0) << one.out << one.err;
  EXPECT_EQ(other.status, 0) << other.out << other.err;
  service.wait_until("all", [&] {
    return service.summary("/transactions") + service.summary("/left_out") == 6000;
  });
  EXPECT_NE(json_at(service.get("/summary").body, "/sources/2"), "(nothing)");
  const auto end = service.stop();
  EXPECT_EQ(end.status, 0) << end.out << end.err;
}

TEST(ServeRunTest, ARunWithoutSnapshotsShowsLostUpdatesThere) {
  ServeProcess service({"--level", "si"});
  const Ran run = run_program({kOuroBinary, "run", "rocksdb:?snapshot=off", "--workload",
                               "lost-update", "--serve", service.url(), "-n", "20000"});
  EXPECT_EQ(run.status, 0) << "at its own level: " << run.out << run.err;
  service.wait_until("a lost update",
                     [&] { return service.summary("/violations/write conflict") > 0; });
  const Reply first = service.get("/event/" + std::to_string(service.summary("/events")));
  EXPECT_THAT(json_at(first.body, "/anomaly"),
              AnyOf("\"lost update\"", "\"write conflict\"", "\"snapshot mismatch\""));
  EXPECT_EQ(service.stop().status, 1);
}

TEST(ServeRunTest, EveryDatabaseThatTellsItsTimestampsAtOnceCanFeed) {
  std::vector<const char*> urls{"sim:session-si"};
  if (db::kWithSqlite) urls.push_back("sqlite:");
  if (db::kWithWiredtiger) urls.push_back("wiredtiger:");
  if (db::kWithRocksdb) urls.push_back("rocksdb:?mode=optimistic");
  for (const char* url : urls) {
    ServeProcess service({"--level", "si"});
    const Ran run = run_program(
        {kOuroBinary, "run", url, "--serve", service.url(), "-n", "600", "-w", "list-append"});
    EXPECT_EQ(run.status, 0) << url << run.out << run.err;
    const auto end = service.stop();
    EXPECT_EQ(end.status, 0) << url << end.out << end.err;
    EXPECT_THAT(end.out, StartsWith("holds si by timestamps\n"));
  }
}

TEST(ServeRunTest, AServiceThatIsNotThereIsNamed) {
  const Ran run =
      run_program({kOuroBinary, "run", "sim:si", "-n", "10", "--serve", "http://127.0.0.1:1"});
  EXPECT_EQ(run.status, 254);
  EXPECT_THAT(run.err, HasSubstr("is 'ouro serve' running there?"));
  const Ran word = run_program({kOuroBinary, "run", "sim:si", "-n", "10", "--serve", "here"});
  EXPECT_EQ(word.status, 254);
  EXPECT_THAT(word.err, HasSubstr("is no URL"));
  ServeProcess locked({"--token", "s3cret"});
  const Ran refused =
      run_program({kOuroBinary, "run", "sim:si", "-n", "10", "--serve", locked.url()});
  EXPECT_EQ(refused.status, 254);
  EXPECT_THAT(refused.err, HasSubstr("set OURO_TOKEN"));
}

}  // namespace
}  // namespace ouro
