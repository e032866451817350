// Checks transactions by their timestamps while they arrive, in whatever order they do.
//
// Example (built and run as tests/example_stream.cc):
//
//   ouro::StreamOptions options;
//   options.level = ouro::Level::SessionSi;
//   auto stream = ouro::Stream::open(options);
//   if (!stream.ok()) return fail(stream.error());
//   const ouro::Status taken = stream->append(batch, now);  // Whenever transactions come,
//   if (!taken.ok()) return fail(taken.error());
//   stream->advance(now);                                  // … whenever time passes,
//   for (const ouro::StreamEvent& event : stream->poll())  // … and whenever it suits.
//     std::cout << ouro::describe(*event.history, event.verdict);
//   const ouro::StreamSummary summary = stream->finish();
//
// What is wrong with a single transaction is reported at once, and two writers that overlap as soon
// as both have arrived. Whether a read, by key or by predicate, returned what its snapshot holds is
// provisional until the time-out of its transaction, since the transaction that wrote the value may
// still be on the way. Then it becomes final, and a violation is reported. A transaction that
// arrives later and affects something final is a straggler. It is counted, and what it changes is
// reported, too: as a new violation, or as the withdrawal of an earlier one. So in the end the
// stream says exactly what check() says of the same transactions, in order of arrival, with
// Evidence::Timestamps; unless a straggler comes later than StreamOptions::retention allows. Then
// the stream may miss violations, and says so, but it reports none that check() does not.
//
// Time is what the caller says it is: the same calls with the same times give the same events.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

// Nanoseconds since some epoch, the same one in all calls.
using StreamTime = std::chrono::nanoseconds;

struct StreamOptions {
  Level level = Level::SessionSi;           // REQUIRES: decidable(level, Evidence::Timestamps).
  std::chrono::milliseconds timeout{5000};  // How long after its arrival a transaction is final.
  std::int64_t clock_drift = 0;             // As in CheckOptions.
  // About how many bytes of memory to use; zero: no limit. With a limit, what is older than the
  // time-out goes to `folder`, and comes back if a straggler needs it. So do whole keys that were
  // not touched lately, and come back when they are touched.
  std::size_t memory = 0;
  std::string folder;  // Required if there is a limit; created if it does not exist.
  // How late a straggler can be: how long before it a transaction with a later timestamp may have
  // arrived. One that is later than that, and needs what was dropped, is lost: it is reported as
  // undecided, and so are violations that it may explain.
  std::chrono::seconds retention{600};
  // A transaction without timestamps is a fault of who recorded it, not of the database: it is
  // reported as such, and what returned its values counts as undecided, not as violated. check()
  // counts it as a violation.
  bool faults_apart = false;
};

// What was found, or found to be otherwise.
struct StreamEvent {
  enum class What : std::uint8_t {
    Violation,
    Withdrawal,  // A violation that was reported earlier is none after all.
    // A transaction came so late that not all it concerns can be judged. Or, if `withdraws` is not
    // zero: a violation that was reported earlier may be none.
    Undecided,
    Fault,  // Of who recorded the transaction; only with StreamOptions::faults_apart.
  };
  std::uint64_t number = 0;  // From one, without gaps; the same calls give the same numbers.
  What what = What::Violation;
  std::uint64_t withdraws = 0;  // The number of the event that this one takes back; zero: none.
  AnomalyKind kind = AnomalyKind::SnapshotMismatch;  // Of the violation, if there is or was one.
  StreamTime arrived{0};   // When the last of the transactions involved arrived.
  StreamTime reported{0};  // When the event became final.
  // The transactions involved, and a verdict with this one anomaly, as check() would give it (if it
  // is a violation). A transaction that the stream no longer knows is missing from both.
  std::shared_ptr<const History> history;
  Verdict verdict;
  // For each transaction of `history`: how many arrived before it. That is its number in the
  // history of all batches one behind the other.
  std::vector<std::uint64_t> arrivals = {};
};

// Counts since the stream began. A flip is a change of a provisional judgement.
struct StreamSummary {
  std::uint64_t txns = 0;             // Transactions that take part.
  std::uint64_t left_out = 0;         // Aborted ones, and unknown ones without a commit timestamp.
  std::uint64_t operations = 0;       // Operations of those that take part.
  std::uint64_t stragglers = 0;       // Transactions that affect something that was final,
  std::uint64_t lost_stragglers = 0;  // and those of them that came later than the retention.
  // Violations that were taken back, or not reported, because they cannot be judged: a straggler
  // was lost, or who may explain them has no timestamps.
  std::uint64_t undecided = 0;
  std::uint64_t faults = 0;  // Transactions without timestamps, if StreamOptions::faults_apart.
  std::uint64_t flips = 0;   // Flips of all transactions.
  std::uint64_t flipped_txns = 0;  // Transactions that flipped,
  // and how many of them did so once, twice, three times, more often.
  std::array<std::uint64_t, 4> flipped{};
  // Flips by how long the judgement had stood: below 1 ms, 10 ms, 100 ms, 1 s, and longer.
  std::array<std::uint64_t, 5> flip_waits{};
  // Violations by kind, as in Verdict::counts, provisional ones included.
  std::array<std::uint64_t, kAnomalyKindCount> counts{};
  std::uint64_t provisional = 0;  // How many of these violations are provisional,
  std::array<std::uint64_t, kAnomalyKindCount> provisional_counts{};  // and of each kind.
  // What there is now.
  std::uint64_t window_txns = 0;  // Transactions that are not final yet.
  std::uint64_t keys = 0;         // Keys in memory.
  std::uint64_t memory = 0;       // Bytes of memory, as the stream accounts for them.
  std::uint64_t disk = 0;         // Bytes in the folder.
  // What went to the folder and came back, since the stream began.
  std::uint64_t spilled = 0;    // Versions and reads that went there.
  std::uint64_t recalled = 0;   // How often some of them came back.
  std::uint64_t keys_left = 0;  // How often a whole key went there,
  std::uint64_t keys_back = 0;  // and how often one came back.
};

