// Decides whether an isolation level allows a history.
//
// Example (built and run as tests/example_check.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/fractured_read.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto verdict = ouro::check(*history, ouro::Level::ReadAtomic);
//   if (!verdict.ok()) return fail(verdict.error());
//   if (verdict->outcome == ouro::Outcome::Violated)
//     std::cout << ouro::describe(*history, *verdict);
//
// Thread safety: check() shares no state between calls.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

enum class Outcome : std::uint8_t {
  Holds,      // Verdict::order is one legal commit order.
  Violated,   // Verdict::anomalies say why.
  Undecided,  // A limit was reached; anomalies found so far, if any, are no proof.
};

enum class Evidence : std::uint8_t { Observed, Versions, Timestamps };

[[nodiscard]] std::string_view name(Outcome outcome);
[[nodiscard]] std::string_view name(Evidence evidence);

enum class AnomalyKind : std::uint8_t {
  // Seen in single operations; every level from read-committed up forbids them …
  Internal,
  AbortedRead,
  IntermediateRead,
  ThinAirRead,
  FutureRead,
  DuplicateElements,
  IncompatibleOrder,
  ResultSetMismatch,
  // … and from read-atomic up this one.
  NonRepeatableRead,
  // Cycles.
  DependencyCycle,     // so ∪ wr (∪ the order lists reveal): no commit order at all (G0, G1c).
  CommitOrderCycle,    // At rc: reads within a transaction go back in time (non-monotonic read).
  FracturedRead,       // At ra: part of a transaction's writes seen, part missed.
  CausalityViolation,  // At cc: a cause missed while its effect is seen.
  ForbiddenCycle,      // At the strong levels: a cycle of edges that are all known.
  ContradictoryOrder,  // At the strong levels: every way to order some writes closes a cycle.
  // By the database's timestamps (docs/levels.md).
  SnapshotMismatch,    // A read returns something else than its snapshot holds (EXT).
  WriteConflict,       // Two transactions that overlap wrote one key (NOCONFLICT).
  SessionInversion,    // A transaction misses an earlier one of its session (SESSION).
  RealTimeInversion,   // The same for one that had completed before it was invoked.
  MissingTimestamp,    // It has no place on the timeline.
  InvertedTimestamps,  // It starts after it commits.
  DuplicateTimestamp,  // Another writer of the key has the same commit timestamp.
  // By the version orders of the history.
  VersionOrderMismatch,  // A version order has an aborted write, or lacks a write that counts.
};
inline constexpr std::size_t kAnomalyKindCount = 23;

struct AnomalyInfo {
  AnomalyKind kind = AnomalyKind::Internal;
  std::string_view name;     // "aborted read"
  std::string_view id;       // Elle's: "G1a"
  std::string_view aliases;  // What others call it, comma-separated; may be empty.
  std::string_view meaning;  // One line.
};
[[nodiscard]] const AnomalyInfo& info(AnomalyKind kind);

enum class EdgeKind : std::uint8_t {
  Session,     // so: earlier in the same session.
  WriteRead,   // wr: `to` read what `from` wrote.
  WriteWrite,  // ww: `to` overwrote what `from` wrote.
  ReadWrite,   // rw: `from` read what `to` overwrote.
  RealTime,    // rt: `from` completed before `to` was invoked.
  Forced,      // The level's rule: a reader saw `from`, yet read `key` from `to`.
};
[[nodiscard]] std::string_view name(EdgeKind kind);

// Why `from` precedes `to`, with the operations that prove it.
struct Edge {
  TxnId from;  // May be kInitialTxn.
  TxnId to;    // May be kInitialTxn only in a contradiction.
  EdgeKind kind = EdgeKind::Session;
  KeyId key;     // All kinds but Session and RealTime.
  OpId from_op;  // The write (wr, ww, Forced) or read (rw) in `from`; invalid if initial.
  OpId to_op;    // The read (wr) or write (ww, rw, Forced) in `to`; invalid if initial.
  OpId read;     // Forced: the read of `key` from `to`.
  OpId saw;      // Forced: the read through which its transaction saw `from`; invalid: by session
                 // order, or through other transactions (see Anomaly::support).
  // Of the refutation: the edge holds only on one side of this choice.
  static constexpr std::uint32_t kNoChoice = 0xffffffff;
  std::uint32_t choice = kNoChoice;
};

struct Anomaly {
  AnomalyKind kind = AnomalyKind::Internal;
  std::vector<TxnId> txns;  // In order of the story; kInitialTxn left out.
  std::vector<OpId> ops;    // The operations that show it, if it is no cycle.
  std::vector<Edge> edges;  // The cycle: each edge starts where the one before ends.
  // How readers saw what they saw through other transactions: for each such Forced edge, one path
  // of so and wr edges from its `from` to its reader, in the order of the cycle. Of a very long
  // cycle only the first kMaxPaths edges have theirs.
  static constexpr std::size_t kMaxPaths = 32;
  std::vector<Edge> support = {};
  // By timestamps: what the first operation should have returned, as JSON; empty if it is no read.
  std::string expected = {};
};

// Two writers of a key whose order nobody observed.
struct Choice {
  KeyId key;
  TxnId first;
  TxnId second;
};

// One side of a choice: `first` wrote before `second`, or after it.
struct ChoiceSide {
  std::uint32_t choice = 0;
  bool reversed = false;
};

// One step of a proof that no order of the writes is left: the sides in `excluded` cannot all be
// true. Either they and what is known close `cycle`, or it follows from earlier steps: if all the
// sides were true, going through `premises` in order, each would leave one more side no choice,
// until the last could not be satisfied.
struct RefutationStep {
  std::vector<ChoiceSide> excluded;  // Empty: the proof is complete.
  std::vector<Edge> cycle;
  std::vector<std::uint32_t> premises;  // Numbers of earlier steps.
};

