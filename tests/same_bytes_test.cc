// The same command on the same history prints the same bytes, times apart, however many threads it
// has and however busy the machine is: what is decided and told is limited by counted work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>

#include "ouro/ouro.h"
#include "tests/files.h"
#include "tests/hard_history.h"
#include "tests/random_predicates.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string without_times(const std::string& text) {
  static const std::regex json(
      R"rx((\\?"(load|check|join|sort|replay|force|encode|order|search|prove|others|explain|)rx"
      R"rx(certify|telling)\\?":)[0-9.e+-]+)rx");
  static const std::regex words(R"rx([0-9]+ min [0-9]+ s\b|[0-9.]+ m?s\b)rx");
  static const std::regex junit(R"rx(time="[0-9.]+")rx");
  const std::string rest = std::regex_replace(text, json, "$1TIME");
  return std::regex_replace(std::regex_replace(rest, words, "TIME"), junit, "TIME");
}

// Both texts around the first place where they differ.
std::string difference(const std::string& a, const std::string& b) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const std::size_t from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 200, 0));
  return from > b.size() ? a : a.substr(from, 400) + "\n----\n" + b.substr(from, 400);
}

class SameBytesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  std::string generated(const std::string& name, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {kOuroBinary, "generate", "-o", path(name)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_program(arguments).status, 0);
    return path(name);
  }

  enum class Pages { Written, None };

  // What a command prints and writes with one thread and with four, which are both under way at
  // once, to keep each other waiting.
  void expect_same(const std::vector<std::string>& arguments, const std::string& says,
                   Pages wanted = Pages::Written) {
    static constexpr const char* kForms[] = {"html", "dot", "sarif", "junit"};
    constexpr std::array kThreads = {1, 4};
    std::vector<std::unique_ptr<Program>> programs;
    const auto page = [&](int threads, const std::string& form) {
      return path(std::to_string(threads) + "." + form);
    };
    for (const int threads : kThreads) {
      std::vector<std::string> all = {kOuroBinary, "check", "--threads", std::to_string(threads)};
      all.insert(all.end(), arguments.begin(), arguments.end());
      for (const std::string form : kForms) {
        if (wanted == Pages::Written) all.insert(all.end(), {"--" + form, page(threads, form)});
      }
      programs.push_back(std::make_unique<Program>(all));
      programs.back()->close_input();
    }
    std::vector<std::string> told;
    for (std::size_t i = 0; i < kThreads.size(); ++i) {
      const Ran ran = programs[i]->wait();
      EXPECT_LT(ran.status, 254) << ran.err;
      told.push_back(std::to_string(ran.status) + '\n' + without_times(ran.out) + ran.err);
      EXPECT_THAT(told.back(), HasSubstr(says));
      for (const std::string form : kForms) {
        if (wanted == Pages::Written) told.back() += without_times(slurp(page(kThreads[i], form)));
      }
    }
    EXPECT_TRUE(told[0] == told[1]) << testing::PrintToString(arguments) << " tells another story\n"
                                    << difference(told[0], told[1]);
  }
  // As text and as JSON.
  void expect_same_in_all_forms(std::vector<std::string> arguments, const std::string& says = "") {
    expect_same(arguments, says);
    arguments.emplace_back("--json");
    expect_same(arguments, "", Pages::None);
  }

  const fs::path folder_ = temporary("same-bytes");
};

TEST_F(SameBytesTest, OfSmallHistories) {
  for (const char* name : {"lost_update", "fractured_read", "causality", "bank"}) {
    const std::string file = kRoot / "tests/data/demo" / (std::string(name) + ".jsonl");
    expect_same_in_all_forms({"-l", "all", file});
    expect_same_in_all_forms({file});
  }
}

TEST_F(SameBytesTest, OfHistoriesThatHoldAndThatDoNot) {
  const std::string fine = generated("fine.jsonl", {"-n", "12000", "--keys", "2000"});
  expect_same_in_all_forms({"-l", "cc", fine}, "holds causal");
  const std::string weak =
      generated("weak.jsonl", {"-n", "3000", "--keys", "50", "-l", "causal", "--clocks"});
  expect_same_in_all_forms({"-l", "all", weak}, "VIOLATED");
  expect_same_in_all_forms({"-l", "ser", "--examples", "5", weak}, "VIOLATED serializable");
  const std::string lists = generated("lists.jsonl", {"-w", "list-append", "-n", "4000", "-l", "si",
                                                      "--fault", "aborted-read=0.001"});
  expect_same_in_all_forms({"-l", "strict-ser", lists}, "VIOLATED");
}

TEST_F(SameBytesTest, ByTimestampsAndVersionOrders) {
  const bool small = kSlowdown > 1;
  const std::string file =
      generated("stamped.jsonl", {"-n", small ? "1500" : "8000", "--keys", "300", "-l", "si",
                                  "--timestamps", "--version-orders", "--clocks", "--fault",
                                  small ? "lost-update=0.002" : "lost-update=0.0003"});
  expect_same_in_all_forms({"--evidence", "timestamps", "-l", "si", file}, "VIOLATED si by time");
  expect_same_in_all_forms({"--evidence", "timestamps", "-l", "all", file}, "VIOLATED");
  expect_same_in_all_forms({"--evidence", "versions", "-l", "all", file}, "VIOLATED");
  expect_same({"--evidence", "versions", "-l", "si", "--shows", "lost-update", file}, "VIOLATED");
}

TEST_F(SameBytesTest, OfPredicateReads) {
  oracle::PredicateShape shape = oracle::mixed_predicates(7);
  shape.txns = 60;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::string file = path("predicates.jsonl");
    const History history = oracle::random_predicates(seed, shape);
    ASSERT_TRUE(write_history(history, file, Format::Native).ok());
    expect_same_in_all_forms({"--evidence", "timestamps", "-l", "si", file});
    expect_same_in_all_forms({"--evidence", "timestamps", "-l", "all", "--examples", "3", file});
  }
}

// To decide all levels here takes much longer than anybody would wait.
TEST_F(SameBytesTest, WhereLevelsAreLeftUndecided) {
  const std::string hard = path("hard.jsonl");
  write_hard_history(hard);
  expect_same_in_all_forms({"-l", "cc", hard}, "(not within the work given to other levels).");
}

// To tell all stories here takes too long, too.
TEST_F(SameBytesTest, WhereStoriesAreLeftOut) {
  const std::string weak = generated("weak.jsonl", {"-n", "3000", "--keys", "50", "-l", "causal"});
  expect_same({"-l", "si", "--examples", "500", weak}, "There may be more");
}

}  // namespace
}  // namespace ouro
