// All choices at once, on histories of a few transactions.

#include "check/polygraph/tangle.h"

#include <gtest/gtest.h>

#include "tests/tiny_search.h"

namespace ouro {
namespace {

constexpr char kContradiction[] =
    "T1: w x 1, w y 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2\nT4: r x 2, r y 1";

TEST(TangleTest, EveryTwoChainsOfAKeyAreAChoice) {
  TinySearch s("T1: w x 1\nT2: w x 2\nT3: w x 3\nT4: w y 1\nT5: w y 2");
  Tangle tangle(s.encoding, s.order, false);
  EXPECT_EQ(tangle.pairs().size(), 4u) << "three of x, one of y";
  EXPECT_TRUE(Tangle::cost(s.encoding).has_value());
}

TEST(TangleTest, AnOrderThatIsFoundKeepsAllArcs) {
  TinySearch s("T1: w x 1\nT2: w x 2\nT3: r x 1\nT4: r x 2");
  Tangle tangle(s.encoding, s.order, false);
  ASSERT_TRUE(tangle.usable());
  ASSERT_EQ(tangle.run(s.budget), Solution::Found);
  const std::vector<Node> nodes = tangle.order();
  ASSERT_EQ(nodes.size(), s.order.node_count());
  std::vector<std::size_t> place(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  EXPECT_LT(place[0], place[2]);
  EXPECT_LT(place[1], place[3]);
  EXPECT_TRUE(place[2] < place[1] || place[3] < place[0]) << "a reader before the next writer";
}

TEST(TangleTest, AContradictionIsProven) {
  TinySearch s(kContradiction);
  Tangle tangle(s.encoding, s.order, false);
  ASSERT_EQ(tangle.run(s.budget), Solution::None);
  EXPECT_FALSE(tangle.proof().empty());
}

// At psi a long fork is allowed; that two transactions overwrite the same version is not.
TEST(TangleTest, InTwoLayersOnlyCyclesWithOneOverwriteAreForbidden) {
  const auto run = [](std::string_view text) {
    TinySearch s(text, Level::ParallelSi);
    const Encoding with(s.t.observed(), Level::ParallelSi, 0, true, 1, s.budget, {},
                        Encoding::Overwrites::AreArcs);
    Tangle tangle(with, s.order, true);
    return tangle.usable() ? tangle.run(s.budget) : Solution::None;
  };
  EXPECT_EQ(run("T1: w x 1\nT2: w y 1\nT3: r x 1, r y nil\nT4: r x nil, r y 1"), Solution::Found);
  EXPECT_EQ(run(kContradiction), Solution::None);
}

}  // namespace
}  // namespace ouro
