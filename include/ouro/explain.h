// From a violated verdict to the smallest stories that show why, as data.
//
// A story is a counterexample: a few transactions, and of each the operations that matter, that
// the level forbids already by themselves. It is minimal: without any one of its transactions, or
// any one of its operations, the level allows the rest. What "without" means is said at excerpt().
// (By timestamps it may also have who wrote what should have been read; counterexample() has not.)
//
// Example (built and run as tests/example_explain.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto verdict = ouro::check(*history, ouro::Level::Si);
//   if (!verdict.ok()) return fail(verdict.error());
//   for (const ouro::Story& story : ouro::explain(*history, *verdict).stories) {
//     std::cout << ouro::name(story) << ", " << story.txns.size() << " transactions\n";
//     const ouro::History counterexample = ouro::counterexample(*history, story);
//     assert(ouro::check(counterexample, story.level)->outcome == ouro::Outcome::Violated);
//   }
//
// Thread safety: calls share no state.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

// The anomalies as people know them, worst first. docs/anomalies.md has a paragraph on each, and
// the rules by which a cycle gets its name.
enum class Pattern : std::uint8_t {
  // Seen in single operations.
  Internal,
  DirtyUpdate,
  AbortedRead,
  IntermediateRead,
  ThinAirRead,
  FutureRead,
  DuplicateElements,
  IncompatibleOrder,
  ResultSetMismatch,
  NonRepeatableRead,
  // Cycles.
  DirtyWrite,          // ww only.
  CircularFlow,        // ww and wr.
  NonMonotonicRead,    // From here on one rw: of a reader that saw the overwriter before,
  FracturedRead,       // … or after;
  CausalityViolation,  // … or through others;
  LostUpdate,          // of one of two that updated the same version;
  StaleRead,           // of what was done before by session or by clock;
  ReadSkew,            // any other.
  LongFork,            // Two rw, not one after the other, and between them no ww.
  Nonadjacent,         // No two rw one after the other.
  WriteSkew,           // Two rw one after the other, and no other dependency.
  ReadOnlyAnomaly,     // The same, and wr, with a transaction that only reads.
  ItemCycle,           // Any other with rw one after the other.
  Phantom,             // The same, with a predicate read that missed a row.
  // By the database's timestamps.
  SnapshotMismatch,
  WriteConflict,
  SessionInversion,
  RealTimeInversion,
  MissingTimestamp,
  InvertedTimestamps,
  DuplicateTimestamp,
  // By the version orders of the history.
  VersionOrderMismatch,
};
inline constexpr std::size_t kPatternCount = 32;

struct PatternInfo {
  Pattern pattern = Pattern::Internal;
  std::string_view name;     // "lost update"
  std::string_view id;       // Elle's or Adya's: "G-single"
  std::string_view aliases;  // What others call it, comma-separated; may be empty.
  std::string_view meaning;  // One line.
};
[[nodiscard]] const PatternInfo& info(Pattern pattern);
// By name or id, blanks as '-' or not; also "G1", "G2" and aliases. All that it may mean.
[[nodiscard]] std::vector<Pattern> find_patterns(std::string_view name);

// What a cycle needs besides reads and writes.
enum class Variant : std::uint8_t {
  None,
  Session,   // The order of a session; suffix "-session".
  RealTime,  // The clients' clocks; suffix "-realtime".
};

[[nodiscard]] std::string_view suffix(Variant variant);

// In a case: `first` wrote `key` before `second` did.
struct Assumption {
  KeyId key;
  TxnId first;
  TxnId second;
  constexpr auto operator<=>(const Assumption&) const = default;
};

// What follows if some writes were made in some order: a contradiction.
struct Case {
  std::vector<Assumption> given;  // Empty: it follows in any case.
  // Each edge starts where the one before ends. Edge::choice is the number of the assumption that
  // it rests on, in `given`.
  std::vector<Edge> cycle;
  // If the case is an earlier one with two transactions exchanged: its number, and those two.
  std::optional<std::size_t> mirrors;
  TxnId exchanged[2];
};

struct Story {
  Pattern pattern = Pattern::Internal;
  Variant variant = Variant::None;
  AnomalyKind kind = AnomalyKind::Internal;  // What check() calls it.
  Level level = Level::Serializable;         // The level it violates.
  Evidence evidence = Evidence::Observed;
  std::vector<TxnId> txns;  // As they are to be called T1, T2 …: in the order of the history.
  std::vector<OpId> ops;    // The operations that matter, in the order of the history.
  // Cycles: the cases, which leave no order of the writes out. One that has no assumption is alone.
  std::vector<Case> cases;
  // How readers saw what they saw through other transactions; see Anomaly::support.
  std::vector<Edge> support;
  // No cycle: the operations that show it and their transactions, ordered as in Anomaly.
  std::vector<OpId> shown_by;
  std::vector<TxnId> shown_in;
  std::string expected;     // See Anomaly::expected.
  bool minimal = false;     // False: nothing smaller was found within the limits.
  std::uint64_t count = 1;  // Occurrences of `kind` in the whole history, as far as counted.
  // Of the levels that can be decided with this evidence: what these transactions by themselves
  // violate, and what allows them.
  std::vector<Level> weakest_violated;
  std::vector<Level> strongest_holding;
};

