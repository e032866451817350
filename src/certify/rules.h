// The rules of each level and kind of anomaly, as certificates need them (docs/levels.md, "In
// begins and commits"). The engines have a table of their own (base/level_rules.h).
#pragma once

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::recheck {

enum class Family : unsigned char {
  Unknown,   // No certificates of this level.
  Weak,      // A commit order that satisfies an axiom.
  Parallel,  // As Serial, but only cycles with at most one overwritten read are forbidden.
  Snapshot,  // A begin and a commit for each transaction.
  Serial,    // One moment for each transaction.
  Mixed,     // Each transaction has the rules of its own level.
};

// At the weak levels: of which transactions T3 knows. If T3 read x from T1, those of them that
// wrote x must have committed before T1.
enum class Knows : unsigned char {
  None,          // No such axiom.
  EarlierReads,  // For each read, those that earlier operations of T3 read from.
  Direct,        // Those that T3 read from, and those before it in its session.
  Past,          // These, and all of whom they know directly or indirectly.
};

struct Rules {
  Family family = Family::Unknown;
  bool sessions = false;          // Session order counts.
  bool real_time = false;         // Real time counts …
  bool commit_to_commit = false;  // … between commits only.
  bool lost_updates = false;      // Concurrent writers of a key are allowed.
  bool phantoms = false;          // rw of what a scan did not find does not count.
  bool rereads_differ = false;    // Two reads of a key may differ within one transaction.
  Knows knows = Knows::None;
};

constexpr Rules rules_of(Level level) {
  switch (level) {
    case Level::ReadCommitted:
      return {.family = Family::Weak,
              .sessions = true,
              .lost_updates = true,
              .rereads_differ = true,
              .knows = Knows::EarlierReads};
    case Level::ReadAtomic:
      return {
          .family = Family::Weak, .sessions = true, .lost_updates = true, .knows = Knows::Direct};
    case Level::Causal:
      return {.family = Family::Weak, .sessions = true, .lost_updates = true, .knows = Knows::Past};
    case Level::Prefix:
      return {.family = Family::Snapshot, .sessions = true, .lost_updates = true};
    case Level::Si:
      return {.family = Family::Snapshot};
    case Level::SessionSi:
      return {.family = Family::Snapshot, .sessions = true};
    case Level::Gsi:
      return {.family = Family::Snapshot, .real_time = true, .commit_to_commit = true};
    case Level::PrefixConsistentSi:
      return {.family = Family::Snapshot,
              .sessions = true,
              .real_time = true,
              .commit_to_commit = true};
    case Level::StrongSi:
      return {.family = Family::Snapshot, .sessions = true, .real_time = true};
    case Level::Serializable:
      return {.family = Family::Serial};
    case Level::SessionSerializable:
      return {.family = Family::Serial, .sessions = true};
    case Level::StrictSerializable:
      return {.family = Family::Serial, .sessions = true, .real_time = true};
    case Level::ParallelSi:
      return {.family = Family::Parallel, .sessions = true};
    case Level::RepeatableRead:
      return {.family = Family::Serial, .phantoms = true};
    case Level::Mixed:
      return {.family = Family::Mixed};
  }
  return {};
}

// The rules that a transaction is judged by at `level`. The initial transaction has one moment.
inline Rules rules_of(const History& history, Level level, TxnId txn) {
  if (level != Level::Mixed) return rules_of(level);
  if (txn == kInitialTxn) return rules_of(Level::Serializable);
  return rules_of(history.level(txn).value_or(Level::Serializable));
}

// Whether certificates list the transactions of an anomaly beside its operations.
constexpr bool names_transactions(AnomalySign sign) {
  return sign == AnomalySign::Timestamps || sign == AnomalySign::VersionOrders;
}

}  // namespace ouro::recheck
