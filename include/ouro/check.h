// Decides whether an isolation level allows a history.
//
// The levels are defined in docs/levels.md. A verdict brings its proof along: an order in which all
// transactions may have happened, or the anomalies that rule out every such order. How to have it
// told as a story is in ouro/explain.h, how to have it re-checked in ouro/certificate.h.
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
// Thread safety: calls share no state; several threads may check one History. check() starts
// threads of its own (CheckOptions::threads) and joins them before it returns.
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

// Which orders of the writes may explain the history. Observed: any. Versions: those that agree
// with the version orders in the history. Timestamps: only the one that the timestamps of the
// database give.
enum class Evidence : std::uint8_t { Observed, Versions, Timestamps };

[[nodiscard]] std::string_view name(Outcome outcome);    // "holds", "violated", "undecided"
[[nodiscard]] std::string_view name(Evidence evidence);  // "observed", "versions", "timestamps"

// What is wrong, as the engines see it; ouro/explain.h has the names that people use. The members
// are explained in docs/anomalies.md.
enum class AnomalyKind : std::uint8_t {
  // Seen in single operations; every level forbids them …
  Internal,
  AbortedRead,
  IntermediateRead,
  ThinAirRead,
  FutureRead,
  DuplicateElements,
  IncompatibleOrder,
  ResultSetMismatch,
  // … and every level but read-committed this one.
  NonRepeatableRead,
  // Cycles of edges (see EdgeKind) between transactions.
  DependencyCycle,     // so and wr edges, and the order that lists reveal, are cyclic (G0, G1c).
  CommitOrderCycle,    // At rc: reads within a transaction go back in time (non-monotonic read).
  FracturedRead,       // At ra: part of a transaction's writes seen, part missed.
  CausalityViolation,  // At cc: a cause missed while its effect is seen.
  ForbiddenCycle,      // At the strong levels: a cycle of edges that are all known.
  ContradictoryOrder,  // At the strong levels: every way to order some writes closes a cycle.
  // By the database's timestamps (docs/levels.md).
  SnapshotMismatch,    // A read returns something else than its snapshot holds (EXT).
  WriteConflict,       // Two transactions that overlap wrote one key (NOCONFLICT).
  SessionInversion,    // A transaction misses an earlier one of its session (SESSION).
  RealTimeInversion,   // A transaction misses one that had completed when it was invoked.
  MissingTimestamp,    // A transaction lacks a timestamp that the level needs.
  InvertedTimestamps,  // A transaction has a start_ts greater than its commit_ts.
  DuplicateTimestamp,  // Two writers of one key have the same commit_ts.
  // By the version orders of the history.
  VersionOrderMismatch,  // A version order has an aborted write, or lacks a write that counts.
};
inline constexpr std::size_t kAnomalyKindCount = 23;

// What shows anomalies of a kind.
enum class AnomalySign : std::uint8_t {
  Operations,     // Single operations, which are Anomaly::ops.
  Cycle,          // A cycle, which is Anomaly::edges.
  Contradiction,  // A cycle in each of several cases, which are in the verdict, not the anomaly.
  Timestamps,     // Operations and their transactions, by the timestamps.
  VersionOrders,  // Operations and their transactions, by the version orders.
};

struct AnomalyInfo {
  AnomalyKind kind = AnomalyKind::Internal;
  AnomalySign sign = AnomalySign::Operations;
  std::string_view name;     // "aborted read"
  std::string_view id;       // Elle's name where Elle has one: "G1a"
  std::string_view aliases;  // Other names, separated by commas; may be empty.
  std::string_view meaning;  // One line.
};
[[nodiscard]] const AnomalyInfo& info(AnomalyKind kind);

// Why one transaction (`from`) must come before another (`to`); docs/levels.md, "Words".
enum class EdgeKind : std::uint8_t {
  Session,     // so: earlier in the same session.
  WriteRead,   // wr: `to` read what `from` wrote.
  WriteWrite,  // ww: `to` overwrote what `from` wrote.
  ReadWrite,   // rw: `from` read what `to` overwrote.
  RealTime,    // rt: `from` completed before `to` was invoked.
  // By a rule of rc, ra or causal: a transaction saw `from`, which wrote `key`, and yet read `key`
  // from `to`. So `to` overwrote what `from` wrote.
  Forced,
  // At the levels of snapshots with real time, where clients recorded when begins were answered
  // and when commits were asked for:
  CommitTime,  // `from` completed before `to` asked for its commit: commits are in that order.
  BeginTime,   // The begin of `from` was answered before `to` asked for its commit, so that `from`
               // begins before `to` commits.
};
inline constexpr std::size_t kEdgeKindCount = 8;
// "so", "wr", "ww", "rw", "rt", "forced", "rt-commit", "rt-begin"
[[nodiscard]] std::string_view name(EdgeKind kind);
// Whether the edge is by the clients' clocks.
[[nodiscard]] constexpr bool is_real_time(EdgeKind kind) {
  return kind == EdgeKind::RealTime || kind == EdgeKind::CommitTime || kind == EdgeKind::BeginTime;
}

