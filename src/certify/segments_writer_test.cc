// The text of certificates of segments; certify_segments_test.cc has it read again.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "ouro/certificate.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/files.h"

namespace ouro {
namespace {

TEST(SegmentSectionTest, NamesTransactionsFromOneAndLeavesOutEmptyLists) {
  const History history = oracle::history_of("T1: w x 1\n");
  SegmentSection section;
  section.first = 4;
  section.end = 7;
  section.certificate = make_certificate(history, *check(history, Level::StrictSerializable));
  const std::string proof = print_certificate(section.certificate);
  EXPECT_EQ(print_section(section), "{\"segment\":[5,7]}\n" + proof);
  section.late = {0, 2};
  section.without = {5};
  EXPECT_EQ(print_section(section), "{\"segment\":[5,7],\"late\":[1,3],\"without\":[6]}\n" + proof);
}

TEST(SegmentsCertificateWriterTest, WritesTheClaimTheSectionsAndHowManyThereAre) {
  const std::string path = temporary("segments_writer");
  const SegmentsClaim claim{.level = Level::StrongSi,
                            .clock_drift = 9'223'372'036'854'775'807,
                            .segments = 2,
                            .txns = 5,
                            .ops = 6,
                            .fingerprint = 0xbeef};
  SegmentsCertificateWriter writer;
  ASSERT_TRUE(writer.begin(path, claim).ok());
  ASSERT_TRUE(writer.add("one\n").ok());
  ASSERT_TRUE(writer.add("two\n").ok());
  ASSERT_TRUE(writer.finish().ok());
  EXPECT_EQ(slurp(path),
            "{\"ouro-segments\":1,\"level\":\"strong-si\",\"evidence\":\"observed\","
            "\"verdict\":\"holds\",\"transactions\":5,\"operations\":6,"
            "\"clock_drift\":9223372036854775807,\"history\":\"000000000000beef\","
            "\"segments\":2}\n"
            "one\ntwo\n"
            "{\"segments\":2}\n");
  std::filesystem::remove(path);
}

TEST(SegmentsCertificateWriterTest, AFileThatCannotBeWrittenIsAnError) {
  SegmentsCertificateWriter writer;
  EXPECT_FALSE(writer.begin("/no/such/folder/certificate", {}).ok());
}

}  // namespace
}  // namespace ouro
