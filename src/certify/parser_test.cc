// Certificates as text: what was written is read back, and anything else is an error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "tests/case_file.h"

namespace ouro::oracle {
namespace {

using ::testing::HasSubstr;

TEST(CertificateTextTest, ATruncatedCertificateIsAnError) {
  const History history = history_of("T1: r x nil, w x 1\nT2: r x nil, w x 2");
  const std::string text = print_certificate(make_certificate(history, *check(history, Level::Si)));
  ASSERT_TRUE(parse_certificate(text).ok());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(parse_certificate(text.substr(0, length)).ok()) << length;
  }
}

std::string certificate_error(std::string_view text) {
  const auto certificate = parse_certificate(text, "proof.jsonl");
  return certificate.ok() ? "" : certificate.error().to_string();
}

TEST(CertificateTextTest, SaysWhatItIsAbout) {
  const History history = history_of("T1: w x 1\nT2: r x 1");
  const Certificate certificate =
      make_certificate(history, *check(history, Level::Serializable), 1'000'000'000'000'000'000);
  const Certificate again = *parse_certificate(print_certificate(certificate));
  EXPECT_EQ(again.txns, 2u);
  EXPECT_EQ(again.ops, 2u);
  EXPECT_EQ(again.clock_drift, 1'000'000'000'000'000'000);
  EXPECT_EQ(again.fingerprint, fingerprint(history));
  EXPECT_EQ(again.verdict.level, Level::Serializable);
  EXPECT_EQ(again.verdict.order, certificate.verdict.order);
}

TEST(CertificateTextTest, AMistakeIsNamedWithItsLine) {
  const History history = history_of("T1: w x 1\nT2: r x 1");
  const std::string good =
      print_certificate(make_certificate(history, *check(history, Level::Serializable)));
  ASSERT_EQ(certificate_error(good), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from << " in " << good;
    return text.replace(at, from.size(), to);
  };
  EXPECT_THAT(certificate_error("nonsense\n"), HasSubstr("proof.jsonl:1: "));
  EXPECT_THAT(certificate_error(with("\"serializable\"", "\"great\"")),
              HasSubstr("proof.jsonl:1: "));
  EXPECT_THAT(certificate_error(with("\"holds\"", "\"perhaps\"")), HasSubstr("proof.jsonl:1: "));
  EXPECT_THAT(certificate_error(with("\"clock_drift\":0", "\"clock_drift\":-1")),
              HasSubstr("proof.jsonl:1: "));
  EXPECT_THAT(certificate_error(with("\"ouro-certificate\":1", "\"ouro-certificate\":2")),
              HasSubstr("proof.jsonl:1: "));
}

}  // namespace
}  // namespace ouro::oracle
