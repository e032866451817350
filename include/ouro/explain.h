// From a violated verdict to the smallest stories that show why, as data.
//
// A story is a counterexample: a few transactions, and of each the operations that matter, that
// the level forbids already by themselves. It is minimal: without any one of its transactions, or
// any one of its operations, the level allows the rest, or it takes more cases to say why it does
// not: a read that settles the order of two writes saves a case. What "without" means is said at
// excerpt().
// (By timestamps a story may also contain the transaction that wrote what should have been read,
// and the reads of a lost update, although the level does not need them to be violated;
// counterexample() leaves them out.)
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
// the rules by which a cycle gets its name. so, rt, wr, ww and rw are the edges of the cycle
// (EdgeKind); "the overwriter" is the transaction at the end of the rw edge.
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
  NonMonotonicRead,    // One rw; before that read, the reader read from the overwriter.
  FracturedRead,       // One rw; after that read, the reader read from the overwriter.
  CausalityViolation,  // One rw; the reader saw the overwriter through other transactions.
  LostUpdate,          // Two transactions read one version of a key, and both overwrote it; also
                       // if it is timestamps that show it.
  StaleRead,           // One rw; the overwriter was done before, by session or by clock.
  ReadSkew,            // Any other cycle with one rw.
  WrongAggregate,      // One rw and one wr of the same aggregate, which saw half of a transaction.
  LongFork,            // Two rw, not one after the other, and between them no ww.
  Nonadjacent,         // Any other cycle with several rw, no two of them one after the other.
  WriteSkew,           // Two rw, one after the other, and neither wr nor ww.
  PredicateSkew,       // The same with an rw of an aggregate, over a row that counted before.
  ReadOnlyAnomaly,     // Two rw, one after the other, and wr; one transaction only reads.
  ItemCycle,           // Any other cycle in which two rw follow each other.
  Phantom,             // A cycle with an rw of a predicate read that missed a row.
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
inline constexpr std::size_t kPatternCount = 34;

struct PatternInfo {
  Pattern pattern = Pattern::Internal;
  std::string_view name;     // "lost update"
  std::string_view id;       // Elle's or Adya's name: "G-single"
  std::string_view aliases;  // Other names, separated by commas; may be empty.
  std::string_view meaning;  // One line.
};
[[nodiscard]] const PatternInfo& info(Pattern pattern);
// All patterns that `name` may mean: a name or id ("lost update" or "lost-update"), an alias, or a
// group such as "G1" or "G2". Empty if it means none.
[[nodiscard]] std::vector<Pattern> find_patterns(std::string_view name);

// Whether a cycle needs so or rt edges. A pattern with the suffix is an anomaly of its own.
enum class Variant : std::uint8_t {
  None,
  Session,   // It needs the order of a session; suffix "-session".
  RealTime,  // It needs the clients' clocks; suffix "-realtime".
};

[[nodiscard]] std::string_view suffix(Variant variant);  // "", "-session" or "-realtime".

// Supposes that `first` wrote `key` before `second` did.
struct Assumption {
  KeyId key;
  TxnId first;
  TxnId second;
  constexpr auto operator<=>(const Assumption&) const = default;
};

// In one case `there` has the place that `here` has in another.
template <class Id>
struct Renamed {
  Id here;
  Id there;
  constexpr auto operator<=>(const Renamed&) const = default;
};

// One way in which some writes may have been ordered, and the contradiction that follows.
struct Case {
  std::vector<Assumption> given;  // The order supposed. Empty: the contradiction needs none.
  // The contradiction: each edge starts where the one before ends. If an edge rests on an
  // assumption, Edge::choice is that one's number in `given`.
  std::vector<Edge> cycle;
  // If the case is an earlier one with other names: the number of that case in Story::cases, and
  // which transactions and keys have the place of which of its own.
  std::optional<std::size_t> mirrors = {};
  std::vector<Renamed<TxnId>> other_txns = {};
  std::vector<Renamed<KeyId>> other_keys = {};
  std::vector<ReadSource> sources = {};  // What open reads returned in this case.
  std::vector<ReadSight> sights = {};    // What predicate reads saw in this case.
  // If there is no cycle: what is wrong with single operations in this case.
  std::optional<AnomalyKind> plain = {};
};

