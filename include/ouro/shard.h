// Cuts a history into shards that are checked one by one, on as many machines as there are, and
// merges what was found into the verdict on the whole. By timestamps only.
//
// By timestamps a check falls apart. What a read of a key should return, and whether two writers of
// a key overlap, depends on the operations on that key; whether a session saw its own transactions,
// on the timestamps of that session; and what real time asks for, on timestamps and clocks. So a
// shard is a history: some of the transactions, each with some of its operations. Whatever is wrong
// with a shard is wrong with the whole, and each kind of anomaly is decided by one kind of shard.
// docs/scale.md says what each shard has, why that is exact, and when it pays.
//
// Example (built and run as tests/example_shard.cc):
//
//   const auto plan = ouro::split("tests/data/stream/timeline.jsonl", folder, {.keys = 2});
//   if (!plan.ok()) return fail(plan.error());
//   for (const ouro::ShardFile& shard : plan->shards) {  // Each of them on any machine.
//     const auto verdict = ouro::check_shard(folder, *plan, shard, ouro::PiecesOptions());
//     if (!verdict.ok()) return fail(verdict.error());
//     const auto written = ouro::write_shard_verdict(*verdict, *plan, folder);
//     if (!written.ok()) return fail(written.error());
//   }
//   const auto verdicts = ouro::read_shard_verdicts(*plan, folder);
//   if (!verdicts.ok()) return fail(verdicts.error());
//   const auto merged = ouro::merge(*plan, folder, *verdicts);
//   if (!merged.ok()) return fail(merged.error());
//   std::cout << ouro::headline(merged->history, merged->verdict) << "\n";
//
// Thread safety: calls share no state; a Projector is used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/check_pieces.h"
#include "ouro/format.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

// What a shard has of the whole. Transactions have their id, session, outcome and timestamps in
// all.
enum class ShardKind : std::uint8_t {
  Keys,      // Some of the keys: transactions with an operation on them, and these operations.
  Rows,      // Scans, selects and aggregates, and all writes; only if there are such reads.
  Sessions,  // Some of the sessions: their transactions, without operations.
  Clocks,    // All transactions with their clocks, without operations; only if there are clocks.
};
inline constexpr std::size_t kShardKindCount = 4;

// Whether shards of this kind decide about anomalies of that kind. By timestamps each kind of
// anomaly is decided by one kind of shard.
[[nodiscard]] bool decides(ShardKind shard, AnomalyKind anomaly);

struct ShardId {
  ShardKind kind = ShardKind::Keys;
  std::uint32_t number = 1;  // Among those of its kind, from 1.
  constexpr auto operator<=>(const ShardId&) const = default;
};
[[nodiscard]] std::string name(ShardId shard);  // "keys-2", "rows", "sessions-1", "clocks"

// How many shards to make of keys and of sessions.
struct ShardCounts {
  std::uint32_t keys = 1;
  std::uint32_t sessions = 1;
  static constexpr std::uint32_t kMost = 1000;
};

// Projects transactions onto shards, as they come. Which shard has a key or a session depends on
// its name alone, so several machines may project parts of one history, if each knows how many
// transactions come before its part; the parts of a shard are then put together in their order.
class Projector {
 public:
  // `before`: how many transactions of the history come before the first piece.
  // REQUIRES: both counts are from 1 to ShardCounts::kMost.
  explicit Projector(ShardCounts counts, std::uint64_t before = 0);
  Projector(Projector&&) noexcept;
  Projector& operator=(Projector&&) noexcept;
  ~Projector();

  // All shards: those of keys, of rows, of sessions, of clocks.
  [[nodiscard]] std::span<const ShardId> shards() const;

  // The projections of `piece`, which continues the pieces before it: a history for each of
  // shards(), without transactions if it has none there. The error is a history with counters or
  // sets that comes in several pieces, since their reads can be told from those of registers only
  // in the whole; or a key or an id that looks like a name of the projector's own.
  //
  // A transaction without an id gets its number in the whole. Where nobody knows that, because the
  // whole comes in several streams, `places` says instead where each transaction of the piece comes
  // from, as "3.1234", which no other transaction may have. REQUIRES: `places` is empty, or has one
  // for each transaction, of digits and periods; and the same in all calls.
  // Cost: linear in the piece and in the number of shards.
  [[nodiscard]] Result<std::vector<History>> add(const History& piece,
                                                 std::span<const std::string> places = {});

