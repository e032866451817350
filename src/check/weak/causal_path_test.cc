#include "check/weak/causal_path.h"

#include <gtest/gtest.h>

#include "tests/tiny.h"

namespace ouro {
namespace {

std::string path_of(std::string_view text, std::size_t from, std::size_t to) {
  Tiny t(text);
  std::string out;
  for (const TxnId txn : causal_path(t.observed(), Tiny::txn(from), Tiny::txn(to))) {
    out += Tiny::name(txn);
  }
  return out;
}

TEST(CausalPathTest, GoesByReadsAndSessions) {
  EXPECT_EQ(path_of("T1 @a: w x 1\nT2 @b: r x 1\nT3 @b: w y 2\nT4 @c: r y 2", 1, 4), "T1T2T3T4");
}

TEST(CausalPathTest, TakesAShortestWay) {
  EXPECT_EQ(path_of("T1 @a: w x 1\nT2 @b: r x 1, w y 2\nT3 @c: r y 2, r x 1", 1, 3), "T1T3");
}

TEST(CausalPathTest, IsEmptyIfThereIsNone) {
  EXPECT_EQ(path_of("T1: w x 1\nT2: w x 2", 1, 2), "");
  EXPECT_EQ(path_of("T1 @a: w x 1\nT2 @a: w x 2", 2, 1), "") << "not against the session";
}

}  // namespace
}  // namespace ouro
