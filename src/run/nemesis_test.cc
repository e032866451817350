#include "run/nemesis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace ouro::running {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// Fails the test if there are two troubles at once, or if a node is healed that has no trouble.
class FakeServer final : public db::Server {
 public:
  explicit FakeServer(std::size_t nodes) : nodes_(nodes) {}
  db::ServerKind kind() const override { return db::ServerKind::Galera; }
  const std::vector<db::ServerNode>& nodes() const override { return nodes_; }
  int process(std::size_t) const override { return 0; }
  std::vector<db::ServerLog> logs() const override { return {}; }

  Status pause(std::size_t node) override { return disturb("pause", node); }
  Status resume(std::size_t node) override { return heal("pause", node); }
  Status kill(std::size_t node) override { return disturb("kill", node); }
  Status restart(std::size_t node) override { return heal("kill", node); }
  Status cut(std::size_t node) override { return disturb("cut", node); }
  Status join(std::size_t node) override { return heal("cut", node); }

  std::string broken;  // The trouble and its node: "pause1". Empty: there is none.
  std::size_t count = 0;
  bool refuses_to_heal = false;

 private:
  Status disturb(std::string what, std::size_t node) {
    EXPECT_EQ(broken, "");
    EXPECT_LT(node, nodes_.size());
    broken = what + std::to_string(node);
    ++count;
    return {};
  }
  Status heal(std::string what, std::size_t node) {
    EXPECT_EQ(broken, what + std::to_string(node));
    if (refuses_to_heal) return Error{.what = "it is dead"};
    broken.clear();
    return {};
  }

  std::vector<db::ServerNode> nodes_;
};

TEST(NemesisTest, TroublesComeOneByOneAndAllIsWellAtTheEnd) {
  FakeServer server(3);
  std::atomic<std::int64_t> clock = 0;
  Nemesis nemesis(&server,
                  {.troubles = {Trouble::Pause, Trouble::Kill, Trouble::Cut},
                   .seed = 7,
                   .quiet = 2ms,
                   .trouble = 2ms},
                  [&] { return std::int64_t{++clock}; });
  while (clock < 60) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(nemesis.end().ok());
  EXPECT_EQ(server.broken, "");
  EXPECT_EQ(nemesis.trouble_count(), server.count);
  EXPECT_GE(server.count, 30u);
  for (const char* what : {"pause node", "resume node", "kill node", "restart node", "cut node",
                           "join node", " node 0", " node 1", " node 2"}) {
    EXPECT_THAT(nemesis.events(), HasSubstr(what));
  }
  EXPECT_THAT(nemesis.events(), StartsWith("1 "));
  EXPECT_THAT(nemesis.events(), HasSubstr("; 2 "));
}

TEST(NemesisTest, ATroubleThatLastsIsHealedWhenTheRunEnds) {
  FakeServer server(1);
  std::atomic<bool> disturbed = false;
  Nemesis nemesis(&server, {.troubles = {Trouble::Pause}, .quiet = 1ms, .trouble = 1h}, [&] {
    disturbed = true;
    return std::int64_t{5};
  });
  while (!disturbed) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(nemesis.end().ok());
  EXPECT_EQ(server.broken, "");
  EXPECT_EQ(nemesis.events(), "5 pause node 0; 5 resume node 0");
}

TEST(NemesisTest, WhatCannotBeHealedIsReported) {
  FakeServer server(1);
  server.refuses_to_heal = true;
  std::atomic<bool> disturbed = false;
  Nemesis nemesis(&server, {.troubles = {Trouble::Kill}, .quiet = 1ms, .trouble = 1ms}, [&] {
    disturbed = true;
    return std::int64_t{0};
  });
  while (!disturbed) std::this_thread::sleep_for(1ms);
  const Status ended = nemesis.end();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().what, "cannot restart node 0: it is dead");
}

class NemesisCommandTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // What the command wrote to the file `name`.
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string command(const std::string& text) const {
    return "cd " + folder_.string() + " && " + text;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("ouro-nemesis-test-" + std::to_string(getpid()));
};

TEST_F(NemesisCommandTest, IsToldToStrikeAndToHealInTurn) {
  std::atomic<std::int64_t> clock = 0;
  Nemesis nemesis(nullptr,
                  {.troubles = {Trouble::Command},
                   .quiet = 1ms,
                   .trouble = 1ms,
                   .command = command("echo $OURO_NEMESIS $OURO_NEMESIS_NUMBER >> log")},
                  [&] { return std::int64_t{++clock}; });
  while (clock < 5) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(nemesis.end().ok());
  EXPECT_THAT(read("log"), StartsWith("strike 1\nheal 1\nstrike 2\nheal 2\nstrike 3\nheal 3\n"));
  EXPECT_THAT(read("log"),
              testing::EndsWith("heal " + std::to_string(nemesis.trouble_count()) + "\n"));
  EXPECT_THAT(nemesis.events(), StartsWith("1 strike 1; 2 heal 1; 3 strike 2; 4 heal 2"));
}

TEST_F(NemesisCommandTest, HealsAtTheEndOfTheRun) {
  std::atomic<bool> struck = false;
  Nemesis nemesis(nullptr,
                  {.troubles = {Trouble::Command},
                   .quiet = 1ms,
                   .trouble = 1h,
                   .command = command("echo $OURO_NEMESIS >> log")},
                  [&] {
                    struck = true;
                    return std::int64_t{0};
                  });
  while (!struck) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(nemesis.end().ok());
  EXPECT_EQ(read("log"), "strike\nheal\n");
}

TEST_F(NemesisCommandTest, ThatFailsEndsWithItsWordsAndIsHealed) {
  Nemesis nemesis(nullptr,
                  {.troubles = {Trouble::Command},
                   .quiet = 1ms,
                   .trouble = 1ms,
                   .command = command("echo $OURO_NEMESIS >> log; echo no such rule >&2; "
                                      "touch done; exit 3")},
                  [&] { return std::int64_t{0}; });
  while (read("log") != "strike\nheal\n") std::this_thread::sleep_for(1ms);
  const Status ended = nemesis.end();
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().what, HasSubstr("the nemesis command (strike)"));
  EXPECT_THAT(ended.error().what, HasSubstr("no such rule"));
}

TEST_F(NemesisCommandTest, ThatHangsIsKilled) {
  Nemesis nemesis(nullptr,
                  {.troubles = {Trouble::Command},
                   .quiet = 1ms,
                   .trouble = 1ms,
                   .command = command("{ [ $OURO_NEMESIS = heal ] || "
                                      "{ : > begun; exec sleep 1000; }; }"),
                   .command_limit = 3s},
                  [&] { return std::int64_t{0}; });
  while (!std::filesystem::exists(folder_ / "begun")) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(nemesis.end().ok());
}

TEST(NemesisTest, UnknownTroublesAreNamed) {
  EXPECT_EQ(*parse_trouble("pause"), Trouble::Pause);
  EXPECT_EQ(*parse_trouble("kill"), Trouble::Kill);
  EXPECT_EQ(*parse_trouble("cut"), Trouble::Cut);
  EXPECT_THAT(parse_trouble("flood").error().what, HasSubstr("there are pause, kill and cut"));
}

}  // namespace
}  // namespace ouro::running
