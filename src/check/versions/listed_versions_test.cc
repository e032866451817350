// Which versions of row k a version set may mean.

#include "check/versions/listed_versions.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

TEST(OnlyPlaceTest, IsWhereTheyBeginIfTheyStandTogether) {
  EXPECT_EQ(only_place({false, true, true, false}), 1u);
  EXPECT_EQ(only_place({true, false, true}), RowVersions::kSeveral);
  EXPECT_EQ(only_place({false, false}), RowVersions::kNone);
  EXPECT_EQ(only_place({}), RowVersions::kNone);
}

// T1 to T3 write k, T4 counts the rows with n >= 2. "0110": the versions that it may have seen, the
// initial one first.
std::string listed(const std::string& version_set) {
  Tiny t(R"({"session":1,"id":"a","ops":[["w","k",{"n":1}]]})"
         "\n"
         R"({"session":2,"id":"b","ops":[["w","k",{"n":2}]]})"
         "\n"
         R"({"session":3,"id":"c","ops":[["w","k",{"n":1}]]})"
         "\n"
         R"({"session":4,"ops":[["aggregate","count",null,{"ge":["n",2]},0,{"versions":[)" +
             version_set +
             "]}]]}\n"
             R"({"key":"k","versions":[["a"],["b"],["c"]],"complete":true})",
         Evidence::Versions);
  const RowVersions rows(t.observed());
  std::string out;
  for (const bool may : listed_versions(t.observed(), rows, OpId{3}, t.key("k"))) {
    out += may ? '1' : '0';
  }
  return out;
}

TEST(ListedVersionsTest, AreThoseOfTheValueAndWhatIsTheSameBesideThem) {
  EXPECT_EQ(listed(R"(["k",{"n":2}])"), "0010");
  EXPECT_EQ(listed(R"(["k",{"n":1}])"), "1101") << "both, and what was there before is no match";
  EXPECT_EQ(listed(""), "1100") << "it was absent";
}

}  // namespace
}  // namespace ouro
