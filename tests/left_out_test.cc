// What verdicts leave out, in every form in which the program tells it; and histories without
// transactions, which it refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/run_program.h"

namespace ouro {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kNoClocks[] = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["r","x",1]]}
)";
constexpr char kSays[] = "no transaction has clocks, so nothing is said about real time";

class LeftOutFormsTest : public testing::Test {
 protected:
  LeftOutFormsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ouro_left_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = file("h.jsonl", kNoClocks);
  }
  ~LeftOutFormsTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = folder_ + '/' + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static Ran check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kOuroBinary, "check"});
    return run_program(arguments);
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string folder_;
  std::string path_;
};

TEST_F(LeftOutFormsTest, TextSaysSo) {
  const Ran one = check({"--level", "strict-serializable", path_});
  EXPECT_EQ(one.status, 0);
  EXPECT_THAT(one.out, HasSubstr("holds strict-serializable as far as was checked (" +
                                 std::string(kSays) + ")"));
  const Ran all = check({"--level", "all", path_});
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.out, HasSubstr("The database gave: session-serializable."));
  EXPECT_THAT(all.out, HasSubstr("~ strict-serializable"));
  EXPECT_THAT(all.out, HasSubstr("✓ session-serializable"));
  EXPECT_THAT(all.out, HasSubstr(kSays));
  EXPECT_THAT(all.out, Not(HasSubstr("No level is violated")));
  const Ran weak = check({"--level", "causal", path_});
  EXPECT_THAT(weak.out, HasSubstr("holds causal\n"));
}

TEST_F(LeftOutFormsTest, OtherFormsSaySo) {
  for (const std::string level : {"strict-serializable", "all"}) {
    const Ran ran = check({"--level", level, "--json", "--html", folder_ + "/h.html", "--junit",
                           folder_ + "/h.xml", "--sarif", folder_ + "/h.sarif", path_});
    EXPECT_EQ(ran.status, 0) << ran.err;
    simdjson::dom::parser parser;
    const auto json = parser.parse(ran.out);
    EXPECT_EQ(std::string_view(json["left_out"].at(0)["kind"]), "real-time");
    EXPECT_EQ(std::string_view(json["left_out"].at(0)["what"]), kSays);
    EXPECT_EQ(std::uint64_t(json["left_out"].at(0)["count"]), 2U);
    EXPECT_EQ(std::string_view(json["strongest"].at(0)), "session-serializable");
    for (const std::string form : {"/h.html", "/h.xml", "/h.sarif"}) {
      EXPECT_THAT(content(folder_ + form), HasSubstr(kSays)) << form;
    }
    EXPECT_THAT(check({"--level", level, "--output", "edn", path_}).out,
                HasSubstr(":ouro/left-out \"" + std::string(kSays)));
  }
}

TEST_F(LeftOutFormsTest, CertifyAndLintSaySo) {
  const std::string certificate = folder_ + "/c.jsonl";
  ASSERT_EQ(check({"--level", "strict-serializable", "--certificate", certificate, path_}).status,
            0);
  const Ran certified = run_program({kOuroBinary, "certify", path_, certificate});
  EXPECT_EQ(certified.status, 0);
  EXPECT_THAT(certified.out, HasSubstr(kSays));
  EXPECT_THAT(run_program({kOuroBinary, "lint", path_}).out, HasSubstr("no-clocks"));
}

TEST_F(LeftOutFormsTest, AStreamSaysSo) {
  const std::string stamped =
      file("s.jsonl", R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[]})");
  const Ran ran = check({"--stream", "--evidence", "timestamps", "--level", "gsi", stamped});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(kSays));
}

TEST_F(LeftOutFormsTest, HistoriesWithoutTransactionsAreRefused) {
  const std::string empty = file("empty.jsonl", "{\"ouro\":1}\n");
  for (int i = 1; i <= 3; ++i) {
    file("cobra/T" + std::to_string(i) + ".log", "");
    file("viper/J" + std::to_string(i) + ".log", "");
  }
  for (const std::string& path : {empty, folder_ + "/cobra", folder_ + "/viper"}) {
    const Ran ran = check({path});
    EXPECT_EQ(ran.status, 254) << path << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("there are no transactions")) << path;
    EXPECT_THAT(ran.err, HasSubstr("it was read as")) << path;
    EXPECT_THAT(check({"--json", path}).out, HasSubstr("\"error\"")) << path;
    EXPECT_EQ(run_program({kOuroBinary, "stats", path}).status, 0) << path;
  }
  EXPECT_THAT(check({folder_ + "/cobra"}).err, HasSubstr("T*.log"));
  EXPECT_EQ(check({"--stream", "--evidence", "timestamps", "--level", "si", empty}).status, 254);
}

}  // namespace
}  // namespace ouro
