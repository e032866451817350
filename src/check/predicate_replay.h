// By observation: the selects and aggregates, replayed in an order that was found.
#pragma once

#include <optional>
#include <span>
#include <utility>
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

  // The transactions with predicate reads that misfits() looked at, ascending.
  [[nodiscard]] std::span<const TxnId> predicate_txns() const { return predicate_txns_; }
  // The edges that the predicate reads of such a transaction have at the nearest moment of the
  // order at which all of them fit, and its other reads, too: they follow who made the rows what
  // they are to the read, and precede who changed that. Nothing if no such moment is near by.
  [[nodiscard]] std::optional<std::vector<PredicateEdge>> place(TxnId txn);

 private:
  // What a predicate read sees at a moment: one version of each row that may matter to it.
  struct RowVersion {
    KeyId key;
    std::uint32_t version = 0;
  };
  struct Shown {
    OpId read;
    OwnWrites own;
    std::vector<RowVersion> rows;
  };
  using Moment = std::vector<Shown>;
  // A commit by which a row has another version than before.
  struct Step {
    std::uint32_t position = 0;
    std::size_t read = 0;  // Into Moment.
    std::size_t row = 0;   // Into its rows.
    std::uint32_t version = 0;
    std::uint32_t before = 0;
  };

  [[nodiscard]] bool is_replayed(OpId id) const;
  // Calls f(key, first, last) for the keys that the read neither returned nor wrote before, and
  // that have a version that matches. It may have seen the versions from `first` to `last`.
  template <class F>
  void for_each_key(OpId id, const OwnWrites& own, const F& f);
  void select(OpId id, std::vector<ReadKey>& out);
  void aggregate(OpId id, std::vector<ReadKey>& out);

  // What the reads of a transaction see when it begins.
  [[nodiscard]] Moment shown_at_begin(TxnId txn);
  // The commits of others that wrote the rows, in their order, of those between which the reads of
  // single keys fit.
  [[nodiscard]] std::vector<Step> steps_of(TxnId reader, const Moment& moment) const;
  // The reads of single keys by a transaction fit behind the first commit and before the second.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> bounds(TxnId reader) const;
  [[nodiscard]] bool fits(const Moment& moment) const;
  [[nodiscard]] std::vector<PredicateEdge> edges_of(TxnId reader, const Moment& moment) const;

  const Observed& whole_;
  const Observed& o_;
  const History& h_;
  const Positions& positions_;
  const bool at_begin_;
  RowVersions rows_;
  const std::vector<bool> lists_;  // By key.
  std::vector<RowVersions::KeyPosition> matches_;
  Impossible impossible_;
  std::vector<TxnId> predicate_txns_;
  int aggregates_ = 0;
};

}  // namespace ouro
