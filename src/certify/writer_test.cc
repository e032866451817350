// How certificates look; parser_test.cc has them read again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ouro/certificate.h"
#include "tests/case_file.h"

namespace ouro {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// All lines but the first, which is about the history.
std::string lines_of(const Verdict& verdict) {
  const std::string text = print_certificate({.verdict = verdict});
  return text.substr(text.find('\n') + 1);
}
Verdict with_outcome(Outcome outcome) {
  Verdict verdict;
  verdict.outcome = outcome;
  return verdict;
}

TEST(CertificateWriterTest, TheFirstLineSaysWhatIsClaimedOfWhichHistory) {
  Certificate certificate{.clock_drift = 7, .txns = 2, .ops = 3, .fingerprint = 0xab};
  certificate.verdict.level = Level::Si;
  certificate.verdict.outcome = Outcome::Holds;
  certificate.verdict.evidence = Evidence::Timestamps;
  EXPECT_EQ(print_certificate(certificate),
            "{\"ouro-certificate\":1,\"level\":\"si\",\"evidence\":\"timestamps\","
            "\"verdict\":\"holds\",\"transactions\":2,\"operations\":3,\"clock_drift\":7,"
            "\"history\":\"00000000000000ab\"}\n"
            "{\"end\":2}\n");
}

TEST(CertificateWriterTest, TransactionsCountFromOneAndCommitsAreNegative) {
  Verdict verdict = with_outcome(Outcome::Holds);
  verdict.order = {TxnId{1}, TxnId{0}};
  EXPECT_EQ(lines_of(verdict), "{\"order\":[2,1]}\n{\"end\":3}\n");
  verdict.schedule = {{TxnId{0}, false}, {TxnId{0}, true}};
  EXPECT_EQ(lines_of(verdict), "{\"schedule\":[1,-1]}\n{\"end\":3}\n");
}

TEST(CertificateWriterTest, ALongOrderTakesSeveralLines) {
  Verdict verdict = with_outcome(Outcome::Holds);
  verdict.order.assign(1000, TxnId{0});
  EXPECT_THAT(lines_of(verdict), HasSubstr("\n{\"end\":3}"));
  verdict.order.push_back(TxnId{6});
  EXPECT_THAT(lines_of(verdict), HasSubstr(",1]}\n{\"order\":[7]}\n{\"end\":4}"));
}

TEST(CertificateWriterTest, SourcesNameNobodyForTheInitialVersion) {
  Verdict verdict = with_outcome(Outcome::Holds);
  verdict.sources = {{.read = OpId{4}, .key = KeyId{0}, .writer = TxnId{2}},
                     {.read = OpId{5}, .key = KeyId{1}, .writer = kInitialTxn}};
  EXPECT_THAT(lines_of(verdict), HasSubstr("{\"sources\":[{\"read\":5,\"key\":1,\"writer\":3},"
                                           "{\"read\":6,\"key\":2}]}\n"));
}

TEST(CertificateWriterTest, AnAnomalyIsItsOperationsOrItsCycle) {
  Verdict verdict = with_outcome(Outcome::Violated);
  verdict.anomalies.push_back(
      {.kind = AnomalyKind::AbortedRead, .txns = {TxnId{1}}, .ops = {OpId{1}, OpId{0}}});
  verdict.anomalies.push_back(
      {.kind = AnomalyKind::DependencyCycle,
       .edges = {{.from = TxnId{0}, .to = TxnId{1}, .kind = EdgeKind::Session},
                 {.from = TxnId{1},
                  .to = TxnId{0},
                  .kind = EdgeKind::ReadWrite,
                  .key = KeyId{0},
                  .from_op = OpId{2},
                  .to_op = OpId{0}}}});
  EXPECT_EQ(lines_of(verdict),
            "{\"anomaly\":\"aborted read\",\"operations\":[2,1]}\n"
            "{\"anomaly\":\"dependency cycle\",\"cycle\":["
            "{\"kind\":\"so\",\"from\":1,\"to\":2},"
            "{\"kind\":\"rw\",\"from\":2,\"to\":1,\"key\":1,\"from_op\":3,\"to_op\":1}]}\n"
            "{\"end\":4}\n");
}

TEST(CertificateWriterTest, ARefutationIsItsChoicesAndSteps) {
  Verdict verdict = with_outcome(Outcome::Violated);
  verdict.refutation.choices = {{.key = KeyId{0}, .first = TxnId{0}, .second = TxnId{1}}};
  verdict.refutation.steps = {{.excluded = {{.choice = 0, .reversed = true}}, .premises = {0, 2}}};
  EXPECT_THAT(lines_of(verdict), HasSubstr("{\"choice\":[1,1,2]}\n"
                                           "{\"exclude\":[-1],\"premises\":[1,3]}\n"));
}

// At levels without moments, scans are judged by all keys that they may have missed.
TEST(CertificateWriterTest, UntoldKeysOfScansAreListedOnlyWhereThereAreMoments) {
  const History history = oracle::history_of(
      R"({"session":"a","ops":[["w","k",1],["scan",null,null,[]],["select",true,[]]]})");
  Verdict verdict = with_outcome(Outcome::Holds);
  verdict.untold = {{OpId{1}, KeyId{0}}, {OpId{2}, KeyId{0}}};
  verdict.level = Level::Serializable;
  EXPECT_EQ(make_certificate(history, verdict).verdict.untold.size(), 2u);
  verdict.level = Level::Causal;
  const Certificate weak = make_certificate(history, verdict);
  EXPECT_EQ(weak.verdict.untold, (std::vector<ReadKey>{{OpId{2}, KeyId{0}}}));
  EXPECT_THAT(print_certificate(weak), HasSubstr("{\"untold\":[{\"read\":3,\"key\":1}]}\n"));
}

}  // namespace
}  // namespace ouro