// Why `from` precedes `to`, with the operations that prove it.
struct Edge {
  TxnId from;  // May be kInitialTxn.
  TxnId to;    // kInitialTxn, which nothing precedes, only as part of a contradiction.
  EdgeKind kind = EdgeKind::Session;
  KeyId key;     // All kinds but Session and those of real time.
  OpId from_op;  // The write (wr, ww, Forced) or read (rw) in `from`; invalid if initial.
  OpId to_op;    // The read (wr) or write (ww, rw, Forced) in `to`; invalid if initial.
  OpId read;     // Forced: the read that returned what `to` wrote to `key`.
  OpId saw;      // Forced: the read by which the same transaction saw `from`. Invalid if it saw it
                 // by session order, or through other transactions (see Anomaly::support).
  // In a Refutation: the edge holds only on one side of the choice with this number; kNoChoice: it
  // holds anyway.
  static constexpr std::uint32_t kNoChoice = 0xffffffff;
  std::uint32_t choice = kNoChoice;
};

struct Anomaly {
  AnomalyKind kind = AnomalyKind::Internal;
  std::vector<TxnId> txns;  // The transactions involved, kInitialTxn left out.
  std::vector<OpId> ops;    // The operations that show the anomaly, if it is no cycle.
  std::vector<Edge> edges;  // The cycle: each edge starts where the one before ends.
  // For each Forced edge whose reader saw `from` through other transactions: one path of so and wr
  // edges from `from` to that reader. The paths stand one after the other, in the order of the
  // cycle; a very long cycle has those of its first kMaxPaths such edges only.
  static constexpr std::size_t kMaxPaths = 32;
  std::vector<Edge> support = {};
  // By timestamps: what ops[0] should have returned, as JSON; empty if it is no read.
  std::string expected = {};
};

// A question that nobody's observation answers, with two sides.
enum class ChoiceKind : std::uint8_t {
  Order,   // Of two writers of `key`, `first` wrote before `second`; or after it.
  Sees,    // `first`, which wrote `key`, committed before `second` began; or after that.
  Source,  // The open read `read` returned what `first` wrote to `key`; or something else.
  // It returned none of the versions that it was asked about: that of `first`, and those of the
  // choice `previous`; or it returned one of them.
  Later,
};

struct Choice {
  KeyId key;
  TxnId first;   // May be kInitialTxn if the kind is Source or Later.
  TxnId second;  // Of Order and Sees.
  ChoiceKind kind = ChoiceKind::Order;
  OpId read = {};  // Of Source and Later.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::uint32_t previous = kNone;  // Of Later: a number in Refutation::choices.
};

// One side of a choice: the first or, if reversed, the second.
struct ChoiceSide {
  std::uint32_t choice = 0;  // Into Refutation::choices.
  bool reversed = false;
};

// One step of a proof that every order of the writes is impossible. It says that the sides in
// `excluded` cannot all be true, for one of these reasons:
//   - their edges and edges that hold anyway close `cycle`;
//   - without a cycle and premises: they leave nothing that an open read can have returned; or an
//     open read returned a version although its transaction sees one that comes later; or
//   - it follows from the earlier steps `premises` by unit propagation. Suppose that all sides in
//     `excluded` are true. Then, in their order, each premise but the last has one side left that
//     is not supposed to be true, so the opposite of that side is true, too; and the last has none.
struct RefutationStep {
  std::vector<ChoiceSide> excluded;  // Empty: the proof is complete.
  std::vector<Edge> cycle;
  std::vector<std::uint32_t> premises;  // Numbers of earlier steps.
};

struct Refutation {
  std::vector<Choice> choices;
  std::vector<RefutationStep> steps;  // The last one excludes nothing.
};

// What an open read returned: the last write of the key by `writer`, or the initial version. A read
// is open if it may have returned more than one version: several transactions left the value that
// it returned, or it says only what it did not return (a compare-and-set that failed).
// An element of a list is open, too, if several transactions may have appended it.
struct ReadSource {
  OpId read;
  KeyId key;     // Of the read; of a predicate read, that of one of its rows.
  TxnId writer;  // May be kInitialTxn.
  // Not zero: which element of the list that `read` returned, from 1, `writer` appended. It is
  // the same append for all reads of the list.
  std::uint32_t element = 0;
  constexpr auto operator<=>(const ReadSource&) const = default;
};

