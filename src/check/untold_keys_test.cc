// Which keys predicate reads do not tell of, and results that nothing explains.

#include "check/untold_keys.h"

#include <gtest/gtest.h>

#include <string>

#include "history/access.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

// Row k is written with n = 1 by T1 and deleted by T2; j has n = 5 from the start, l is a list.
// T3 reads.
std::string rows_and(const std::string& read, const std::string& status = "committed") {
  return R"({"key":"j","initial":{"n":5}})"
         "\n"
         R"({"session":1,"ops":[["w","k",{"n":1}],["append","l",1]]})"
         "\n"
         R"({"session":2,"ops":[["d","k"]]})"
         "\n"
         R"({"session":3,"status":")" +
         status + R"(","ops":[)" + read + "]}";
}

// "j k": the keys of the read of T3, "…" if there are more than `most`; "!" if it is impossible.
std::string untold_of(const std::string& read, std::size_t most = 10) {
  Tiny t(rows_and(read));
  const AllUntold all = all_untold(t.observed(), Scans(t.observed()), most, Budget());
  std::string out;
  for (const ReadKey& each : all.keys) {
    out += (out.empty() ? "" : " ") + t.history().key_label(each.key);
  }
  return out + (all.too_many ? "…" : "") + (all.impossible.read.valid() ? "!" : "");
}

TEST(UntoldKeysTest, AreThoseOfWhichSomeVersionMatches) {
  EXPECT_EQ(untold_of(R"(["select",true,[]])"), "j k");
  EXPECT_EQ(untold_of(R"(["select",{"ge":["n",2]},[]])"), "j");
  EXPECT_EQ(untold_of(R"(["select",{"ge":["n",9]},[]])"), "");
  EXPECT_EQ(untold_of(R"(["select",true,[["j",{"n":5}]]])"), "k") << "j was returned";
  EXPECT_EQ(untold_of(R"(["w","k",{"n":7}],["select",{"le":["n",5]},[]])"), "j") << "k is its own";
}

TEST(UntoldKeysTest, ManyMayBeTooMany) {
  EXPECT_EQ(untold_of(R"(["select",true,[]],["select",true,[]])", 1), "j k…");
}

TEST(UntoldKeysTest, ASelectWithoutItsOwnWriteIsImpossible) {
  EXPECT_EQ(untold_of(R"(["w","m",{"n":1}],["select",{"eq":["n",1]},[]])"), "k!");
  EXPECT_EQ(untold_of(R"(["aggregate","count",null,{"eq":["n",9]},1])"), "!");
  EXPECT_EQ(untold_of(R"(["aggregate","count",null,{"eq":["n",9]},0])"), "");
}

// Of what does not take part yet a key becomes a read.
TEST(UntoldKeysTest, AnUnknownTransactionIsNoViolationButGetsARead) {
  Tiny t(rows_and(R"(["w","m",{"n":9}],["select",{"eq":["n",9]},[]])", "unknown"));
  Impossible impossible;
  std::vector<ReadKey> out;
  impossible.add(t.observed(), list_keys(t.history()), OpId{4}, out);
  EXPECT_FALSE(impossible.read.valid());
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].key, t.key("m"));
}

TEST(UntoldKeysTest, WrittenRowsAreAllVersionsThatAreRows) {
  Tiny t(rows_and(R"(["select",true,[]])"));
  WrittenRows rows = written_rows(t.observed(), list_keys(t.history()));
  std::vector<ReadKey> keys;
  add_all_keys(t.observed(), rows, OpId{3}, keys);
  EXPECT_EQ(keys.size(), 2u);
}

// With keys as reads, a result is judged by what these may have returned.
TEST(UntoldKeysTest, AResultThatNoVersionsGiveIsAFlaw) {
  const auto flaws = [](const std::string& result) {
    Tiny t(rows_and(R"(["aggregate","sum","n",true,)" + result + "]"));
    const AllUntold all = all_untold(t.observed(), Scans(t.observed()), 10, Budget());
    const auto with = t.observed().with_untold(all.keys, Budget(), 1);
    EXPECT_TRUE(with.ok());
    return impossible_results(*with, Budget()).size();
  };
  EXPECT_EQ(flaws("5"), 0u);
  EXPECT_EQ(flaws("6"), 0u);
  EXPECT_EQ(flaws("7"), 1u);
  EXPECT_EQ(flaws("null"), 1u) << "j was always there";
}

}  // namespace
}  // namespace ouro
