// Parts of a history in which a violation should show, from the smallest guess to the whole.
//
// An anomaly names the operations on its cycle. Often those, and the writes that the reads among
// them returned, are all it takes. What else may matter: other operations of the same transactions
// on the same keys (who reads what it overwrites follows immediately), further writers down such
// chains, anybody who touched these keys (a list read that shows the order of two appends).
#pragma once

#include <absl/container/flat_hash_set.h>

#include <optional>
#include <vector>

#include "explain/excerpt.h"
#include "ouro/check.h"

namespace ouro {

class Core {
 public:
  // The arguments must outlive the core. Cost: one pass over the history.
  Core(const History& history, const Verdict& verdict, const Anomaly& anomaly);

  // The transactions and operations of the anomaly itself, in the order of the history.
  [[nodiscard]] std::vector<TxnId> txns() const;
  [[nodiscard]] std::vector<OpId> ops() const;

  // The next larger part; nothing when all were tried.
  [[nodiscard]] std::optional<Excerpt> next();

 private:
  enum class Stage : std::uint8_t { Named, Sources, Chains, Keys, Everything, Done };

  void add(const Edge& edge);
  void add(const SourceCase& each);
  void add(OpId op);
  void add_key(KeyId key);
  void add_sources(const Excerpter& excerpter);
  void add_sources_of(const Excerpter& excerpter, OpId op);
  void add_operations();
  void add_everybody();
  [[nodiscard]] Excerpt make(const Excerpter& excerpter) const;

  const History& h_;
  const Evidence evidence_;
  std::vector<bool> keys_;  // Of the anomaly; empty: all.
  std::optional<Excerpter> excerpter_;
  absl::flat_hash_set<TxnId> txns_;
  absl::flat_hash_set<OpId> ops_;
  Stage stage_ = Stage::Named;
};

}  // namespace ouro
