// Random problems for the solvers, small enough to try all assignments, and a check of proofs that
// shares nothing with the solvers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "graph/digraph.h"
#include "solver/proof.h"
#include "solver/solver.h"

namespace ouro {

struct Problem {
  std::size_t nodes = 0;
  std::vector<Arc> known;
  std::vector<Arc> late;  // Arcs that are known, too, but required only during the search.
  std::vector<std::array<Side, 2>> choices;
  std::vector<std::vector<Literal>> clauses;  // Known, too, but told only during the search.
};

// Takes away nodes that nobody leads to, until none is left. REQUIRES: there are at most 32.
inline bool acyclic(std::size_t nodes, std::span<const Arc> arcs) {
  std::array<std::uint32_t, 32> before{};  // By node: a bit for each that leads to it.
  for (const Arc& arc : arcs) before[arc.to] |= 1u << arc.from;
  std::uint32_t left = (1u << nodes) - 1;
  for (bool again = true; again;) {
    again = false;
    for (Node node = 0; node < nodes; ++node) {
      if ((left >> node & 1) == 0 || (before[node] & left) != 0) continue;
      left &= ~(1u << node);
      again = true;
    }
  }
  return left == 0;
}

// Bit i of `sides` is set if the second side of choice i is taken.
inline std::vector<Arc> arcs_of(const Problem& problem, std::uint32_t sides) {
  std::vector<Arc> arcs = problem.known;
  arcs.insert(arcs.end(), problem.late.begin(), problem.late.end());
  for (std::size_t c = 0; c < problem.choices.size(); ++c) {
    const auto side = problem.choices[c][sides >> c & 1].span();
    arcs.insert(arcs.end(), side.begin(), side.end());
  }
  return arcs;
}

inline bool keeps_clauses(const Problem& problem, std::uint32_t sides) {
  return std::all_of(problem.clauses.begin(), problem.clauses.end(), [&](const auto& clause) {
    return std::any_of(clause.begin(), clause.end(), [&](Literal literal) {
      return ((sides >> literal.choice() & 1) != 0) == literal.opposite();
    });
  });
}

inline bool solvable(const Problem& problem) {
  for (std::uint32_t sides = 0; sides < 1u << problem.choices.size(); ++sides) {
    if (keeps_clauses(problem, sides) && acyclic(problem.nodes, arcs_of(problem, sides)))
      return true;
  }
  return false;
}

inline Problem random_problem(std::mt19937& random) {
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

// Whether the cycle of a lemma is closed, each arc is known or belongs to the side that its label
// names, and the labels are the opposites of exactly the lemma's literals.
inline ::testing::AssertionResult cycle_proves(const Problem& problem, const Lemma& lemma) {
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

inline bool is_clause(const Problem& problem, std::vector<Literal> literals) {
  std::sort(literals.begin(), literals.end());
  return std::any_of(problem.clauses.begin(), problem.clauses.end(), [&](auto clause) {
    std::sort(clause.begin(), clause.end());
    return clause == literals;
  });
}

// Whether the lemma follows from its premises by unit propagation, in their order; or it is one of
// the problem's clauses.
inline ::testing::AssertionResult premises_prove(const Problem& problem,
                                                 std::span<const Lemma> lemmas, std::size_t at) {
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

inline void expect_proof(const Problem& problem, std::span<const Lemma> lemmas) {
  ASSERT_FALSE(lemmas.empty());
  EXPECT_TRUE(lemmas.back().literals.empty());
  for (std::size_t i = 0; i < lemmas.size(); ++i) {
    EXPECT_TRUE(lemmas[i].cycle.empty() ? premises_prove(problem, lemmas, i)
                                        : cycle_proves(problem, lemmas[i]))
        << "lemma " << i;
  }
}

}  // namespace ouro
