// Certificates of segments by hand: of a history of five transactions that two segments prove, and
// of what is not quite that.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/format_testing.h"
#include "ouro/certificate.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/files.h"

namespace ouro {
namespace {

using ::testing::HasSubstr;

// One segment: which transactions of the whole, and their history.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::string history;
  std::vector<std::uint64_t> late = {};
  std::vector<std::uint64_t> without = {};
  std::vector<std::size_t> order = {};  // In which they took effect; empty: as they stand.
};

class CertifySegmentsTest : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove(history_);
    std::filesystem::remove(certificate_);
  }

  // Makes the certificate that `pieces` prove `whole`.
  void make(const std::string& whole, const std::vector<Piece>& pieces) {
    const History history = oracle::history_of(whole);
    ASSERT_TRUE(write_history(history, history_, Format::Native).ok());
    SegmentsClaim claim = claim_;
    claim.segments = pieces.size();
    claim.txns = history.txn_count();
    claim.ops = history.op_count();
    claim.fingerprint = fingerprint(history);
    SegmentsCertificateWriter writer;
    ASSERT_TRUE(writer.begin(certificate_, claim).ok());
    for (const Piece& piece : pieces) ASSERT_TRUE(writer.add(section(piece)).ok());
    ASSERT_TRUE(writer.finish().ok());
  }
  std::string section(const Piece& piece) const {
    const History part = oracle::history_of(piece.history);
    Verdict verdict;
    verdict.level = claim_.level;
    verdict.outcome = Outcome::Holds;
    for (std::size_t t = 0; t < part.txn_count(); ++t) {
      const TxnId txn{piece.order.empty() ? t : piece.order[t]};
      verdict.order.push_back(txn);
      if (claim_.level != Level::StrongSi) continue;
      verdict.schedule.push_back({txn, false});
      verdict.schedule.push_back({txn, true});
    }
    return print_section({.first = piece.first,
                          .end = piece.end,
                          .late = piece.late,
                          .without = piece.without,
                          .certificate = make_certificate(part, verdict, claim_.clock_drift)});
  }

  // Why it is rejected, or no certificate at all; "" if it is accepted.
  [[nodiscard]] std::string complaint(std::size_t piece_bytes = 1'000'000) const {
    const auto certified = certify_segments(history_, certificate_, piece_bytes);
    return certified.ok() ? certified->reason : certified.error().what;
  }
  std::string complaint_about(const std::string& whole, const std::vector<Piece>& pieces) {
    make(whole, pieces);
    return complaint();
  }
  // What is said if the certificate has `to` instead of `from`.
  std::string complaint_with(const std::string& from, const std::string& to) {
    const std::string good = slurp(certificate_);
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    std::ofstream(certificate_) << text.replace(at, from.size(), to);
    const std::string said = complaint();
    std::ofstream(certificate_) << good;
    return said;
  }

  SegmentsClaim claim_;
  const std::string history_ = temporary("certify_segments.jsonl");
  const std::string certificate_ = temporary("certify_segments.certificate");
};

constexpr const char* kFirstHalf = "T1 @a [1,2]: w x 1\nT2 @b [1,3]: r x nil\n";
constexpr const char* kSecondHalf = "T3 @a [5,6]: r x 1, w x 2\nT4 @b [7,8]: r x 2\n";
const std::string kBothHalves = std::string(kFirstHalf) + kSecondHalf;
const Piece kFirst{.first = 0, .end = 2, .history = kFirstHalf, .order = {1, 0}};
const Piece kSecond{.first = 2, .end = 4, .history = kSecondHalf};

TEST_F(CertifySegmentsTest, EachSegmentIsJudgedWithWhatTheOnesBeforeItLeft) {
  for (const Level level : {Level::StrictSerializable, Level::StrongSi}) {
    claim_.level = level;
    make(kBothHalves, {kFirst, kSecond});
    EXPECT_EQ(complaint(), "");
    EXPECT_EQ(complaint(1), "") << "in pieces of one transaction";
    EXPECT_TRUE(*is_of_segments(certificate_));
    EXPECT_FALSE(*is_of_segments(history_));
  }
  Piece wrong = kFirst;
  wrong.order = {0, 1};
  EXPECT_THAT(complaint_about(kBothHalves, {wrong, kSecond}),
              HasSubstr("transactions 1 to 2: transaction 2 reads x"));
}

