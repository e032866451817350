// Whatever ends the program, no file stays half written.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/run_program.h"
#include "tests/serve_process.h"

namespace ouro {
namespace {

TEST(SignalsTest, NoSignalLeavesAHalfWrittenFile) {
  const ScratchFolder folder;
  const std::string big = folder / "big.ouro";
  ASSERT_EQ(run_program({kOuroBinary, "generate", "-n", "200000", "-o", big}).status, 0);
  const std::string proof = folder / "proof.jsonl.gz";
  for (const std::vector<int>& signals :
       {std::vector{SIGTERM}, std::vector{SIGHUP}, std::vector{SIGINT, SIGINT}}) {
    Program program({kOuroBinary, "check", "-q", "-l", "rc", "--certificate", proof, big});
    program.close_input();
    const auto begun = [&] { return std::filesystem::exists(proof + ".part"); };
    for (int i = 0; i < 60'000 && !begun(); ++i) ::usleep(1'000);
    EXPECT_TRUE(begun());
    for (const int signal : signals) program.send(signal);
    const int status = program.wait().status;
    EXPECT_TRUE(status == 128 + signals[0] || status == 0) << status << ": or it had just ended";
    EXPECT_FALSE(begun());
    EXPECT_EQ(std::filesystem::exists(proof), status == 0);
    std::filesystem::remove(proof);
  }
}

}  // namespace
}  // namespace ouro
