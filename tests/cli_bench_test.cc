// ouro bench: sweeps over settings, and what its lines say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/run_program.h"

namespace ouro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Ran bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {kOuroBinary, "bench"});
  return run_program(arguments);
}

std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    rows.emplace_back();
    for (std::string word; std::getline(words, word, '\t');) rows.back().push_back(word);
  }
  return rows;
}

TEST(CliBenchTest, EveryCombinationOfTheSettingsIsALine) {
  const Ran ran = bench({"txns=50,100", "sessions=4", "level=si,causal"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, IsEmpty());
  const auto rows = cells(ran.out);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_THAT(rows[0], ElementsAre("txns", "sessions", "level", "verdict", "cpu_s", "load_s",
                                   "check_s", "peak_mb", "choices", "conflicts"));
  const auto first = [&](std::size_t row) {
    return std::vector<std::string>(rows[row].begin(), rows[row].begin() + 4);
  };
  EXPECT_THAT(first(1), ElementsAre("50", "4", "si", "holds"));
  EXPECT_THAT(first(2), ElementsAre("50", "4", "causal", "holds"));
  EXPECT_THAT(first(3), ElementsAre("100", "4", "si", "holds"));
  EXPECT_THAT(first(4), ElementsAre("100", "4", "causal", "holds"));
}

TEST(CliBenchTest, JsonHasStagesCountsAndTheCommandThatDoesTheSame) {
  const Ran ran = bench({"--json", "--runs", "2", "workload=blindw-rw", "txns=200", "keys=20",
                         "fault=g-sib=0.02", "level=si", "search=,no-on-demand+no-full"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::vector<std::uint64_t> choices;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    ASSERT_EQ(parser.parse(line).get(root), simdjson::SUCCESS) << line;
    EXPECT_EQ(std::string_view(root["verdict"]), "violated");
    EXPECT_EQ(std::uint64_t(root["runs"]), 2u);
    EXPECT_GT(double(root["cpu_seconds"]), 0);
    EXPECT_GT(std::uint64_t(root["peak_bytes"]), 1'000'000u);
    EXPECT_GT(double(root["stages"]["join"]), 0);
    EXPECT_THAT(std::string(std::string_view(root["command"])),
                StartsWith("ouro generate --workload=blindw-rw --txns=200 --keys=20 "
                           "--fault=g-sib=0.02 -o h.ouro && ouro check --json --level si"));
    choices.push_back(root["search"]["choices"]);
  }
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_LT(choices[0], choices[1]) << "on demand, and all of them";
}

TEST(CliBenchTest, HistoriesCanBeKeptAndFilesMeasured) {
  char name[] = "/tmp/ouro_cli_bench_test_XXXXXX";
  const std::string folder = ::mkdtemp(name);
  ASSERT_EQ(bench({"--keep", folder, "txns=30,40"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder + "/1.ouro"));
  const Ran ran = bench({"file=" + folder + "/1.ouro," + folder + "/2.ouro", "level=ser+si"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(cells(ran.out).size(), 3u);
  std::filesystem::remove_all(folder);
}

TEST(CliBenchTest, ALimitLeavesACheckUndecidedAndTheRestIsMeasured) {
  const Ran ran = bench({"--memory-limit", "1", "txns=100", "level=si"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\tundecided\t"));
}

TEST(CliBenchTest, UnknownSettingsAreRefusedWithAdviceBeforeAnythingIsMade) {
  EXPECT_THAT(bench({"txn=10"}).err, HasSubstr("did you mean 'txns'?"));
  EXPECT_THAT(bench({"read_share=0.5"}).err, HasSubstr("did you mean 'read-share'?"));
  EXPECT_THAT(bench({"txns"}).err, HasSubstr("write 'txns=VALUE,VALUE'"));
  const Ran ran = bench({"txns=10,20", "level=si,nonsense"});
  EXPECT_EQ(ran.status, 254);
  EXPECT_THAT(ran.out, IsEmpty());
}

}  // namespace
}  // namespace ouro
