#include "db/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ouro::db {
namespace {

using testing::HasSubstr;

TEST(UrlTest, FilesAreThePath) {
  const auto url = parse_url("SQLite:/tmp/a b.db?mode=wal&x=%20y");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "sqlite");
  EXPECT_EQ(url->path, "/tmp/a b.db");
  EXPECT_TRUE(url->hosts.empty());
  ASSERT_EQ(url->options.size(), 2u);
  EXPECT_EQ(url->options[1].second, " y");
}

TEST(UrlTest, ServersHaveUserHostsAndDatabase) {
  const auto url = parse_url("mysql://me:s%40fe@db1:3306,[::1]:3307,%2Ftmp%2Fx/test");
  ASSERT_TRUE(url.ok()) << url.error().to_string();
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "s@fe");
  EXPECT_EQ(url->path, "test");
  ASSERT_EQ(url->hosts.size(), 3u);
  EXPECT_EQ(url->hosts[0].name, "db1");
  EXPECT_EQ(url->hosts[0].port, 3306);
  EXPECT_EQ(url->hosts[1].name, "::1");
  EXPECT_EQ(url->hosts[1].port, 3307);
  EXPECT_EQ(url->hosts[2].name, "/tmp/x");
  EXPECT_EQ(url->hosts[2].port, 0);
}

TEST(UrlTest, MessagesNeverShowThePassword) {
  const auto url = parse_url("postgres://me:secret@db/x?nonsense=1");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->text.find("secret"), std::string::npos);
  EXPECT_THAT(url->nothing_left("isolation").error().what, HasSubstr("unknown option 'nonsense'"));
  const auto bad = parse_url("postgres://me:secret@db:port/x");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().what.find("secret"), std::string::npos);
}

TEST(UrlTest, OptionsAreTakenOnceAndTheLastOneWins) {
  auto url = parse_url("rocksdb:?mode=a&mode=b&other");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->take("mode", "c"), "b");
  EXPECT_EQ(url->take("mode", "c"), "c");
  EXPECT_FALSE(url->nothing_left("mode").ok());
  EXPECT_EQ(url->take("other"), "");
  EXPECT_TRUE(url->nothing_left("mode").ok());
}

TEST(UrlTest, WhatIsNoUrlIsRefused) {
  for (const char* text : {"", "file.db", "/tmp/x", ":x", "a b:c"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_THAT(url.error().what, HasSubstr("no database URL")) << text;
  }
  for (const char* text :
       {"pg://h:0/", "pg://h:70000/", "pg://h:1x/", "pg://[::1/", "pg://[a]b/"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_THAT(url.error().what, HasSubstr("is no HOST or HOST:PORT")) << text;
  }
}

// A '%' without two hexadecimal digits behind it may be part of a file name.
TEST(UrlTest, PercentSignsThatEncodeNothingStay) {
  EXPECT_EQ(parse_url("sqlite:100%")->path, "100%");
  EXPECT_EQ(parse_url("sqlite:%4")->path, "%4");
  EXPECT_EQ(parse_url("sqlite:%zz%41")->path, "%zzA");
}

}  // namespace
}  // namespace ouro::db
