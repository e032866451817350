// The tables of `ouro hermitage` for servers: those of docs/hermitage.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hermitage_facts.h"
#include "tests/live_servers.h"

namespace ouro {
namespace {

using db::ServerKind;

TEST(LiveHermitageTest, PostgreSql) {
  OURO_NEEDS_SERVER(ServerKind::Postgres);
  const Table expected{{"isolation=rc",
                        "PMP P4 G-single G2-item G2 PMP-write P4-delete G-single-pred "
                        "G-single-write G2-three"},
                       {"isolation=rr", "G2-item G2 G2-three"},
                       {"isolation=ser", ""}};
  EXPECT_EQ(occurring({.url = db::url_of(*live_server(ServerKind::Postgres))}), expected);
}

// The index on the column by which rows are deleted lets a snapshot's delete miss a row.
TEST(LiveHermitageTest, MariaDb) {
  OURO_NEEDS_SERVER(ServerKind::MariaDb);
  const std::string all =
      "PMP P4 G-single G2-item G2 P4-delete G-single-pred G-single-write G2-three";
  const Table expected{{"isolation=ru", "G1a G1b G1c OTV " + all},
                       {"isolation=rc", all},
                       {"isolation=rr", "P4 G2-item G2 P4-delete G-single-write G2-three"},
                       {"isolation=rr&snapshot_isolation=1", "G2-item G2 G-single-write G2-three"},
                       {"isolation=ser", ""}};
  EXPECT_EQ(occurring({.url = db::url_of(*live_server(ServerKind::MariaDb))}), expected);
}

TEST(LiveHermitageTest, AServerThatTellsWhoWaitsIsBelieved) {
  for (const ServerKind kind : {ServerKind::Postgres, ServerKind::MariaDb}) {
    OURO_NEEDS_SERVER(kind);
    const auto report = hermitage(
        {.url = db::url_of(*live_server(kind)), .isolation = "rc", .only = {"P4", "G1a"}});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_FALSE(report->rows[0].cells[0].waited);  // G1a
    EXPECT_TRUE(report->rows[0].cells[1].waited);   // P4
  }
}

}  // namespace
}  // namespace ouro
