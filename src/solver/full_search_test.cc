// The full search alone: compares it on random problems with a search through all assignments, and
// re-checks every lemma of every proof.

#include "solver/full_search.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "tests/solver_problems.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

FullProblem full_problem(const Problem& problem) {
  FullProblem full;
  full.node_count = problem.nodes;
  full.known = problem.known;
  full.known.insert(full.known.end(), problem.late.begin(), problem.late.end());
  for (const auto& sides : problem.choices) {
    auto& choice = full.choices.emplace_back();
    for (std::size_t side = 0; side < 2; ++side) {
      for (const Arc& arc : sides[side].span()) choice[side].add_acyclic(arc);
    }
  }
  return full;
}

std::vector<Node> identity(std::size_t nodes) {
  std::vector<Node> order(nodes);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Runs in turns of little work, and so goes on many times where it was.
Solution run_in_turns(FullSearch& search, std::uint64_t steps) {
  const Budget budget;
  for (;;) {
    const Solution solution = search.run(Budget(budget, Steps{steps}));
    if (solution != Solution::Stopped) return solution;
  }
}

// More choices and fewer known arcs than random_problem() has: there is more to learn.
Problem dense_problem(std::mt19937& random) {
  Problem problem;
  problem.nodes = 5 + random() % 5;
  const auto node = [&] { return static_cast<Node>(random() % problem.nodes); };
  const std::size_t choices = 6 + random() % 5;
  for (std::size_t c = 0; c < choices; ++c) {
    auto& sides = problem.choices.emplace_back();
    const Node a = node();
    const Node b = node();
    sides[0].add({a, b});
    sides[1].add({b, a});
    for (Side& side : sides) {
      if (random() % 2 == 0) side.add({node(), node()});
    }
  }
  return problem;
}

void compare(const Problem& problem, std::size_t& found, std::size_t& refuted) {
  FullSearch search(full_problem(problem), identity(problem.nodes));
  const Solution solution = run_in_turns(search, 1);
  ASSERT_EQ(solution == Solution::Found, solvable(problem));
  if (solution == Solution::Found) {
    ++found;
    std::uint32_t sides = 0;
    for (std::uint32_t c = 0; c < problem.choices.size(); ++c) {
      if (!search.takes_first(c)) sides |= 1u << c;
    }
    EXPECT_TRUE(acyclic(problem.nodes, arcs_of(problem, sides)));
  } else {
    ++refuted;
    const std::vector<Lemma> proof = search.proof();
    expect_proof(problem, proof);
    EXPECT_EQ(complaint(proof), "");
    EXPECT_EQ(trimmed(proof).size(), proof.size());
  }
}

TEST(FullSearchTest, AgreesWithAllAssignmentsOnRandomProblems) {
  std::size_t found = 0;
  std::size_t refuted = 0;
  for (unsigned seed = 0; seed < 12'000 / kSlowdown; ++seed) {
    std::mt19937 random(seed);
    Problem problem = seed % 2 == 0 ? random_problem(random) : dense_problem(random);
    problem.clauses.clear();
    compare(problem, found, refuted);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(found, 2'000 / kSlowdown);
  EXPECT_GT(refuted, 2'000 / kSlowdown);
}

}  // namespace
}  // namespace ouro
