#include <gtest/gtest.h>

#include "ouro/certificate.h"
#include "ouro/format.h"
#include "tests/case_file.h"

namespace ouro::oracle {
namespace {

TEST(FingerprintTest, TimestampsArePartOfTheFingerprint) {
  EXPECT_NE(fingerprint(history_of("T1 {1,2}: w x 1")), fingerprint(history_of("T1 {1,3}: w x 1")));
  EXPECT_NE(fingerprint(history_of("T1 {1,}: w x 1")), fingerprint(history_of("T1 {,1}: w x 1")));
}

// Readers of files may number keys and values in any order.
TEST(FingerprintTest, IsOfWhatAHistorySaysNotOfHowItIsKept) {
  const History history = history_of("T1 @a: w x 1, w y two\nT2 @b: r y two, r x 1");
  for (const Format format : {Format::Native, Format::NativeBinary}) {
    std::string bytes;
    ASSERT_TRUE(print_history(history, format, bytes).ok());
    EXPECT_EQ(fingerprint(*parse_history(bytes, {.format = format})), fingerprint(history));
  }
  for (const char* const other :
       {"T1 @a: w x 1, w y three\nT2 @b: r y three, r x 1", "T1 @a: w x 1\nT2 @b: r x 1",
        "T1 @a: w x 1, w y two\nT2 @a: r y two, r x 1",
        "T1 @a: w y two, w x 1\nT2 @b: r y two, r x 1",
        "T1 @a aborted: w x 1, w y two\nT2 @b: r y two, r x 1"}) {
    EXPECT_NE(fingerprint(history_of(other)), fingerprint(history)) << other;
  }
}

TEST(FingerprintTest, PiecesAreTheSameAsTheWhole) {
  const auto line = [](int t) {
    return R"({"session":"s","ops":[["w",")" + std::string(1, static_cast<char>('a' + t)) +
           R"(",)" + std::to_string(t) + "]]}\n";
  };
  HistoryIdentity pieces;
  pieces.add(*parse_history(line(1) + line(2)));
  pieces.add(*parse_history(line(3)));
  EXPECT_EQ(pieces.txns(), 3u);
  EXPECT_EQ(pieces.ops(), 3u);
  EXPECT_EQ(pieces.fingerprint(), fingerprint(*parse_history(line(1) + line(2) + line(3))));
}

}  // namespace
}  // namespace ouro::oracle