// "lost update", "write skew-realtime".
[[nodiscard]] std::string name(const Story& story);
// "lost-update", "G2-item-realtime".
[[nodiscard]] std::string id(const Story& story);

struct Explanation {
  Level level = Level::Serializable;
  // Independent of each other: no two of one pattern share a transaction that reads; by timestamps,
  // no two are about the same operations. Worst first.
  std::vector<Story> stories;
  // Whether the level holds once the transactions that read in these violations, and in others of
  // their kinds that were seen, are removed. If not, there are other violations or there was no
  // time to look for them.
  bool complete = false;
};

struct ExplainOptions {
  std::size_t examples = 1;                      // Stories of each pattern.
  std::uint64_t work_limit = 200'000'000;        // For all of it, as in CheckOptions; zero: none.
  std::chrono::milliseconds time_limit{0};       // Likewise; what is told may depend on it.
  const std::atomic<bool>* cancelled = nullptr;  // Turns true: stop soon.
  std::int64_t clock_drift = 0;                  // As check() was told.
  unsigned threads = 0;                          // As for check().
  Evidence evidence = Evidence::Observed;        // For precedence(); verdicts have theirs.
};

// Violated if any is, else undecided if any is, else holds.
[[nodiscard]] Outcome worst(std::span<const Verdict> verdicts);
// Of the levels in `verdicts` that hold, those that no other one implies.
[[nodiscard]] std::vector<Level> strongest_holding(std::span<const Verdict> verdicts);
// Of those violated, the ones that imply no other.
[[nodiscard]] std::vector<Level> weakest_violated(std::span<const Verdict> verdicts);

// Explains a violated verdict; of others there is nothing to tell.
//
// Cost: one pass over the history, and then checks of ever smaller parts of it until the work limit
// is reached, which is about two seconds; usually milliseconds.
[[nodiscard]] Explanation explain(const History& history, const Verdict& verdict,
                                  const ExplainOptions& options = {});

// Whether one transaction must precede another.
struct Precedence {
  enum class Answer : std::uint8_t {
    Required,   // Every order that explains the history has them so; the story says why.
    Open,       // Some order that explains the history does without.
    Violated,   // No order explains the history, so there is nothing to ask; see explain().
    Undecided,  // A limit was reached.
  };
  Answer answer = Answer::Undecided;
  // Required: why. What is called the cycle of a case is a path from the one transaction to the
  // other here; unless it closes: then the case is impossible anyway.
  Story story;
};

// Whether `first` must precede `second` at `level`: that is, at the serializable levels, come
// before it; at the levels of snapshots, commit before it begins; at parallel-si, be seen by it;
// below, commit before it. The error is check()'s, and that timestamps leave nothing to ask. Cost:
// that of check(), twice, and of explain().
[[nodiscard]] Result<Precedence> precedence(const History& history, TxnId first, TxnId second,
                                            Level level, const ExplainOptions& options = {});

// A part of `history` as a history of its own: the transactions `txns` and of those the operations
// `ops`; all others are removed. Both in the order of the history.
//
// What removed operations wrote is gone, so nothing is said by a read that returned it: such reads
// go, too. In detail: a read stays if a transaction that did not abort wrote its value and that
// write stays; or if only aborted ones did, and one of those writes stays; or if nobody else did.
// The same holds for a list by the last element in it that others appended; removed elements before
// that one disappear from the list. So do removed versions from the rows and version sets of scans,
// selects and aggregates; the result of an aggregate that counted one is not observed then. A scan
// goes if the key has another value then. Removed writes go from version orders. Sessions, clocks
// and timestamps stay.
//
// By versions, what a transaction wrote and overwrote itself goes with the last write. A select or
// aggregate goes, too, without the version of a row that it returned; or, of other rows, without
// the one with which the row began or ceased to match or the one before that; unless all writes of
// the row go, or all up to what it saw that match otherwise. In a version set the first version
// that matches, or does not, like one that was removed stands for it.
//
// So an excerpt of a history that a level allows is allowed, too (but for selects and aggregates by
// timestamps, which depend on every row). `evidence` is what it is to be checked by.
[[nodiscard]] History excerpt(const History& history, std::span<const TxnId> txns,
                              std::span<const OpId> ops, Evidence evidence = Evidence::Observed);
// The same with all operations of `txns`.
[[nodiscard]] History excerpt(const History& history, std::span<const TxnId> txns,
                              Evidence evidence = Evidence::Observed);

// A story of `history` as a history of its own: story.level is violated by it, and allows it
// without any one of its transactions or operations if story.minimal. `options` as for explain().
[[nodiscard]] History counterexample(const History& history, const Story& story,
                                     const ExplainOptions& options = {});

}  // namespace ouro
