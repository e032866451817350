// Finds out what open reads returned while the search orders the writers (search.h).
//
// The current order is the guess of that, too: a read is satisfied if the last version before its
// transaction begins is one that it may have returned; at levels that allow phantoms, a key that a
// read left out is satisfied if some version before is. Only a read that is not satisfied becomes a
// choice. Its possible sources are asked about one after the other, the nearest in the order first:
//
//   Source(r, w)  r returned the version of w; then w commits before the reader begins.
//   Later(r, k)   r returned none of the first k versions that it was asked about.
//   Sees(T, v)    as in seen_versions.h.
//
// and the solver is told, when it matters, that
//
//   Later(r, k-1) implies Source(r, w) or Later(r, k), where w is the k-th;
//   Later(r, k) is impossible once there is no version left to ask about;
//   Source(r, w) and Sees(T, v) imply that v precedes w in the version order.
//
// So a history whose values do not repeat costs nothing here, and one in which the guess is right
// only a look at each open read.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "check/polygraph/encoding.h"
#include "check/polygraph/seen_versions.h"
#include "graph/dynamic_order.h"
#include "ouro/check.h"
#include "solver/solver.h"

namespace ouro {

class Search;

class SourceChoices {
 public:
  // REQUIRES: all outlive the result. `search` keeps the chains of every key sorted by `order`.
  SourceChoices(const Encoding& encoding, const DynamicOrder& order, Search& search,
                SeenVersions& seen, const Budget& budget);

  // To be called after `node` got another position in the order: the reads of its keys are looked
  // at again.
  void moved(Node node);
  // What to ask the solver for next, if a read is not satisfied; false if all are. REQUIRES: arcs
  // between chains that are neighbours run forward.
  bool next(Solver& solver, Guide::Next& next);
  // What the reads returned by the current order, in the order of their operations. REQUIRES: all
  // are satisfied.
  [[nodiscard]] std::vector<ReadSource> sources() const;

 private:
  struct Key {
    KeyId key;
    std::uint32_t first_read = 0;  // Into by_key_.
    std::uint32_t end_read = 0;
    // Where those who read or write it came from and went to since its reads were looked at; empty
    // if nobody moved.
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;
    bool is_sorted = false;  // None of those who read it moved.
    [[nodiscard]] bool is_dirty() const { return low <= high; }
  };
  struct Read {
    ItemId item;
    TxnId txn;
    std::uint32_t key = 0;  // Into keys_.
    // What it was asked about, in that order: versions, and the choices Source and Later.
    struct Asked {
      VersionId version = kNoVersion;
      std::uint32_t source = 0;
      std::uint32_t later = 0;
    };
    std::vector<Asked> asked;
  };

  void add_reads();
  [[nodiscard]] bool fits(const Read& read, VersionId version) const;
  // The last version that the reader sees in the current order.
  [[nodiscard]] VersionId last_seen(const Read& read) const {
    return seen_.last_seen(keys_[read.key].key, read.txn);
  }
  // What the read returned by the current order, in which it sees `seen` last; kNoVersion if it is
  // not satisfied.
  [[nodiscard]] VersionId returned(const Read& read, VersionId seen) const;
  [[nodiscard]] VersionId nearest(const Read& read, VersionId from) const;
  [[nodiscard]] bool may_ask(const Read& read, VersionId version) const;
  [[nodiscard]] std::uint32_t position(std::uint32_t read) const {
    return order_.position(e_.begin(reads_[read].txn));
  }
  void look_at_dirty_keys();
  void look_at(const Key& key);
  void ask(Solver& solver, Read& read, VersionId seen, Guide::Next& next);
  void forbid(Solver& solver, const Read& read, const Read::Asked& asked, VersionId seen,
              Guide::Next& next);

  const Encoding& e_;
  const Observed& o_;
  const DynamicOrder& order_;
  Search& search_;
  SeenVersions& seen_;
  BudgetTicker ticker_;
  std::vector<Key> keys_;
  static constexpr std::uint32_t kNoKey = 0xffffffff;
  std::vector<std::uint32_t> key_of_;  // By KeyId: into keys_; kNoKey: it has no such reads.
  std::vector<Read> reads_;            // In the order of their items.
  std::vector<std::uint32_t> by_key_;  // Reads, key by key; of a key, as their transactions begin.
  std::vector<std::uint32_t> known_position_;  // By node: where it was when it moved last.
  std::vector<std::uint32_t> dirty_;           // The keys for which is_dirty() is true.
  // Reads that may not be satisfied, with the position that they had when they were pushed.
  using Entry = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

}  // namespace ouro
