#include "db/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ouro::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ServerTest, WhatToStartIsRead) {
  const Result<StartRequest> plain = parse_start("postgres-standby");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->kind, ServerKind::PostgresStandby);
  EXPECT_EQ(plain->url_options, "");
  const Result<StartRequest> full =
      parse_start("galera?nodes=2&isolation=rr&set=a%3D1&snapshot_isolation=1&set=b=2");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->kind, ServerKind::Galera);
  EXPECT_EQ(full->options.nodes, 2u);
  EXPECT_EQ(full->url_options, "isolation=rr&snapshot_isolation=1");
  EXPECT_THAT(full->options.settings, ElementsAre("a=1", "b=2"));
  EXPECT_THAT(parse_start("oracle").error().what, HasSubstr("there are postgres"));
  EXPECT_THAT(parse_start("postgres?nodes=2").error().what, HasSubstr("nodes are for galera"));
  EXPECT_THAT(parse_start("galera?nodes=1").error().what, HasSubstr("from 2 to 9"));
}

TEST(ServerTest, EveryKindHasItsName) {
  for (const char* kind : {"postgres", "postgres-standby", "mariadb", "galera"}) {
    EXPECT_EQ(name(*parse_server_kind(kind)), kind);
  }
}

TEST(ServerTest, AMissingPackageIsNamed) {
  ::setenv("OURO_POSTGRES_BIN", "/no/such/folder", 1);
  const Status found = find_packages(ServerKind::Postgres);
  const auto server = start_server(ServerKind::Postgres);
  ::unsetenv("OURO_POSTGRES_BIN");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().what, HasSubstr("install postgresql-15"));
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().what, found.error().what);
}

}  // namespace
}  // namespace ouro::db
