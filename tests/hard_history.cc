#include "tests/hard_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/run_program.h"

namespace ouro {

void write_hard_history(const std::string& path) {
  const Ran generated = run_program({kOuroBinary, "generate", "-n", "3000", "--keys", "30",
                                     "--read-share", "0.3", "--sessions", "1000", "--ops", "4"});
  EXPECT_EQ(generated.status, 0) << generated.err;
  std::istringstream in(generated.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto session = [](const std::string& line) {
    const std::size_t at = line.find("\"session\":");
    return at == std::string::npos ? std::string() : line.substr(at, line.find(',', at) - at);
  };
  std::stable_sort(lines.begin(), lines.end(), [&](const std::string& a, const std::string& b) {
    return session(a) < session(b);
  });
  std::ofstream out(path);
  for (const std::string& line : lines) out << line << '\n';
}

}  // namespace ouro
