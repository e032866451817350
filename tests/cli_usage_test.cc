// What the command says if it is used the wrong way, and if nobody listens.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ouro/ouro.h"
#include "tests/files.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

// A history that holds, one that violates read-atomic, and a file that is none.
const std::string kHoldingFile = OURO_SOURCE_DIR "/tests/data/demo/bank.jsonl";
const std::string kFracturedFile = OURO_SOURCE_DIR "/tests/data/demo/fractured_read.jsonl";
const std::string kNoHistoryFile = OURO_SOURCE_DIR "/README.md";

Ran ouro(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kOuroBinary);
  return run_program(arguments);
}

TEST(UsageTest, HelpIsACommandToo) {
  EXPECT_EQ(ouro({"help"}).out, ouro({"--help"}).out);
  for (const char* name : {"check", "run", "serve", "explain", "man", "help"}) {
    const Ran ran = ouro({"help", name});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, ouro({name, "--help"}).out) << name;
  }
  const Ran misspelt = ouro({"help", "chek"});
  EXPECT_EQ(misspelt.status, 254);
  EXPECT_EQ(misspelt.err, "ouro: unknown command 'chek'; did you mean 'check'?\n");
  EXPECT_EQ(ouro({"help", "xyz"}).err, "ouro: unknown command 'xyz'; see 'ouro help'\n");
}

TEST(UsageTest, ShortHelpFitsAScreen) {
  constexpr std::ptrdiff_t kLines = 24;
  const auto lines_of = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_LE(lines_of(ouro({"help"}).out), kLines);
  for (const char* name :
       {"run", "hermitage", "driver-test", "serve", "tap", "check", "explain", "certify", "stats",
        "lint", "levels", "formats", "convert", "generate", "bench", "shard"}) {
    const Ran ran = ouro({name, "-h"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_LE(lines_of(ran.out), kLines) << name;
  }
}

TEST(UsageTest, WhatIsMisspeltIsCorrected) {
  EXPECT_EQ(ouro({"chek", kHoldingFile}).err,
            "ouro: unknown command 'chek'; did you mean 'check'?\n");
  EXPECT_EQ(ouro({"check", "--levl", "si", kHoldingFile}).err,
            "ouro: unknown option '--levl'; did you mean '--level'?\n");
  EXPECT_EQ(ouro({"check", "--levl=si", kHoldingFile}).err,
            "ouro: unknown option '--levl=si'; did you mean '--level'?\n");
  EXPECT_EQ(ouro({"check", "--frobnicate", kHoldingFile}).err,
            "ouro: unknown option '--frobnicate'; see 'ouro check --help'\n");
}

TEST(UsageTest, AClosedStandardErrorHidesNoVerdict) {
  const auto unheard = [](const std::string& arguments) {
    return run_program({"/bin/sh", "-c", std::string(kOuroBinary) + ' ' + arguments + " 2>&-"});
  };
  EXPECT_EQ(unheard("check -l ra " + kFracturedFile).status, 1);
  EXPECT_EQ(unheard("check -l ra " + kNoHistoryFile + ' ' + kFracturedFile).status, 1);
  EXPECT_EQ(unheard("check -l ra " + kNoHistoryFile).status, 254);
  EXPECT_EQ(unheard("check --nonsense").status, 254);
  EXPECT_EQ(
      run_program({"/bin/sh", "-c",
                   std::string(kOuroBinary) + " check -l ra " + kNoHistoryFile + " 2> /dev/full"})
          .status,
      254);
}

// Standard input that is not closed cannot be read to its end. The histories behind it count, too.
TEST(UsageTest, LimitsAreForReadingToo) {
  const std::string junit = temporary("junit.xml");
  using Case = std::pair<std::vector<std::string>, std::string>;
  for (const auto& [limit, reason] :
       {Case{{"--time-limit", "0.05"}, "time limit of 0.05 s reached"},
        Case{{"--memory-limit", "1"}, "memory limit of 1 MB reached"}}) {
    std::vector<std::string> arguments{kOuroBinary, "check",      "-l",      "ra",
                                       "-",         kHoldingFile, "--junit", junit};
    arguments.insert(arguments.end(), limit.begin(), limit.end());
    Program program(arguments);
    program.write_input("{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n");
    const Ran ran = program.wait();
    EXPECT_EQ(ran.status, 2) << ran.err;
    const std::string undecided = ": UNDECIDED read-atomic (" + reason + ")\n";
    EXPECT_EQ(ran.out, "standard input" + undecided + kHoldingFile + undecided);
    EXPECT_NE(slurp(junit).find("errors=\"2\""), std::string::npos) << slurp(junit);
  }
  std::filesystem::remove(junit);
}

}  // namespace
}  // namespace ouro
