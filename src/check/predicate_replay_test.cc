// Selects and aggregates, replayed in orders of two writers of row k and a reader.

#include "check/predicate_replay.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// "k": the keys that do not fit if T3 comes behind so many of T1 (n = 1) and T2 (n = 2); "!" if
// nothing mends it.
std::string replay_misfits(const std::string& read, std::uint32_t behind, bool at_begin = true) {
  Tiny t(R"({"session":1,"ops":[["w","k",{"n":1}]]})"
         "\n"
         R"({"session":2,"ops":[["w","k",{"n":2}]]})"
         "\n"
         R"({"session":3,"ops":[)" +
         read + "]}");
  Positions places{{0, 1, behind}, {}};
  for (std::uint32_t i = behind; i < 2; ++i) places.begin[i] = i + 1;
  places.commit = places.begin;
  PredicateReplay replay(t.observed(), t.observed(), places, at_begin);
  std::string out;
  for (const ReadKey& key : replay.misfits(Budget())) out += t.history().key_label(key.key);
  return out + (replay.impossible().valid() ? "!" : "");
}

TEST(PredicateReplayTest, ASelectMissesNoRowThatIsThere) {
  const std::string none = R"(["select",{"eq":["n",1]},[]])";
  EXPECT_EQ(replay_misfits(none, 0), "");
  EXPECT_EQ(replay_misfits(none, 1), "k");
  EXPECT_EQ(replay_misfits(none, 2), "");
  EXPECT_EQ(replay_misfits(none, 1, false), "") << "it may have seen what was there before";
}

TEST(PredicateReplayTest, AnAggregateGivesWhatIsThere) {
  const std::string two = R"(["aggregate","sum","n",true,2])";
  EXPECT_EQ(replay_misfits(two, 2), "");
  EXPECT_EQ(replay_misfits(two, 1), "k");
  EXPECT_EQ(replay_misfits(two, 1, false), "k");
  const std::string one = R"(["aggregate","sum","n",true,1])";
  EXPECT_EQ(replay_misfits(one, 2), "k");
  EXPECT_EQ(replay_misfits(one, 2, false), "");
  EXPECT_EQ(replay_misfits(R"(["aggregate","sum","n",true])", 0), "") << "nobody recorded it";
}

TEST(PredicateReplayTest, WhatItsOwnWritesContradictIsImpossible) {
  EXPECT_EQ(replay_misfits(R"(["w","j",{"n":7}],["select",{"eq":["n",7]},[]])", 0), "!");
  EXPECT_EQ(replay_misfits(R"(["aggregate","count",null,{"eq":["n",7]},1])", 0), "!");
  EXPECT_EQ(replay_misfits(R"(["w","j",{"n":7}],["aggregate","count",null,{"eq":["n",7]},1])", 0),
            "");
}

TEST(PredicateReplayTest, AReadWithAVersionSetIsJudgedElsewhere) {
  EXPECT_EQ(replay_misfits(R"(["scan",null,null,[]])", 2), "");
}

}  // namespace
}  // namespace ouro
