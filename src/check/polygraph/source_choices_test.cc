// What open reads returned, found by the search.

#include "check/polygraph/source_choices.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny_search.h"

namespace ouro {
namespace {

// "T1 T2": what the search says that each open read returned; "none" if no order allows it.
std::string found_sources(std::string_view text, Level level = Level::Serializable) {
  TinySearch s(text, level, {.sources = true});
  if (s.solver.solve(s.search) != Solution::Found) return "none";
  std::string out;
  for (const ReadSource& said : s.search.sources()->sources()) {
    out += (out.empty() ? "" : " ") + Tiny::name(said.writer);
  }
  return out;
}

TEST(SourceChoicesTest, AReadIsGivenTheLastVersionBeforeIt) {
  EXPECT_EQ(found_sources("T1: w x 1\nT2: r x 1\nT3: w x 1\nT4: r x 1"), "T1 T3");
  EXPECT_EQ(found_sources("initial 1\nT1: r x 1\nT2: w x 1\nT3: r x 1"), "T0 T2");
}

// T3 overwrote x before T4 read, unless T4 comes first or reads from T2 behind it.
TEST(SourceChoicesTest, AReadThatIsNotSatisfiedMovesSomebody) {
  EXPECT_EQ(found_sources("T1: w x 1\nT2: w x 1\nT3: w x 2\nT4: r x 1"), "T2");
  EXPECT_EQ(found_sources("T1 @a: w x 1\nT2 @b: w x 1, w y 1\nT3 @a: w x 2, w z 1\n"
                          "T4 @c: r z 1, r x 1"),
            "T2")
      << "T1 is overwritten before T4";
}

TEST(SourceChoicesTest, WhatNoVersionGivesIsRefuted) {
  EXPECT_EQ(found_sources("T1 @a: w x 1\nT2 @a: w x 1\nT3 @a: w x 2\nT4 @a: r x 1",
                          Level::SessionSerializable),
            "none");
  EXPECT_EQ(found_sources("T1 @a: w x 1\nT2 @a: w x 1\nT3 @a: w x 2\nT4 @a: r x 1"), "T2");
}

TEST(SourceChoicesTest, ACompareAndSetThatFailedReadSomethingElse) {
  EXPECT_EQ(found_sources("T1: w x 1\nT2: cas x 1 5 failed"), "T0");
  EXPECT_EQ(found_sources("T1: w x 1\nT2: cas x nil 5 failed"), "T1");
  EXPECT_EQ(found_sources("T1 @a: w x 1\nT2 @a: cas x 1 5 failed", Level::SessionSerializable),
            "none");
}

TEST(SourceChoicesTest, AtSnapshotLevelsTheVersionsAtTheBeginCount) {
  EXPECT_EQ(found_sources("T1: w x 1\nT2: w x 1\nT3: r x 1, w y 3\nT4: r y 3, r x 1", Level::Si),
            "T2 T2");
}

}  // namespace
}  // namespace ouro