struct Story {
  Pattern pattern = Pattern::Internal;
  Variant variant = Variant::None;
  AnomalyKind kind = AnomalyKind::Internal;  // What check() calls it.
  Level level = Level::Serializable;         // The level that it violates.
  Evidence evidence = Evidence::Observed;    // The evidence by which it does.
  // The transactions, in the order of the history. Reports call txns[0] T1, txns[1] T2 and so on.
  std::vector<TxnId> txns;
  std::vector<OpId> ops;  // The operations that matter, in the order of the history.
  // If it is a cycle: the cases, which together cover every order of the writes. A case without
  // assumptions is the only one.
  std::vector<Case> cases;
  std::size_t named_by = 0;  // The case that the pattern is of: the first of the mildest.
  // How readers saw what they saw through other transactions; see Anomaly::support.
  std::vector<Edge> support;
  // If it is no cycle: Anomaly::ops and Anomaly::txns.
  std::vector<OpId> shown_by;
  std::vector<TxnId> shown_in;
  std::string expected;     // See Anomaly::expected.
  bool minimal = false;     // False: a limit was reached before everything needless was removed.
  std::uint64_t count = 1;  // How often `kind` occurs in the whole history, as far as counted.
  // Of the levels that can be decided by `evidence`: the weakest that this part of the history
  // violates, and the strongest that allow it. Of a lost update by timestamps they are those by
  // what was read, if that suffices to show it.
  std::vector<Level> weakest_violated;
  std::vector<Level> strongest_holding;
};

// The name of the pattern with the suffix of the variant: "lost update", "write skew-realtime".
[[nodiscard]] std::string name(const Story& story);
// The id of the pattern with the suffix of the variant: "lost-update", "G2-item-realtime".
[[nodiscard]] std::string id(const Story& story);

struct Explanation {
  Level level = Level::Serializable;
  // Worst first. Stories of one pattern are independent: no two share a transaction that reads; by
  // timestamps, no two are about the same operations.
  std::vector<Story> stories;
  // True: if the reading transactions of these stories, and of other anomalies that were found on
  // the way, are removed from the history, the level holds. False: there are other violations, or a
  // limit was reached before it was known.
  bool complete = false;
};

struct ExplainOptions {
  std::size_t examples = 1;  // How many stories of each pattern to tell.
  // Limits as in CheckOptions, for the whole call; zero: none. A time limit that is reached makes
  // the stories depend on the speed of the machine.
  std::uint64_t work_limit = 200'000'000;
  std::uint64_t memory_limit = 0;
  std::chrono::milliseconds time_limit{0};
  const std::atomic<bool>* cancelled = nullptr;  // Turns true: stop soon. May be null.
  std::int64_t clock_drift = 0;                  // The same as in CheckOptions. REQUIRES: >= 0.
  unsigned threads = 0;                          // As in CheckOptions.
  Evidence evidence = Evidence::Observed;        // For precedence() only; a verdict has its own.
  // Whether the history is a part of what was recorded, such as a stream remembers. Then nobody is
  // said to have read what nobody wrote, unless the verdict says so.
  bool of_part = false;
};

// Violated if any verdict is, else Undecided if any is, else Holds.
[[nodiscard]] Outcome worst(std::span<const Verdict> verdicts);
// Of the levels in `verdicts` that hold, those that no other one implies.
[[nodiscard]] std::vector<Level> strongest_holding(std::span<const Verdict> verdicts);
// Of the levels in `verdicts` that are violated, those that imply no other one.
[[nodiscard]] std::vector<Level> weakest_violated(std::span<const Verdict> verdicts);

// Explains why `verdict` is violated. If it is not, there are no stories.
// REQUIRES: check() gave `verdict` for `history`, with the same clock drift and with a proof.
//
// Cost: one pass over the history, then checks of ever smaller parts of it until a limit is
// reached: the default is about two seconds of work. Usually milliseconds.
[[nodiscard]] Explanation explain(const History& history, const Verdict& verdict,
                                  const ExplainOptions& options = {});

