// Finds what a small history says whatever the level: which transactions count, who read from whom,
// and what is wrong in plain sight (docs/levels.md, "Words").
//
// Written for clarity, not speed, and independently of the engines, which tests compare with it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro::oracle {

// Whether a ReadBack returned what its own part of the transaction wrote before it was undone.
[[nodiscard]] bool reads_back(const History& history, TxnId txn, const Op& read);

// A read of another transaction's version: one before the reader's own write of the key, or what
// stands before its own elements in a later read of a list.
struct ExternalRead {
  OpId op;
  KeyId key;
  std::size_t from = 0;  // The writer, as an index into Observed::txns.
  bool absence = false;  // Whether it is about a key that a predicate read left out.
};

// A select or aggregate.
struct SeenPredicate {
  OpId op;
  std::size_t reader = 0;
  std::map<KeyId, Op> own;  // The reader's last writes before it.
};

// The whole result of a list read; its last `own` elements are appends of the reader itself.
struct ListRead {
  KeyId key;
  std::size_t reader = 0;
  std::vector<Value> elements;
  std::size_t own = 0;
};

struct CountedTxn {
  TxnId id;                                    // kInitialTxn for the first.
  std::vector<ExternalRead> reads;             // In program order.
  std::map<KeyId, std::vector<Value>> writes;  // By key, in program order.
};

struct Observed {
  std::vector<CountedTxn> txns;  // The initial transaction, then those that count, by id.
  std::vector<ListRead> list_reads;
  std::vector<SeenPredicate> predicates;  // By versions only.
  bool snapshots_at_commit = false;       // Whether those without a version set saw the state at
                                          // their transaction's commit, or else at its start.
  // What those saw that have no start either: by read and key, which version (oracle.cc tries all).
  std::map<std::pair<OpId, KeyId>, std::size_t> chosen;
  std::set<AnomalyKind> anomalies;  // The plain ones: up to and including NonRepeatableRead.

  // The initial transaction writes every key.
  [[nodiscard]] bool writes(std::size_t txn, KeyId key) const {
    return txn == 0 || txns[txn].writes.contains(key);
  }
  // Whether an anomaly is present that every level forbids.
  [[nodiscard]] bool always_wrong() const;
};

// Throws std::invalid_argument if two transactions that did not abort appended one element to one
// list, if a key is both register and list, if a scan may have missed a key for several reasons, or
// if there are predicate reads and the evidence is not versions. By versions, unknown transactions
// that are in a version order count, too.
//
// A read is open if several transactions left its value, or if it is a compare-and-set that failed.
// It is a read from the transaction that `sources` name for it; if they name none, it is not looked
// at. A predicate read has a source for each of its rows.
using Sources = std::map<std::pair<OpId, KeyId>, TxnId>;
[[nodiscard]] Observed observe(const History& history, Evidence evidence = Evidence::Observed,
                               const Sources& sources = {});

// Calls `visit` with every combination of what the open reads may have returned, and, by
// observation, of what selects and aggregates may have seen of keys that they do not tell of, until
// it returns true. Returns whether it did.
bool any_sources(const History& history, Evidence evidence,
                 const std::function<bool(const Sources&)>& visit);

}  // namespace ouro::oracle
