// All begins and commits of a history in the order of their moments (history/moment.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/level_rules.h"
#include "check/timeline/violations.h"
#include "ouro/history.h"

namespace ouro {

class Timeline {
 public:
  // REQUIRES: `rules` are of a level that timestamps decide. Notes missing and inverted timestamps
  // in `violations`. A transaction whose timestamps are missing is left out; one that starts after
  // it commits does both at its commit.
  Timeline(const History& history, const LevelRules& rules, unsigned threads,
           Violations& violations);

  struct Step {
    TxnId txn;
    bool commit = false;
  };
  // Begins and commits, oldest first.
  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] Step step(std::size_t position) const {
    return {TxnId{steps_[position] >> 1}, (steps_[position] & 1) != 0};
  }
  // Whether the transaction takes part, and its moments are known.
  [[nodiscard]] bool has(TxnId txn) const { return commit_[txn.index()] != kNowhere; }
  [[nodiscard]] bool writes(TxnId txn) const { return writes_[txn.index()]; }
  // Whether the writer that commits right before it does so at the same timestamp.
  [[nodiscard]] bool tied(TxnId writer) const { return tied_[writer.index()]; }
  // The positions of its steps. REQUIRES: has(txn).
  [[nodiscard]] std::uint32_t begin(TxnId txn) const { return begin_[txn.index()]; }
  [[nodiscard]] std::uint32_t commit(TxnId txn) const { return commit_[txn.index()]; }

  static constexpr std::uint32_t kNowhere = 0xffffffff;

 private:
  struct Stamps;
  void find_writers(const History& history);
  void order(const History& history, const Stamps& stamps, unsigned threads);
  void find_ties(const Stamps& stamps);

  std::vector<std::uint32_t> steps_;  // Twice the transaction; plus one: its commit.
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> commit_;
  std::vector<bool> writes_;
  std::vector<bool> tied_;
};

}  // namespace ouro
