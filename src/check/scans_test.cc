#include "check/scans.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// What does not fit the order T1, T2 …: "missed 2", the name of a key; "returned row 0", by its
// place.
std::string misfits(std::string_view text, bool phantoms = false,
                    MisfitRows rows = MisfitRows::All) {
  Tiny t(text);
  Positions positions;
  for (std::uint32_t i = 0; i < t.history().txn_count(); ++i) {
    positions.begin.push_back(i);
    positions.commit.push_back(i);
  }
  const Scans scans(t.observed());
  const ScanMisfits found = scans.compare(t.observed(), positions, phantoms, rows, Budget());
  EXPECT_EQ(found.empty(), found.missed.empty() && found.returned.empty());
  std::string out;
  for (const ReadKey& each : found.missed) {
    out += (out.empty() ? "" : ", ") + ("missed " + t.history().key_label(each.key));
  }
  for (const ScanRow& each : found.returned) {
    out += (out.empty() ? "" : ", ") + ("returned row " + std::to_string(each.row));
  }
  return out;
}

constexpr char kWrites[] = R"({"session":"a","ops":[["w",1,10]]}
{"session":"b","ops":[["w",2,20]]}
)";

TEST(ScansTest, WhatIsThereMustBeListed) {
  EXPECT_EQ(
      misfits(kWrites + std::string(R"({"session":"c","ops":[["scan",1,5,[[1,10],[2,20]]]]})")),
      "");
  EXPECT_EQ(misfits(kWrites + std::string(R"({"session":"c","ops":[["scan",1,5,[[1,10]]]]})")),
            "missed 2");
  EXPECT_EQ(misfits(kWrites + std::string(R"({"session":"c","ops":[["scan",2,5,[]]]})")),
            "missed 2");
}

TEST(ScansTest, KeysOutsideOfTheRangeDoNotMatter) {
  EXPECT_EQ(misfits(kWrites + std::string(R"({"session":"c","ops":[["scan",3,5,[]]]})")), "");
}

TEST(ScansTest, WhatTheTransactionWroteBeforeSaysNothing) {
  EXPECT_EQ(misfits(kWrites + std::string(R"({"session":"c","ops":[["d",1],["scan",1,1,[]]]})")),
            "");
}

TEST(ScansTest, PhantomsAreRowsThatCameLater) {
  const std::string scan = R"({"session":"c","ops":[["scan",1,5,[]]]})";
  EXPECT_EQ(misfits(kWrites + scan), "missed 1, missed 2");
  EXPECT_EQ(misfits(kWrites + scan, true), "") << "neither has always been there";
}

TEST(ScansTest, ADeletedRowIsNotMissed) {
  EXPECT_EQ(misfits(kWrites + std::string(R"({"session":"c","ops":[["d",1]]}
{"session":"d","ops":[["scan",1,1,[]]]})")),
            "");
}

}  // namespace
}  // namespace ouro