  // Of all pieces: whether shards of rows and of clocks are needed.
  [[nodiscard]] bool has_predicate_reads() const;
  [[nodiscard]] bool has_clocks() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A shard as a file of native text, FOLDER/keys-2.jsonl.
struct ShardFile {
  ShardId id;
  std::uint64_t txns = 0;
  std::uint64_t ops = 0;
};

// What a history was split into. FOLDER/shards.json has it.
struct ShardPlan {
  ShardCounts counts;
  std::string history;            // The path of the whole, as it was given.
  std::uint64_t txns = 0;         // Of the whole history.
  std::uint64_t ops = 0;          // Of the whole history.
  std::uint64_t fingerprint = 0;  // Of the whole: whether verdicts are about this history.
  // What the strongest level leaves out. Those that are counted and not met, with a count of zero,
  // are there for join().
  std::vector<LeftOut> left_out;
  std::vector<ShardFile> shards;  // Without those that have no transaction.
  // If a part of a history was split: what join() needs of it.
  struct Part {
    std::uint64_t before = 0;  // How many transactions of the whole come before it.
    bool predicate_reads = false;
    bool clocks = false;
    bool timestamps = false;  // Whether it has any of these.
  };
  std::optional<Part> part = {};
  // Whether it was joined from parts. Then the fingerprint is theirs, and not that of the whole.
  bool joined = false;
};

struct SplitOptions {
  std::uint32_t keys = 1;
  std::uint32_t sessions = 1;
  ReadOptions read = {};
  // The file is a part of a history: so many transactions of the whole come before it. What the
  // first lines of the whole say about all of it, each part has to say.
  std::optional<std::uint64_t> before = {};
};

// Splits the history at `path` into files in `folder`, which is made if it does not exist. Native
// text, and the JSON of Chronos in a file, are read piece by piece, so they may be larger than
// memory; other formats as a whole. The error is one of the history, one of Projector::add(), or a
// file that cannot be written.
[[nodiscard]] Result<ShardPlan> split(const std::string& path, const std::string& folder,
                                      const SplitOptions& options);
// Joins the plans of all parts of a history, in any order. The error is that a part is missing, or
// that they were split differently.
[[nodiscard]] Result<ShardPlan> join(std::vector<ShardPlan> parts);
// The same with the files in `folders`, from which the shards of the whole are put together in
// `folder`, which is made if it does not exist.
[[nodiscard]] Result<ShardPlan> join(std::span<const std::string> folders,
                                     const std::string& folder);
// Writes the plan to its file in `folder`.
[[nodiscard]] Status write_shard_plan(const ShardPlan& plan, const std::string& folder);
// The plan in `folder`. The error is that there is none.
[[nodiscard]] Result<ShardPlan> read_shard_plan(const std::string& folder);

// A violation, in terms that the whole and the shard share.
struct ShardFinding {
  AnomalyKind kind = AnomalyKind::SnapshotMismatch;
  std::vector<std::string> txns;  // Their ids as JSON.
  struct Where {
    std::uint32_t txn = 0;  // Into `txns`.
    std::uint32_t op = 0;   // In the transaction, as the shard has it.
  };
  std::vector<Where> ops;
  std::string expected = {};  // As Anomaly::expected.
};

// What was found in one shard.
struct ShardVerdict {
  ShardId shard;
  Level level = Level::SessionSi;
  std::int64_t clock_drift = 0;
  Outcome outcome = Outcome::Undecided;
  std::string reason = {};                                // As Verdict::reason.
  std::array<std::uint64_t, kAnomalyKindCount> counts{};  // As Verdict::counts.
  std::vector<ShardFinding> findings = {};                // The first of each kind.
};

// `verdict`, which check() gave for `history`, the shard `shard`, with this clock drift.
[[nodiscard]] ShardVerdict shard_verdict(ShardId shard, const History& history,
                                         const Verdict& verdict, std::int64_t clock_drift = 0);
// Checks one shard of `folder`, as check_pieces() does; options.certificate is ignored.
[[nodiscard]] Result<ShardVerdict> check_shard(const std::string& folder, const ShardPlan& plan,
                                               const ShardFile& shard,
                                               const PiecesOptions& options);
// Writes the verdict to its file in `folder`, FOLDER/keys-2.verdict; reads those of all shards. The
// error is also a verdict that is missing, or that is about another split.
[[nodiscard]] Status write_shard_verdict(const ShardVerdict& verdict, const ShardPlan& plan,
                                         const std::string& folder);
[[nodiscard]] Result<std::vector<ShardVerdict>> read_shard_verdicts(const ShardPlan& plan,
                                                                    const std::string& folder);

// Gives a history piece by piece, and then null.
using NextPiece = std::function<Result<std::shared_ptr<const History>>()>;
// Opens the history at `path`: native text, and the JSON of Chronos in a file, as HistoryPieces
// does; anything else as one piece. The error is as for read_history().
[[nodiscard]] Result<NextPiece> pieces_of(const std::string& path, const ReadOptions& read = {});

struct MergeOptions {
  std::size_t examples = 1;  // Violations of each kind to keep.
  // Reads the whole, which is looked through once: for the transactions of the violations, and for
  // a certificate. Empty: violations are shown as their shards have them.
  NextPiece whole = {};
  bool certificate = false;  // Whether to make one. REQUIRES: `whole`.
};

// The verdict on the whole.
struct MergedShards {
  History history;  // Only the transactions that the examples of the verdict involve.
  Verdict verdict;  // That of check() by timestamps, without orders; with counts of the whole.
  // If wanted, and the verdict is decided: a certificate of the whole.
  std::optional<Certificate> certificate;
};

// Merges the verdicts on all shards of `plan`, whose files are in `folder`. The error is that
// verdicts are missing, or are about several levels or clock drifts; or that the whole is not what
// was split.
[[nodiscard]] Result<MergedShards> merge(const ShardPlan& plan, const std::string& folder,
                                         std::span<const ShardVerdict> verdicts,
                                         const MergeOptions& options = {});

}  // namespace ouro