struct Refutation {
  std::vector<Choice> choices;
  std::vector<RefutationStep> steps;  // The last one excludes nothing.
};

// What a read returned that says only what it was not (a compare-and-set that failed): the last
// write of the key by `writer`, or the initial version.
struct ReadSource {
  OpId read;
  TxnId writer;  // May be kInitialTxn.
  constexpr auto operator<=>(const ReadSource&) const = default;
};

// What is wrong if some of these reads returned that.
struct SourceCase {
  std::vector<ReadSource> sources;
  std::vector<Anomaly> anomalies;
  Refutation refutation;
};

// A begin or a commit.
struct Event {
  TxnId txn;
  bool commit = false;
};

struct Verdict {
  Level level = Level::Serializable;
  Evidence evidence = Evidence::Observed;
  Outcome outcome = Outcome::Undecided;
  std::array<std::uint64_t, kAnomalyKindCount> counts{};  // All occurrences, by kind.
  std::vector<Anomaly> anomalies;                         // The first examples of each kind.
  std::vector<TxnId> order;     // Holds: the certificate. Aborted and unseen ones left out.
  std::vector<Event> schedule;  // Holds, where transactions read snapshots: with their begins.
  Refutation refutation;        // Violated, after a search: why each way to order the writes fails.
  // Holds, with reads that say only what they did not return: what they may have returned.
  std::vector<ReadSource> sources;
  // Violated, whatever such reads returned: one contradiction for each case. Then the anomaly is a
  // contradictory order, and its cycle that of the first case. The cases are the leaves of a tree,
  // from left to right: those that agree in their first sources differ next in what one more read
  // returned, and have all that it may have returned.
  std::vector<SourceCase> cases;
  std::string reason;  // Undecided: which limit was reached.
};

// How the strong levels are searched. The outcome is always the same; the defaults are the fastest
// known, the rest shows what each idea is worth (docs/benchmarks.md).
struct SearchOptions {
  // Writers that read what they overwrite move as one block with it. Only SI levels can do without.
  bool chains = true;
  // Orders of two writers become choices only where the current order gets them wrong; otherwise
  // all are, at once.
  bool on_demand = true;
  // After many conflicts, choices are fixed one side of which closes a cycle by itself.
  bool saturation = true;
  std::uint64_t many = 10'000;
  // Which side of a choice is tried first.
  enum class Phase : std::uint8_t {
    Order,  // The one that moves fewer transactions in the current order.
    Saved,  // The one it had last.
    Fixed,  // Always the same.
  } phase = Phase::Order;
  // Which choice is next.
  enum class Branching : std::uint8_t {
    Earliest,  // The first in the current order.
    Activity,  // The one that took part in the most recent conflicts; with restarts.
  } branching = Branching::Earliest;
};

struct CheckOptions {
  std::chrono::milliseconds time_limit{0};  // Zero: none.
  std::uint64_t memory_limit = 0;           // Resident bytes of the process; zero: none.
  // Steps of work; zero: none. A step takes some ten nanoseconds; how many a history takes depends
  // neither on the machine nor on the number of threads, so what is undecided is so everywhere.
  std::uint64_t work_limit = 0;
  const std::atomic<bool>* cancelled = nullptr;  // Turns true: stop within a second.
  unsigned threads = 0;                          // Zero: one per core. Never changes the verdict.
  std::int64_t clock_drift = 0;                  // Clocks may differ by this much, in their unit.
  std::size_t examples = 3;                      // Anomalies of each kind to keep.
  Evidence evidence = Evidence::Observed;        // What the verdict is to rest on.
  // Of several levels, decide as few as tell all outcomes; verdicts have no proof. Otherwise two
  // may be decided at once, which takes twice the memory.
  bool outcomes_only = false;
  // Take it that scans list the tombstones that they meet, also if no scan of the history does:
  // then a key that a scan does not list was never there. Otherwise a violation may be due to not
  // knowing; if it is, it is refused with an error that names the scan.
  bool scans_list_tombstones = false;
  SearchOptions search;
};

// Whether every history that satisfies `stronger` by that evidence satisfies `weaker`, too. By
// timestamps the serializable levels say nothing about those of snapshots: the former look at what
// was committed when a transaction commits, the latter at what was when it started.
[[nodiscard]] bool implies(Level stronger, Level weaker, Evidence evidence);

// Whether check() can decide `level` already.
[[nodiscard]] bool decidable(Level level, Evidence evidence = Evidence::Observed);

// Checks `history` against `level`. A violation is a verdict; the errors are a level that is not
// decidable, and a history that the level's engine cannot read unambiguously (a value that two
// transactions wrote to one key) or that lacks the evidence.
//
// Cost: rc, ra O(n^1.5), causal O(n · sessions) for n operations; NP-complete above, where the time
// limit ends in Undecided. By timestamps: linear, but for predicates, which are evaluated over all
// rows.
[[nodiscard]] Result<Verdict> check(const History& history, Level level,
                                    const CheckOptions& options = {});
// The same for several levels, sharing work. One verdict for each, in the order asked.
[[nodiscard]] Result<std::vector<Verdict>> check(const History& history,
                                                 std::span<const Level> levels,
                                                 const CheckOptions& options = {});

// The verdict as a newcomer can read it; several lines, the last one with a line break. Of a
// violation it tells the story, so the cost is that of explain().
[[nodiscard]] std::string describe(const History& history, const Verdict& verdict);

}  // namespace ouro
