// Why a segment is violated, as a proof about the whole history (check_segments.cc).
//
// A segment is decided by itself, with what keys hold before it and what later transactions read of
// what it left. A proof must name who wrote the former and who read the latter. They are found in a
// second look at the whole; with them the segment is a part of it, and whatever that part violates
// the whole violates, too.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/result.h"
#include "stream/copier.h"
#include "stream/segment_keys.h"

namespace ouro::segments {

// A value of a key, both outside of any history.
using KeptVersion = std::pair<KeptValue, KeptValue>;

// What there is to look for.
struct SegmentNeeds {
  std::uint64_t end = 0;              // The segment ends before this place.
  std::vector<std::uint64_t> places;  // Of its transactions in the whole, ascending.
  std::vector<KeptVersion> read;      // What they read, and what keys held before them.
  std::vector<KeptVersion> asked;     // What transactions behind it read of what it left.
  std::vector<KeptValue> keys;        // The violation is about these.
};

// The keys that a violation of `history` is about.
[[nodiscard]] std::vector<KeptValue> keys_of(const History& history, const Verdict& verdict);

class SegmentProof {
 public:
  explicit SegmentProof(const SegmentNeeds& needs);

  // Takes the next piece of the history. REQUIRES: all come, in order, cut as HistoryPieces does.
  void add(const History& piece);
  // Checks the part at `level`. Of a violation the transactions, operations and keys are those of
  // the whole; otherwise it is not known what to prove.
  [[nodiscard]] Result<Verdict> find(Level level, const CheckOptions& options);

 private:
  void add_txn(const History& piece, TxnId txn);
  void add_whole(const History& piece, TxnId txn);
  void add_some(const History& piece, TxnId txn);
  [[nodiscard]] bool matters(const History& piece, const Op& op, bool behind);
  void begin(const History& piece, TxnId txn);

  // The ids of the part as those of the whole.
  void lift(Verdict& verdict) const;
  void lift(Anomaly& anomaly) const;
  void lift(Refutation& refutation) const;
  void lift(std::vector<Edge>& edges) const;
  void lift(TxnId& txn) const;
  void lift(OpId& op) const;
  void lift(KeyId& key) const;

  const std::uint64_t end_;
  const absl::flat_hash_set<std::uint64_t> places_;
  const absl::flat_hash_set<KeptVersion> read_;
  const absl::flat_hash_set<KeptValue> about_;
  absl::flat_hash_set<KeptVersion> asked_;  // Those that nobody was found to have read.
  stream::Copier copier_;
  bool begun_ = false;
  // What came so far,
  std::uint64_t txns_ = 0;
  std::uint64_t ops_ = 0;
  absl::flat_hash_map<KeptValue, std::size_t> keys_;  // By name, in the order of their numbers.
  // and where it is in the whole what the part consists of.
  std::vector<std::size_t> txn_of_;
  std::vector<std::size_t> op_of_;
  std::vector<std::size_t> key_of_;
};

}  // namespace ouro::segments
