// What predicate reads missed although their transaction knew of it.

#include "check/weak/missed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/versions/predicate_reads.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

// T1 writes row k, T2 overwrites it and writes y. The select of T3, in the session of T2 if
// `session` is 2, saw no k. Transactions commit in the order of their numbers.
std::string missed_by(const std::string& ops, Level level, int session = 3) {
  Tiny t(R"({"session":1,"ops":[["w","k",{"n":1}]]})"
         "\n"
         R"({"session":2,"ops":[["w","k",{"n":2}],["w","y",2]]})"
         "\n"
         R"({"session":)" +
             std::to_string(session) + R"(,"ops":[)" + ops + "]}\n" +
             R"({"key":"k","versions":[{"n":1},{"n":2}],"complete":true})"
             "\n"
             R"({"key":"y","versions":[2],"complete":true})",
         Evidence::Versions);
  const auto reads = PredicateReads::read(t.observed(), SnapshotAt::Start, Budget(), 1);
  if (!reads.ok()) return reads.error().what;
  const std::vector<std::uint32_t> places = {0, 1, 2};
  const auto unseen = reads->unseen(t.observed(), {places, places}, Budget(), 1);
  const auto found = find_missed(t.observed(), level, unseen, places, Budget());
  return found ? std::string(info(found->kind).name) + ": " + Tiny::text(found->edges) : "nothing";
}

const std::string kNone = R"(["select",true,[],{"versions":[]}])";

TEST(MissedTest, AReadMayMissWhatNobodyToldItsTransaction) {
  for (const Level level : {Level::ReadCommitted, Level::ReadAtomic, Level::Causal}) {
    EXPECT_EQ(missed_by(kNone, level), "nothing") << info(level).name;
  }
}

TEST(MissedTest, WhoSawOneWriteOfATransactionKnowsOfTheOthers) {
  EXPECT_EQ(missed_by(R"(["r","y",2],)" + kNone, Level::Causal),
            "causality violation: T3 rw T2, T2 wr T3");
  EXPECT_NE(missed_by(R"(["r","y",2],)" + kNone, Level::ReadCommitted), "nothing");
  EXPECT_EQ(missed_by(kNone + R"(,["r","y",2])", Level::ReadCommitted), "nothing")
      << "it did not know yet";
  EXPECT_EQ(missed_by(kNone + R"(,["r","y",2])", Level::ReadAtomic),
            "fractured read: T3 rw T2, T2 wr T3");
}

TEST(MissedTest, ASessionIsKnownFromReadAtomicOn) {
  EXPECT_EQ(missed_by(kNone, Level::ReadCommitted, 2), "nothing");
  EXPECT_EQ(missed_by(kNone, Level::ReadAtomic, 2), "fractured read: T3 rw T2, T2 so T3");
}

TEST(MissedTest, WhatChangesNothingMayBeMissed) {
  const std::string other = R"(["r","y",2],["select",{"eq":["n",9]},[],{"versions":[]}])";
  EXPECT_EQ(missed_by(other, Level::Causal), "nothing");
}

}  // namespace
}  // namespace ouro
