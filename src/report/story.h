// One anomaly told in sentences: who is involved, why each must precede the next, and where that
// contradicts itself.
//
// Transactions are numbered T1, T2 … in the order in which the story names them. The initial
// transaction has no number; it is "the initial state".
#pragma once

#include <absl/container/flat_hash_map.h>

#include <span>
#include <string>
#include <vector>

#include "ouro/check.h"

namespace ouro {

class Story {
 public:
  Story(const History& history, const Anomaly& anomaly);

  [[nodiscard]] const std::vector<TxnId>& txns() const { return txns_; }
  [[nodiscard]] std::string label(TxnId txn) const;
  // The operations that the story rests on, in their order in the history.
  [[nodiscard]] const std::vector<OpId>& ops() const { return ops_; }

  // A line for each transaction: "T1  session a, line 3   r x=0   w x=1", in columns.
  [[nodiscard]] std::vector<std::string> cast() const;
  // A sentence for each edge, the last one with the contradiction; or one for the whole anomaly.
  [[nodiscard]] std::vector<std::string> sentences() const;
  // The same for a cycle of edges between transactions of the story.
  [[nodiscard]] std::vector<std::string> sentences(std::span<const Edge> cycle) const;
  // Why `edge` runs that way: "T2 read x=1, which T1 wrote".
  [[nodiscard]] std::string because(const Edge& edge) const;

 private:
  void add(TxnId txn);
  void add(OpId op);
  [[nodiscard]] std::string shown_ops(TxnId txn) const;
  [[nodiscard]] std::string read_phrase(OpId op, KeyId key) const;
  [[nodiscard]] std::string because_read(const Edge& edge) const;
  [[nodiscard]] std::string because_overwritten(const Edge& edge) const;
  [[nodiscard]] std::string because_missed(const Edge& edge) const;
  [[nodiscard]] std::string because_forced(const Edge& edge) const;
  [[nodiscard]] std::string how_seen(const Edge& edge, TxnId reader) const;
  [[nodiscard]] std::span<const Edge> path(TxnId from, TxnId to) const;
  [[nodiscard]] std::string plain_sentence() const;
  [[nodiscard]] KeyId common_key(OpId one, OpId two) const;
  [[nodiscard]] bool returned(OpId read, KeyId key) const;
  [[nodiscard]] std::string dirty_sentence(OpId read, OpId write) const;
  [[nodiscard]] bool is_about_timestamps() const;
  [[nodiscard]] std::string timestamp_sentence() const;
  [[nodiscard]] std::string mismatch_sentence() const;
  [[nodiscard]] std::string missing_sentence() const;
  [[nodiscard]] std::string precedence_sentence() const;
  [[nodiscard]] std::string written_by(OpId write) const;
  [[nodiscard]] OpId find_op(bool writes, std::size_t nth) const;

  const History& history_;
  const Anomaly& anomaly_;
  std::vector<TxnId> txns_;
  absl::flat_hash_map<TxnId, std::size_t> number_;
  std::vector<OpId> ops_;
};

}  // namespace ouro
