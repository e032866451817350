// By observation: the selects and aggregates, replayed in an order that was found.
#pragma once

#include <optional>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/positions.h"
#include "check/untold_keys.h"
#include "check/versions/row_versions.h"

namespace ouro {

class PredicateReplay {
 public:
  // `whole` has the transactions that take part in any case, `observed` those of the order. With
  // `at_begin` predicate reads see the database when their transaction begins; if not, each row as
  // it was then or at any time before.
  PredicateReplay(const Observed& whole, const Observed& observed, const Positions& positions,
                  bool at_begin);

  // The keys that do not fit, sorted.
  std::vector<ReadKey> misfits(const Budget& budget);
  // A read that nothing mends; see Impossible.
  [[nodiscard]] OpId impossible() const { return impossible_.read; }

 private:
  [[nodiscard]] bool is_replayed(OpId id) const;
  // Calls f(key, first, last) for the keys that the read neither returned nor wrote before, and
  // that may have a version that matches. It may have seen the versions from `first` to `last`.
  template <class F>
  void for_each_key(OpId id, const OwnWrites& own, const F& f);
  void select(OpId id, std::vector<ReadKey>& out);
  void aggregate(OpId id, std::vector<ReadKey>& out);

  const Observed& whole_;
  const Observed& o_;
  const History& h_;
  const Positions& positions_;
  const bool at_begin_;
  RowVersions rows_;
  const std::vector<bool> lists_;  // By key.
  std::vector<KeyId> keys_;  // Scratch of for_each_key().
  Impossible impossible_;
  int aggregates_ = 0;
  std::optional<WrittenRows> written_;  // Once an aggregate asks for them.
};

}  // namespace ouro
