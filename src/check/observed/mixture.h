// The levels of single transactions, at Level::Mixed.
#pragma once

#include <vector>

#include "base/level_rules.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

// The level that a transaction is judged by at `level`: that, or at Level::Mixed its own.
[[nodiscard]] inline Level level_of(const History& history, Level level, TxnId txn) {
  return level == Level::Mixed ? history.level(txn).value_or(kUnstatedLevel) : level;
}

// What a search has to know about a mixture of levels.
struct Mixture {
  std::vector<Level> levels;  // By transaction. None is of LevelFamily::Parallel.
  // Edges that rules of LevelFamily::CommitOrder force, sorted by `from` and `to`; none leads to
  // the initial transaction.
  std::vector<Edge> forced;

  [[nodiscard]] const LevelRules& rules_of(TxnId txn) const { return rules(levels[txn.index()]); }
  // Whether a transaction has one moment in the commit order, and not a begin and a commit.
  [[nodiscard]] bool is_single(TxnId txn) const { return !rules_of(txn).begins_apart(); }
  // Whether what a transaction read must not have been overwritten before it. Of those that only
  // have a rule about reads, `forced` says all that follows.
  [[nodiscard]] bool overwrites(TxnId txn) const {
    return !rules_of(txn).is(LevelFamily::CommitOrder);
  }
  // Whether session order between two transactions counts: one of their levels asks for it.
  [[nodiscard]] bool in_session_order(TxnId from, TxnId to) const {
    return rules_of(from).sessions || rules_of(to).sessions;
  }
};

}  // namespace ouro
