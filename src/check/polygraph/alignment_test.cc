#include "check/polygraph/alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "check/observed/likely_order.h"
#include "ouro/format.h"
#include "ouro/generate.h"

namespace ouro {
namespace {

// A history of a store, written session by session, and the position at which each of its
// transactions committed.
struct BySession {
  History history;
  std::vector<std::size_t> committed;
};

BySession by_session(std::uint32_t sessions, std::uint32_t keys, std::uint64_t seed,
                     bool duplicates = false) {
  GenerateOptions options;
  options.duplicates = duplicates;
  options.sessions = sessions;
  options.txns = 6'000;
  options.keys = keys;
  options.seed = seed;
  const auto recorded = generate(options);
  EXPECT_TRUE(recorded.ok());
  std::string text;
  EXPECT_TRUE(print_history(*recorded, Format::Native, text).ok());
  std::istringstream in(text);
  std::vector<std::pair<std::string, std::size_t>> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("{\"session\"")) lines.emplace_back(line, lines.size());
  }
  const auto session = [](const auto& line) { return line.first.substr(0, line.first.find(',')); };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const auto& a, const auto& b) { return session(a) < session(b); });
  BySession out;
  std::string sorted;
  for (const auto& [line, committed] : lines) {
    sorted += line + '\n';
    out.committed.push_back(committed);
  }
  out.history = *parse_history(sorted);
  return out;
}

// How many positions transactions are from where they committed, on average.
double error_of(std::span<const Node> txns, const std::vector<std::size_t>& committed) {
  double sum = 0;
  for (std::size_t i = 0; i < txns.size(); ++i) {
    sum += std::abs(static_cast<double>(i) - static_cast<double>(committed[txns[i]]));
  }
  return sum / static_cast<double>(txns.size());
}

TEST(AlignmentTest, ComesCloserToTheRightOrderWhereItIsUsed) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const BySession made = by_session(300, 600, seed);
    ASSERT_TRUE(order_is_vague(made.history));
    const auto observed = Observed::observe(made.history, Budget(), 1);
    ASSERT_TRUE(observed.ok());
    for (const Level level : {Level::SessionSerializable, Level::SessionSi}) {
      const Encoding encoding(*observed, level, 0, true, 1, Budget());
      const Digraph known(encoding.node_count(), encoding.arcs());
      const std::vector<Node> guess = likely_commit_order(made.history);
      const auto nodes = topological_order(known, encoding.likely_order(guess));
      ASSERT_EQ(nodes.size(), encoding.node_count());
      const auto better = aligned(encoding, nodes, Budget());
      ASSERT_TRUE(better.has_value());
      EXPECT_LT(error_of(*better, made.committed), 0.75 * error_of(guess, made.committed))
          << "seed " << seed;
    }
  }
}

// Few reads are of values that one transaction wrote alone.
TEST(AlignmentTest, MatchesReadsOfValuesThatRepeat) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const BySession made = by_session(100, 600, seed, true);
    const auto observed = Observed::observe(made.history, Budget(), 1);
    ASSERT_TRUE(observed.ok());
    ASSERT_GT(observed->searched_reads().size(), 10'000);
    const Encoding encoding(*observed, Level::SessionSerializable, 0, true, 1, Budget(),
                            {.sources = true});
    const Digraph known(encoding.node_count(), encoding.arcs());
    const std::vector<Node> guess = likely_commit_order(made.history);
    const auto nodes = topological_order(known, encoding.likely_order(guess));
    const auto better = aligned(encoding, nodes, Budget());
    ASSERT_TRUE(better.has_value());
    EXPECT_LT(error_of(*better, made.committed), 0.75 * error_of(guess, made.committed))
        << "seed " << seed;
  }
}

TEST(AlignmentTest, IsNotUsedWhereReadsTellLessThanLongSessions) {
  const BySession made = by_session(3, 6'000, 1);
  ASSERT_TRUE(order_is_vague(made.history));
  const auto observed = Observed::observe(made.history, Budget(), 1);
  ASSERT_TRUE(observed.ok());
  const Encoding encoding(*observed, Level::SessionSerializable, 0, true, 1, Budget());
  const Digraph known(encoding.node_count(), encoding.arcs());
  const auto nodes =
      topological_order(known, encoding.likely_order(likely_commit_order(made.history)));
  EXPECT_FALSE(aligned(encoding, nodes, Budget()).has_value());
}

TEST(AlignmentTest, RecordedHistoriesDoNotNeedIt) {
  GenerateOptions options;
  options.txns = 500;
  const auto recorded = generate(options);
  ASSERT_TRUE(recorded.ok());
  EXPECT_FALSE(order_is_vague(*recorded));
}

}  // namespace
}  // namespace ouro