// Whether one transaction must precede another.
struct Precedence {
  enum class Answer : std::uint8_t {
    Required,   // In every order that explains the history it does; the story says why.
    Open,       // In some order that explains the history it does not.
    Violated,   // No order explains the history at any level.
    Undecided,  // The question was given up.
  };
  Answer answer = Answer::Undecided;
  // Required: why. Case::cycle is here a path of edges from the first transaction to the second; or
  // a cycle, if the case is impossible anyway. Violated: a story of the violation, if one was
  // found.
  Story story;
  // The level at which the answer is given: the one that was asked for or, if the history violates
  // that, the strongest other one that it does not violate.
  Level level = Level::Serializable;
  // Open: an order that explains the history in which `first` does not precede `second`; at the
  // levels of snapshots with begins and commits, else with commits only. Empty if one of the two
  // does not count.
  std::vector<Event> order;
};

// Whether `first` must precede `second` at `level`. To precede means: at the serializable levels,
// to come before it; at the levels of snapshots, to commit before it begins; at parallel-si, to be
// seen by it; at the levels below (prefix among them), to commit before it. A transaction that does
// not count (it aborted, or nobody saw it) precedes nobody: Open.
//
// The errors are those of check(), and Evidence::Timestamps, where the order is given.
// Limits of time and memory are for the whole call, and one that is reached leaves the answer
// undecided; the limit of work is for the story only.
//
// Cost: twice that of check(), and that of explain().
[[nodiscard]] Result<Precedence> precedence(const History& history, TxnId first, TxnId second,
                                            Level level, const ExplainOptions& options = {});

// A part of `history` as a history of its own, to be checked by `evidence`: the transactions `txns`
// with those of their operations that are in `ops`. REQUIRES: both are in the order of the history.
// Cost: linear in the history.
//
// Keeps what is left meaningful, so that a level which allows `history` allows the excerpt, too
// (except for selects and aggregates by timestamps, which depend on every row):
//   - A read goes if what it returned was perhaps written by a removed operation. In detail: behind
//     an own write of the key it stays with that. Else it stays if all writes of its value by
//     other transactions that did not abort stay (by timestamps, which say what it returned: any of
//     them); or if only aborted transactions wrote the value, and one of these writes stays; or if
//     nobody else wrote it. A delete is a write of null. A scan, select or aggregate goes if some
//     writes of a row that it returned stay, but not all.
//   - For a list this is decided by the last element that others appended. Elements before it whose
//     append was removed disappear from the list. If an element was appended more than once, and
//     some of these appends stay, but not all, the read goes.
//   - Versions whose write was removed disappear from version orders, and from the rows and version
//     sets of scans, selects and aggregates. If an aggregate counted one, its result becomes
//     unobserved. A scan goes if one of its keys would then have another value.
//   - Sessions, clocks and timestamps stay.
//
// By versions, moreover:
//   - What a transaction wrote and overwrote itself goes with its last write of the key.
//   - A select or aggregate goes with the version of a row that it returned. For other rows, it
//     goes with the version by which the row began or ceased to match, and with the version before
//     that; unless all writes of the row go, or all those up to the version it saw that match
//     otherwise.
//   - In a version set, a removed version is replaced by the first one that matches, or does not
//     match, as it did.
[[nodiscard]] History excerpt(const History& history, std::span<const TxnId> txns,
                              std::span<const OpId> ops, Evidence evidence = Evidence::Observed);
// The same with all operations of `txns`.
[[nodiscard]] History excerpt(const History& history, std::span<const TxnId> txns,
                              Evidence evidence = Evidence::Observed);

// The transactions and operations of a story as a history of its own. It violates story.level; if
// story.minimal, it is minimal in the sense above.
// REQUIRES: explain() found `story` in `history`, with these options.
// Cost: that of excerpt(); by timestamps also checks of its parts, within the limits of `options`.
[[nodiscard]] History counterexample(const History& history, const Story& story,
                                     const ExplainOptions& options = {});

}  // namespace ouro