TEST_F(CertifySegmentsTest, TheWholeMustBeTheHistory) {
  make(kBothHalves, {kFirst, kSecond});
  EXPECT_THAT(complaint_with("\"transactions\":4", "\"transactions\":5"), HasSubstr("expected"));
  EXPECT_THAT(complaint_with("\"operations\":5", "\"operations\":6"), HasSubstr("another history"));
  EXPECT_THAT(complaint_with("\"segments\":2}\n{\"seg", "\"segments\":3}\n{\"seg"),
              HasSubstr("another history"));
  EXPECT_THAT(complaint_with("strict-serializable", "strong-si"), HasSubstr("another claim"));
  EXPECT_THAT(complaint_with("strict-serializable", "serializable"), HasSubstr("no certificates"));
  EXPECT_THAT(complaint_with("\"verdict\":\"holds\"", "\"verdict\":\"violated\""),
              HasSubstr("of what holds"));
  EXPECT_THAT(complaint_with("\"clock_drift\":0", "\"clock_drift\":-1"),
              HasSubstr("whole numbers"));
  EXPECT_THAT(complaint_with("\"segment\":[3,4]", "\"segment\":[4,4]"), HasSubstr("follow each"));
  EXPECT_THAT(complaint_with("\"segment\":[1,2]", "\"segment\":[0,2]"), HasSubstr("expected"));
  EXPECT_EQ(complaint(), "");
}

TEST_F(CertifySegmentsTest, NothingMayHaveHappenedBeforeAnEarlierSegment) {
  const std::string late = "T3 @c [1,4]: w y 1\n";
  const Piece second{.first = 2, .end = 3, .history = late};
  EXPECT_EQ(complaint_about(kFirstHalf + late, {kFirst, second}), "") << "they overlap";
  const std::string early = "T3 @c [-9223372036854775807,0]: w y 1\n";
  const Piece wrong{.first = 2, .end = 3, .history = early};
  EXPECT_THAT(complaint_about(kFirstHalf + early, {kFirst, wrong}),
              HasSubstr("transaction 3 comes in time before"));
  claim_.clock_drift = 1;
  EXPECT_EQ(complaint_about(kFirstHalf + early, {kFirst, wrong}), "") << "clocks may differ so far";
}

TEST_F(CertifySegmentsTest, AnUnknownTransactionMayTakeEffectInALaterSegment) {
  const std::string first = "T1 @a [1,2]: r x nil\n";
  const std::string unknown = "T2 @b unknown [1,]: w x 1\n";
  const std::string last = "T3 @a [5,6]: r x 1\n";
  const Piece before{.first = 0, .end = 2, .history = first, .without = {1}};
  const Piece after{.first = 2, .end = 3, .history = unknown + last, .late = {1}};
  EXPECT_EQ(complaint_about(first + unknown + last, {before, after}), "");
  const Piece never{.first = 2, .end = 3, .history = last};
  EXPECT_THAT(complaint_about(first + unknown + last, {before, never}), HasSubstr("thin-air read"));
  const Piece twice{.first = 2, .end = 3, .history = unknown + last, .late = {0}};
  EXPECT_THAT(complaint_about(first + unknown + last, {before, twice}), HasSubstr("no late one"));
}

TEST_F(CertifySegmentsTest, WhatCommittedOrEndedBelongsToItsSegment) {
  const std::string text = "T1 @a [1,2]: w x 1\nT2 @b unknown [1,2]: w x 2\n";
  for (const std::uint64_t left_out : {0, 1}) {
    const Piece piece{.first = 0, .end = 2, .history = "T1: r x nil\n", .without = {left_out}};
    EXPECT_THAT(complaint_about(text, {piece}), HasSubstr("belongs to its segment"));
  }
}

TEST_F(CertifySegmentsTest, ASessionGoesForward) {
  const std::string first = "T1 @a unknown [1,]: w x 1\nT2 @a [2,3]: w y 1\n";
  const std::string last = "T3 @b [5,6]: r x 1\n";
  const Piece before{.first = 0, .end = 2, .history = "T2 @a [2,3]: w y 1\n", .without = {0}};
  const Piece after{
      .first = 2, .end = 3, .history = "T1 @a unknown [1,]: w x 1\n" + last, .late = {0}};
  EXPECT_THAT(complaint_about(first + last, {before, after}),
              HasSubstr("transaction 1 comes in its session before"));
}

TEST_F(CertifySegmentsTest, OnlyHistoriesOfRegistersHaveThem) {
  const Piece piece{.first = 0, .end = 1, .history = "T1 [1,2]: append l 1\n"};
  EXPECT_THAT(complaint_about("T1 [1,2]: append l 1\n", {piece}),
              HasSubstr("other than reads and writes"));
}

}  // namespace
}  // namespace ouro
