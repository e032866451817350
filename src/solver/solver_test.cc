// The solver alone: compares it on random problems with a search through all assignments, and
// re-checks every lemma of every proof.

#include "solver/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/this_build.h"

namespace ouro {
namespace {

struct Problem {
  std::size_t nodes = 0;
  std::vector<Arc> known;
  std::vector<Arc> late;  // Arcs that are known, too, but required only during the search.
  std::vector<std::array<Side, 2>> choices;
  std::vector<std::vector<Literal>> clauses;  // Known, too, but told only during the search.
};

bool acyclic(std::size_t nodes, const std::vector<Arc>& arcs) {
  std::vector<Node> identity(nodes);
  std::iota(identity.begin(), identity.end(), 0);
  return topological_order(Digraph(nodes, arcs), identity).size() == nodes;
}

// Bit i of `sides` is set if the second side of choice i is taken.
std::vector<Arc> arcs_of(const Problem& problem, std::uint32_t sides) {
  std::vector<Arc> arcs = problem.known;
  arcs.insert(arcs.end(), problem.late.begin(), problem.late.end());
  for (std::size_t c = 0; c < problem.choices.size(); ++c) {
    const auto side = problem.choices[c][sides >> c & 1].span();
    arcs.insert(arcs.end(), side.begin(), side.end());
  }
  return arcs;
}

bool keeps_clauses(const Problem& problem, std::uint32_t sides) {
  return std::all_of(problem.clauses.begin(), problem.clauses.end(), [&](const auto& clause) {
    return std::any_of(clause.begin(), clause.end(), [&](Literal literal) {
      return ((sides >> literal.choice() & 1) != 0) == literal.opposite();
    });
  });
}

bool solvable(const Problem& problem) {
  for (std::uint32_t sides = 0; sides < 1u << problem.choices.size(); ++sides) {
    if (keeps_clauses(problem, sides) && acyclic(problem.nodes, arcs_of(problem, sides)))
      return true;
  }
  return false;
}

Problem random_problem(std::mt19937& random) {
  Problem problem;
  problem.nodes = 3 + random() % 8;
  const auto node = [&] { return static_cast<Node>(random() % problem.nodes); };
  const auto forward = [&] {
    const Node a = node();
    const Node b = node();
    return Arc{std::min(a, b), std::max(a, b)};
  };
  const auto add_some = [&](std::vector<Arc>& arcs, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (const Arc arc = forward(); arc.from != arc.to) arcs.push_back(arc);
    }
  };
  add_some(problem.known, random() % problem.nodes);
  if (random() % 3 == 0) add_some(problem.late, 1 + random() % 3);
  const std::size_t choices = random() % 11;
  for (std::size_t c = 0; c < choices; ++c) {
    auto& sides = problem.choices.emplace_back();
    for (Side& side : sides) {
      const std::size_t count = random() % 8 == 0 ? 0 : 1 + random() % 2;
      for (std::size_t i = 0; i < count; ++i) side.add({node(), node()});
    }
  }
  const std::size_t clauses = choices > 4 && random() % 2 == 0 ? random() % 30 : 0;
  for (std::size_t i = 0; i < clauses; ++i) {
    auto& clause = problem.clauses.emplace_back();
    const std::size_t size = 2 + random() % 4;
    while (clause.size() < size) {
      const auto choice = static_cast<std::uint32_t>(random() % choices);
      const bool has = std::any_of(clause.begin(), clause.end(),
                                   [&](Literal literal) { return literal.choice() == choice; });
      if (!has) clause.push_back(Literal::of(choice, random() % 2 == 0));
    }
  }
  return problem;
}

// Decides at random, adds choices to the solver only when it decides them, and requires the late
// arcs at some point.
class RandomGuide : public Guide {
 public:
  RandomGuide(const Problem& problem, std::mt19937& random) : problem_(problem), random_(random) {}

