// Guesses parts of a history in which an anomaly shows, from a small one to the whole history.
//
// An anomaly names the operations on its cycle. Often those, and the writes that the reads among
// them returned, suffice. If not, what may matter, too, is tried in this order: other operations of
// the same transactions on the same keys (a transaction that reads what it overwrites directly
// follows the writer); the writers of what those read, and so on; all operations on these keys (a
// list read may show the order of two appends).
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

  // Whether the anomaly is about single keys, so that parts are found by a look at all operations.
  [[nodiscard]] bool is_of_keys() const { return !keys_.empty(); }
  // The next larger part, which may not show the anomaly; nothing when all were tried.
  [[nodiscard]] std::optional<Excerpt> next();

 private:
  // What next() tries; see the top of the file.
  enum class Stage : std::uint8_t { Named, Sources, Chains, Keys, Everything, Done };

  // Add to txns_ and ops_: what an edge or a case names; the writes that reads among ops_ returned;
  // what the transactions of txns_ did with the keys of keys_; what everybody did with these keys.
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
  std::vector<bool> keys_;  // By KeyId, whether the anomaly has to do with it; empty: all have.
  std::optional<Excerpter> excerpter_;
  absl::flat_hash_set<TxnId> txns_;
  absl::flat_hash_set<OpId> ops_;
  Stage stage_ = Stage::Named;
};

}  // namespace ouro