class Stream {
 public:
  // A new stream. The error is a level that timestamps cannot decide, a negative clock_drift, a
  // memory limit without a folder, or a folder that cannot be used. What an earlier stream left in
  // the folder is removed.
  [[nodiscard]] static Result<Stream> open(const StreamOptions& options);
  // The stream that was saved in `file`, as it was when save() was called. What the earlier stream
  // wrote to its folder later is removed; the folder may have moved meanwhile. The error is also a
  // file that cannot be read, or options that differ from those of the earlier stream in more than
  // `memory` and `folder`. Cost: linear in the file.
  [[nodiscard]] static Result<Stream> restore(const StreamOptions& options,
                                              const std::string& file);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Takes the transactions of `batch`, in its order. If `now` is before that of an earlier call, it
  // counts as that one. REQUIRES: over all batches, those of a session come in session order.
  //
  // All or nothing: if there is an error, nothing has changed. The error is a key that is both a
  // list and a register; another initial value for all keys than before; or the first predicate
  // read of the stream, if it comes so late that the rows before it are forgotten.
  //
  // Initial values of single keys may come late; the last one counts. Version orders are ignored.
  // The stream keeps the batch as long as its transactions may be part of an event.
  [[nodiscard]] Status append(std::shared_ptr<const History> batch, StreamTime now);
  // Makes final what has waited as long as the time-out. `now` is as for append().
  void advance(StreamTime now);
  // The events since the last call, in the order of their numbers. After restore() they are what
  // they were, but for this: with a memory limit, another transaction may be named as the writer of
  // what a wrong read returned, if several wrote that value.
  [[nodiscard]] std::vector<StreamEvent> poll();
  [[nodiscard]] StreamSummary summary() const;
  // Makes everything final, as if all time-outs were over. Call poll() once more afterwards.
  StreamSummary finish();

  // Saves the whole stream, with the events that were not polled yet, for restore(). Replaces
  // `file` in one step, when all is safely on disk. Cost: linear in what is in memory.
  [[nodiscard]] Status save(const std::string& file);
  // Begins to save the stream as it is now, and returns soon: a copy of this process (fork) writes
  // the file while the stream goes on. Pages of memory that change meanwhile exist twice. A save
  // that is still under way is given up. The error is what kept this one from beginning.
  // REQUIRES: the calling thread lives until the save has ended.
  [[nodiscard]] Status begin_save(const std::string& file);
  // How the save that was begun last has ended; told once. Nothing while it goes on, if it was told
  // before, and if none was begun.
  [[nodiscard]] std::optional<Status> saved();
  // Whether the stream is in the middle of moving old parts to the folder. A save that begins now
  // finishes that first, which takes up to a second.
  [[nodiscard]] bool sweeping() const;
  // From now on uses about so much memory. REQUIRES: it is not zero, and there was a limit before.
  void limit(std::size_t memory);

 private:
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What a stream found in the end, as one verdict with the first examples of each kind of anomaly.
class StreamDigest {
 public:
  // `level` is that of the stream; `examples` is how many of each kind to keep.
  StreamDigest(Level level, std::size_t examples) : level_(level), examples_(examples) {}

  // Takes the events of the stream. REQUIRES: all of them are added, in order.
  void add(std::span<const StreamEvent> events);

  struct Digest {
    History history;  // Only the transactions that the examples involve.
    Verdict verdict;  // Counts all anomalies. Undecided: there are none, but a straggler was lost.
  };
  // The verdict. REQUIRES: `summary` is what Stream::finish() returned.
  [[nodiscard]] Digest close(const StreamSummary& summary) const;

 private:
  Level level_;
  std::size_t examples_;
  std::array<std::vector<StreamEvent>, kAnomalyKindCount> kept_;
};

// Collects what proves the verdict of a stream, for ouro/certificate.h: all its transactions in the
// order of their timestamps, or violations. Transactions and operations are numbered as in the
// history of all batches one behind the other.
//
// Memory: 21 bytes for each transaction (13 at the serializable levels; 8 more if timestamps have
// logical parts) and 32 for each violation that may still be withdrawn. close(), if the level
// holds, needs 24 more for each transaction while it runs (4 at the serializable levels).
class StreamProof {
 public:
  // `examples` is how many violations of each kind to keep. REQUIRES: `level` is that of the
  // stream, and its retention is so long that no straggler is lost.
  StreamProof(Level level, std::size_t examples);
  StreamProof(StreamProof&&) noexcept;
  StreamProof& operator=(StreamProof&&) noexcept;
  ~StreamProof();

  // Takes a batch. REQUIRES: all batches that the stream took are added, in order. The error is
  // more transactions or operations than one History can have.
  [[nodiscard]] Status add(const History& batch);
  // Takes events. REQUIRES: all events of the stream are added, in order, each after the batches
  // that it is about.
  void add(std::span<const StreamEvent> events);
  // The verdict that check() would give, without counts. If it is violated, it has the first
  // violations that were reported, in the order of the timeline. `outcome` is what the stream came
  // to. REQUIRES: it is not Undecided.
  [[nodiscard]] Verdict close(Outcome outcome) &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ouro