  Next next(Solver& solver) override {
    Next next;
    if (required_ < problem_.late.size() && (random_() % 2 == 0 || decided_all(solver))) {
      next.kind = Next::Kind::Require;
      next.required.add(problem_.late[required_++]);
      return next;
    }
    if (const auto* clause = broken_clause(solver)) {
      next.kind = Next::Kind::Forbid;
      next.forbidden.literals = *clause;
      return next;
    }
    while (solver.choice_count() < problem_.choices.size()) {
      const auto& sides = problem_.choices[solver.choice_count()];
      solver.add_choice(sides[0], sides[1]);
      if (random_() % 2 == 0) break;
    }
    std::vector<std::uint32_t> open;
    for (std::uint32_t c = 0; c < solver.choice_count(); ++c) {
      if (!solver.assigned(c)) open.push_back(c);
    }
    if (open.empty()) return decided_all(solver) ? next : this->next(solver);
    next.kind = Next::Kind::Decide;
    next.literal = Literal::of(open[random_() % open.size()], random_() % 2 == 0);
    return next;
  }

  // Arcs that were required above level zero are taken back with the decisions, so they must be
  // required again.
  void reopened(std::uint32_t) override { required_ = 0; }

 private:
  // A clause without a literal that is true and at most two that are open; one that was told before
  // is told again only if it is broken.
  [[nodiscard]] const std::vector<Literal>* broken_clause(const Solver& solver) {
    told_.resize(problem_.clauses.size(), false);
    for (std::size_t i = 0; i < problem_.clauses.size(); ++i) {
      const auto& clause = problem_.clauses[i];
      std::size_t open = 0;
      bool kept = false;
      for (const Literal literal : clause) {
        if (literal.choice() >= solver.choice_count()) {
          open = 3;
        } else if (solver.is_true(literal)) {
          kept = true;
        } else if (!solver.assigned(literal.choice())) {
          ++open;
        }
      }
      if (kept || open > (told_[i] ? 0 : random_() % 3)) continue;
      told_[i] = true;
      return &clause;
    }
    return nullptr;
  }

  [[nodiscard]] bool decided_all(const Solver& solver) const {
    if (solver.choice_count() < problem_.choices.size()) return false;
    for (std::uint32_t c = 0; c < solver.choice_count(); ++c) {
      if (!solver.assigned(c)) return false;
    }
    return true;
  }

