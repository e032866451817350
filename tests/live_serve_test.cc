// Workloads on real servers that feed a service while they run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/live_servers.h"
#include "tests/run_program.h"
#include "tests/serve_process.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(LiveServeTest, PostgresFeedsItWhileItGoesOn) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  const std::string url = db::url_of(*live_server(db::ServerKind::Postgres));
  for (const std::string isolation : {"rr", "ser"}) {
    for (const std::string workload : {"general", "list-append"}) {
      ServeProcess service({"--level", "si"});
      const Ran run =
          run_program({kOuroBinary, "run", url + "?isolation=" + isolation, "--serve",
                       service.url(), "-n", "3000", "--keys", "20", "-w", workload});
      EXPECT_EQ(run.status, 0) << run.out << run.err;
      EXPECT_THAT(run.err, HasSubstr(" took "));
      const auto end = service.stop();
      EXPECT_EQ(end.status, 0) << end.out << end.err;
      EXPECT_THAT(end.out, StartsWith("holds si by timestamps\n"));
    }
  }
}

TEST(LiveServeTest, AtReadCommittedPostgresCannot) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  ServeProcess service({"--level", "si"});
  const std::string url = db::url_of(*live_server(db::ServerKind::Postgres));
  const Ran run =
      run_program({kOuroBinary, "run", url + "?isolation=rc", "--serve", service.url(), "-n", "9"});
  EXPECT_EQ(run.status, 254) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("tells no timestamps while it runs"));
}

// Connections stall and break, and the answers of commits are lost.
TEST(LiveServeTest, NobodyIsAccusedBecauseOfAPause) {
  OURO_NEEDS_SERVER(db::ServerKind::Postgres);
  ServeProcess service({"--level", "si"});
  const Ran run = run_program({kOuroBinary, "run", "--start", "postgres?isolation=rr", "--nemesis",
                               "pause", "--patience", "0.3", "--serve", service.url(), "-s", "6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  const auto end = service.stop();
  EXPECT_THAT(end.out, Not(HasSubstr("VIOLATED"))) << end.err;
}

}  // namespace
}  // namespace ouro