// A key of which a predicate read does not tell what it saw: a scan or select did not return it, or
// an aggregate may have taken it in. By observation such a read is open, too. A scan saw no row; a
// select saw a version that it does not match, or none; an aggregate saw any.
struct ReadKey {
  OpId read;
  KeyId key;
  constexpr auto operator<=>(const ReadKey&) const = default;
};

// What is assumed of a predicate read of which the history does not say what it saw, as it has
// neither a version set nor a start timestamp: it saw the version of `key` that `writer` wrote, or
// a later one; or, if not `seen`, an earlier one.
struct ReadSight {
  OpId read;
  KeyId key;
  TxnId writer;
  bool seen = false;
};

// What is wrong if the open reads in `sources` returned what that says, and predicate reads saw
// what `sights` say. A case has one or the other.
struct SourceCase {
  std::vector<ReadSource> sources;
  std::vector<ReadSight> sights = {};
  std::vector<Anomaly> anomalies;
  Refutation refutation;
};

// The begin of a transaction or, if `commit`, its commit.
struct Event {
  TxnId txn;
  bool commit = false;
};

// What a verdict says nothing about, because the history does not have what it takes to check it.
enum class LeftOutKind : std::uint8_t {
  Everything,  // No transaction committed, so there was nothing to check.
  RealTime,    // Transactions without clocks. If all have none, nothing is said about real time.
  Sessions,    // Transactions whose session is not known. If all, nothing is said of its order.
  Results,     // Reads and aggregates whose result was not recorded.
  Omissions,   // What predicate reads missed that do not say what they saw: by version orders it is
               // judged from prefix up only.
  Balances,    // Reads of Jepsen's bank that returned a negative balance. Whether a transfer was
               // to leave the account at zero or more, and so what it read, is not recorded.
};
inline constexpr std::size_t kLeftOutKindCount = 6;
[[nodiscard]] std::string_view name(LeftOutKind kind);  // "real-time"

struct LeftOut {
  LeftOutKind kind = LeftOutKind::Everything;
  std::uint64_t count = 0;  // How many of those that committed,
  std::uint64_t total = 0;  // and of how many such transactions or reads.

  // Whether nothing of the kind was checked.
  [[nodiscard]] bool all() const { return count == total; }
};

struct Verdict {
  Level level = Level::Serializable;
  Evidence evidence = Evidence::Observed;
  Outcome outcome = Outcome::Undecided;
  std::array<std::uint64_t, kAnomalyKindCount> counts{};  // All occurrences, by kind.
  std::vector<Anomaly> anomalies;                         // The first examples of each kind.
  // Holds: a commit order that proves it. Transactions that aborted, or are of unknown status and
  // seen by nobody, are left out.
  std::vector<TxnId> order;
  // Holds, at the levels of snapshots: the same commits with the begins between them.
  std::vector<Event> schedule;
  // Violated, if the proof takes a search: why each way to order the writes fails.
  Refutation refutation;
  // Holds, in a history with open reads: what these may have returned.
  std::vector<ReadSource> sources;
  // Violated, whatever the open reads returned: one contradiction for each case. Then the anomaly
  // is a ContradictoryOrder, with the cycle of the first case. The cases are the leaves of a tree,
  // from left to right. Each inner node asks what one open read returned, and has one child for
  // each possible answer; SourceCase::sources are the answers on the way to the leaf. Likewise with
  // predicate reads of which it is open what they saw: each inner node asks whether one of them saw
  // one version, and has two children.
  std::vector<SourceCase> cases;
  // Violated, by observation: the keys that selects and aggregates do not tell of and that the
  // proof is about, sorted. Holds: empty, unless the level has no order in which to look.
  std::vector<ReadKey> untold;
  std::string reason;  // Undecided: which limit was reached.
  // Holds: what was not checked; empty if the level holds without reservation. A violation is one
  // whatever was left out.
  std::vector<LeftOut> left_out;
};