  const Problem& problem_;
  std::mt19937& random_;
  std::size_t required_ = 0;
  std::vector<bool> told_;  // By clause.
};

// Whether the cycle of a lemma is closed, each arc is known or belongs to the side that its label
// names, and the labels are the opposites of exactly the lemma's literals.
::testing::AssertionResult cycle_proves(const Problem& problem, const Lemma& lemma) {
  std::vector<Literal> against;
  for (std::size_t i = 0; i < lemma.cycle.size(); ++i) {
    const auto& [arc, label] = lemma.cycle[i];
    if (arc.to != lemma.cycle[(i + 1) % lemma.cycle.size()].arc.from) {
      return ::testing::AssertionFailure() << "the cycle does not close behind arc " << i;
    }
    const auto has = [wanted = arc](std::span<const Arc> arcs) {
      return std::find(arcs.begin(), arcs.end(), wanted) != arcs.end();
    };
    if (label == DynamicOrder::kNoLabel) {
      if (!has(problem.known) && !has(problem.late)) {
        return ::testing::AssertionFailure() << "arc " << i << " is not known";
      }
      continue;
    }
    const Literal literal{label};
    if (!has(problem.choices[literal.choice()][literal.opposite() ? 1 : 0].span())) {
      return ::testing::AssertionFailure() << "arc " << i << " is not of its side";
    }
    against.push_back(!literal);
  }
  std::sort(against.begin(), against.end());
  against.erase(std::unique(against.begin(), against.end()), against.end());
  std::vector<Literal> literals = lemma.literals;
  std::sort(literals.begin(), literals.end());
  if (against != literals) return ::testing::AssertionFailure() << "another cycle than its lemma";
  return ::testing::AssertionSuccess();
}

bool is_clause(const Problem& problem, std::vector<Literal> literals) {
  std::sort(literals.begin(), literals.end());
  return std::any_of(problem.clauses.begin(), problem.clauses.end(), [&](auto clause) {
    std::sort(clause.begin(), clause.end());
    return clause == literals;
  });
}

// Whether the lemma follows from its premises by unit propagation, in their order; or it is one of
// the problem's clauses.
::testing::AssertionResult premises_prove(const Problem& problem, std::span<const Lemma> lemmas,
                                          std::size_t at) {
  if (lemmas[at].premises.empty() && is_clause(problem, lemmas[at].literals)) {
    return ::testing::AssertionSuccess();
  }
  std::vector<Literal> true_ones;
  const auto is_true = [&](Literal l) {
    return std::find(true_ones.begin(), true_ones.end(), l) != true_ones.end();
  };
  for (const Literal literal : lemmas[at].literals) true_ones.push_back(!literal);
  for (const LemmaId premise : lemmas[at].premises) {
    if (premise >= at) return ::testing::AssertionFailure() << "a premise that comes later";
    std::vector<Literal> open;
    for (const Literal literal : lemmas[premise].literals) {
      if (!is_true(!literal)) open.push_back(literal);
    }
    if (open.empty()) return ::testing::AssertionSuccess();
    if (open.size() > 1)
      return ::testing::AssertionFailure() << "premise " << premise << " is open";
    true_ones.push_back(open[0]);
  }
  return ::testing::AssertionFailure() << "no contradiction";
}

void expect_proof(const Problem& problem, std::span<const Lemma> lemmas) {
  ASSERT_FALSE(lemmas.empty());
  EXPECT_TRUE(lemmas.back().literals.empty());
  for (std::size_t i = 0; i < lemmas.size(); ++i) {
    EXPECT_TRUE(lemmas[i].cycle.empty() ? premises_prove(problem, lemmas, i)
                                        : cycle_proves(problem, lemmas[i]))
        << "lemma " << i;
  }
}

void expect_solution(const Problem& problem, const DynamicOrder& order, const Solver& solver) {
  // In the order found, known arcs run forward, and so do those of one side of every choice.
  const auto forward = [&](std::span<const Arc> arcs) {
    return std::all_of(arcs.begin(), arcs.end(), [&](const Arc& arc) {
      return order.position(arc.from) < order.position(arc.to);
    });
  };
  EXPECT_TRUE(forward(problem.known));
  EXPECT_TRUE(forward(problem.late));
  EXPECT_EQ(solver.choice_count(), problem.choices.size());
  for (const auto& sides : problem.choices) {
    EXPECT_TRUE(forward(sides[0].span()) || forward(sides[1].span()));
  }
}

TEST(SolverTest, AgreesWithAllAssignmentsOnRandomProblems) {
  std::size_t found = 0;
  std::size_t refuted = 0;
  for (unsigned seed = 0; seed < 20'000 / kSlowdown; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = random_problem(random);
    std::vector<Node> nodes(problem.nodes);
    std::iota(nodes.begin(), nodes.end(), 0);
    const Budget budget;
    DynamicOrder order(Digraph(nodes.size(), problem.known), {}, nodes, budget);
    Solver solver(order, budget);
    RandomGuide guide(problem, random);
    const Solution solution = solver.solve(guide);
    ASSERT_EQ(solution == Solution::Found, solvable(problem)) << "seed " << seed;
    if (solution == Solution::Found) {
      ++found;
      expect_solution(problem, order, solver);
    } else {
      ASSERT_EQ(solution, Solution::None);
      ++refuted;
      expect_proof(problem, solver.proof());
      expect_proof(problem, trimmed(solver.proof()));
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(found, 3'000 / kSlowdown);
  EXPECT_GT(refuted, 3'000 / kSlowdown);
}

TEST(SolverTest, StopsWhenTheBudgetIsExhausted) {
  std::mt19937 random(1);
  Problem problem;
  problem.nodes = 2;
  problem.choices.resize(1);
  problem.choices[0][0].add({0, 1});
  problem.choices[0][1].add({1, 0});
  std::vector<Node> nodes{0, 1};
  std::atomic<bool> cancelled{true};
  const Budget budget({}, &cancelled);
  DynamicOrder order(Digraph(nodes.size(), problem.known), {}, nodes, budget);
  // A guide that never ends.
  class Endless : public Guide {
   public:
    Next next(Solver&) override {
      Next next;
      next.kind = Next::Kind::Require;
      return next;
    }
    void reopened(std::uint32_t) override {}
  } guide;
  Solver solver(order, budget);
  EXPECT_EQ(solver.solve(guide), Solution::Stopped);
}

}  // namespace
}  // namespace ouro
