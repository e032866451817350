// The solver alone: compares it on random problems with a search through all assignments, and
// re-checks every lemma of every proof.

#include "solver/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/solver_problems.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

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

// Does what it was told, one thing after the other.
class ScriptedGuide : public Guide {
 public:
  explicit ScriptedGuide(std::vector<Next> script) : script_(std::move(script)) {}

  Next next(Solver& solver) override {
    if (at_ == script_.size()) {
      for (std::uint32_t c = 0; c < solver.choice_count(); ++c) {
        assigned_.push_back(solver.assigned(c));
      }
      return {};
    }
    return script_[at_++];
  }
  void reopened(std::uint32_t) override {}
  // By choice, when the script was over.
  [[nodiscard]] const std::vector<bool>& assigned() const { return assigned_; }

 private:
  std::vector<Next> script_;
  std::size_t at_ = 0;
  std::vector<bool> assigned_;
};

Guide::Next deciding(Literal literal) {
  Guide::Next next;
  next.kind = Guide::Next::Kind::Decide;
  next.literal = literal;
  return next;
}

Guide::Next forbidding(std::vector<Literal> literals) {
  Guide::Next next;
  next.kind = Guide::Next::Kind::Forbid;
  next.forbidden.literals = std::move(literals);
  return next;
}

// A clause can be in conflict with one literal alone of the highest level, if it was told late:
// then what is learnt is the clause itself. If it were watched a second time, it would be taken for
// one that leaves nothing open as soon as one of its literals becomes false.
TEST(SolverTest, AClauseThatIsLearntAgainForcesNothingTooEarly) {
  constexpr std::uint32_t kChoices = 4;
  const Literal a = Literal::of(0, false);
  const Literal b = Literal::of(1, false);
  const Literal c = Literal::of(2, false);
  const Literal d = Literal::of(3, false);
  Guide::Next restart;
  restart.kind = Guide::Next::Kind::Restart;
  ScriptedGuide guide({
      deciding(!a), deciding(!b), deciding(d),
      forbidding({a, b, c}),  // Makes c true, at the level of d.
      forbidding({!d, b}),    // Takes d back and with it c, which is open although it follows.
      deciding(!c),           // So a, b, c is in conflict, and learnt.
      restart,
      deciding(!b),  // Both a and c are open.
  });
  std::vector<Node> nodes(2 * kChoices);
  std::iota(nodes.begin(), nodes.end(), 0);
  const Budget budget;
  DynamicOrder order(Digraph(nodes.size(), std::vector<Arc>()), {}, nodes, budget);
  Solver solver(order, budget);
  for (std::uint32_t choice = 0; choice < kChoices; ++choice) {
    Side first;
    Side second;
    first.add({2 * choice, 2 * choice + 1});
    second.add({2 * choice + 1, 2 * choice});
    solver.add_choice(first, second);
  }
  EXPECT_EQ(solver.solve(guide), Solution::Found);
  // d follows from the second clause.
  EXPECT_EQ(guide.assigned(), (std::vector<bool>{false, true, false, true}));
}

}  // namespace
}  // namespace ouro