// How version orders are searched at the levels from prefix up. The outcome is the same with all
// settings. The defaults are the fastest known; the others exist to measure what each idea is worth
// (docs/benchmarks.md). "Current order": the order of all transactions that the search has in hand.
struct SearchOptions {
  // A writer that read the version it overwrites directly follows the writer of that version, so
  // such writers are ordered as one block. Only the levels of snapshots can do without blocks; the
  // others ignore this.
  bool chains = true;
  // Two writers become a choice only once the current order has them in an impossible order. If
  // false, all pairs become choices at the start.
  bool on_demand = true;
  // After `many` conflicts, looks for choices one side of which closes a cycle with known edges
  // alone, and fixes the other side. Where that is affordable, a search that knows all choices
  // takes turns with the one on demand, after a few hundred setbacks, or `many` if those are fewer.
  bool saturation = true;
  std::uint64_t many = 10'000;
  // Which side of a choice is tried first.
  enum class Phase : std::uint8_t {
    Order,  // The one that moves fewer transactions in the current order.
    Saved,  // The one that was tried last.
    Fixed,  // Always the same.
  } phase = Phase::Order;
  // Which choice is decided next.
  enum class Branching : std::uint8_t {
    Earliest,  // The first in the current order.
    Activity,  // The one that took part in the most recent conflicts; with restarts.
  } branching = Branching::Earliest;
  // How it is found out what open reads returned.
  enum class Sources : std::uint8_t {
    Few,      // As cases if there are few of them, and as choices otherwise.
    Cases,    // The level is decided for one case after the other.
    Choices,  // They are choices of the search, where the level has one.
  } sources = Sources::Few;
  // A level that ignores sessions is first searched for an order that keeps them, which guides the
  // search, and prefix and parallel-si for one that session-si allows, too. If that takes more than
  // so many steps of work (see CheckOptions::work_limit), the other ways have their turn, each time
  // with four times the work. Zero: as fits the size of the history.
  std::uint64_t first_turn = 0;
};

struct CheckOptions {
  // Limits. Where one is reached, what is not decided yet is Undecided.
  std::chrono::milliseconds time_limit{0};  // Zero: none.
  std::uint64_t memory_limit = 0;           // Resident bytes of the process; zero: none.
  // In steps of some ten nanoseconds; zero: none. How many steps a history takes depends neither on
  // the machine nor on `threads`, so with this limit alone the outcome is the same everywhere.
  std::uint64_t work_limit = 0;
  const std::atomic<bool>* cancelled = nullptr;  // Turns true: stop within a second. May be null.

  unsigned threads = 0;  // Zero: one per core. Never changes the verdict.
  // By how much the clocks of two clients may differ, in their unit. A transaction precedes another
  // in real time only if it completed more than this before the other was invoked. A
  // negative number is an error.
  std::int64_t clock_drift = 0;
  std::size_t examples = 3;                // Anomalies of each kind to keep in a verdict.
  Evidence evidence = Evidence::Observed;  // What the verdict is to rest on.
  // Of several levels, decide no more than is needed to know all outcomes. The verdicts then have
  // an outcome and no proof. If false, two levels may be decided at once, which takes twice the
  // memory.
  bool outcomes_only = false;
  // Assume that scans list the tombstones that they meet, even if no scan of the history lists one.
  // A key that a scan does not list was then not deleted with a tombstone, as far as the scan saw.
  // If false, and by versions a level is violated only under this assumption, check() returns an
  // error that names the scan.
  bool scans_list_tombstones = false;
  SearchOptions search;
};

// Whether every history that satisfies `stronger` by this evidence satisfies `weaker`, too. By
// timestamps the serializable levels imply no level of snapshots: they look at what was committed
// when a transaction commits, the levels of snapshots at what was committed when it started.
[[nodiscard]] bool implies(Level stronger, Level weaker, Evidence evidence);

// Whether check() can decide `level` by this evidence.
[[nodiscard]] bool decidable(Level level, Evidence evidence = Evidence::Observed);

// What a verdict on `history` leaves out if `level` holds: Verdict::left_out.
[[nodiscard]] std::vector<LeftOut> left_out(const History& history, Level level,
                                            Evidence evidence = Evidence::Observed);

// Checks `history` against `level`. A violation is a verdict, not an error. The errors are: a level
// that is not decidable(); a negative clock_drift; a history without transactions; a history that
// cannot be read unambiguously (for example, one key is a register in one place and a list in
// another); a history that lacks the evidence.
//
// Cost, for n operations: rc and ra O(n^1.5), causal O(n · sessions). The levels above are
// NP-complete, so set a limit; with complete version orders they take linear time. By timestamps:
// linear, except that predicates are evaluated over all rows.
[[nodiscard]] Result<Verdict> check(const History& history, Level level,
                                    const CheckOptions& options = {});
// The same for several levels, which share work. Returns one verdict for each of `levels`, in their
// order. Limits are for all levels together.
[[nodiscard]] Result<std::vector<Verdict>> check(const History& history,
                                                 std::span<const Level> levels,
                                                 const CheckOptions& options = {});

// The verdict in plain words: several lines, each ending with a line break. A violation is told as
// a story, so the cost is that of explain().
[[nodiscard]] std::string describe(const History& history, const Verdict& verdict);

}  // namespace ouro
