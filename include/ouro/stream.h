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
// What single transactions show is reported at once, and two writers that overlap as soon as both
// are in. Whether a read, by key or by predicate, returned what its snapshot holds is provisional
// until the transaction's time-out, since whoever wrote that may still be on the way; then it is
// final and reported. A transaction that comes later than that is counted, and whatever it changes
// is reported too: as a new violation, or as a withdrawal of an earlier one. So in the end the
// stream says exactly what check() says of the same transactions, in order of arrival, with
// Evidence::Timestamps.
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

// Since any epoch, as long as it is the same one in all calls.
using StreamTime = std::chrono::nanoseconds;

struct StreamOptions {
  Level level = Level::SessionSi;           // REQUIRES: decidable(level, Evidence::Timestamps).
  std::chrono::milliseconds timeout{5000};  // How long a read may wait for its writer.
  std::int64_t clock_drift = 0;             // Of client clocks, at the levels with real time.
  // About how much memory to use. What is older than the time-out then goes to `folder`, and comes
  // back if a straggler needs it; so do keys that were not touched lately, which come back when
  // they are. Zero: no limit.
  std::size_t memory = 0;
  std::string folder;  // Required if there is a limit; created if it does not exist.
  // How long what went to the folder can come back; a straggler older than that is reported as
  // such, and what it would have changed stays.
  std::chrono::seconds retention{600};
};

struct StreamEvent {
  std::uint64_t number = 0;     // From one, without gaps; the same calls give the same numbers.
  bool withdrawn = false;       // Not a violation: one reported earlier was none, …
  std::uint64_t withdraws = 0;  // … that of this number.
  AnomalyKind kind = AnomalyKind::SnapshotMismatch;
  StreamTime arrived{0};   // Of the last transaction it needed.
  StreamTime reported{0};  // When it was final.
  // The transactions involved, and a verdict with this one anomaly, as check() would give it.
  // A transaction that is no longer known to the stream is missing from it.
  std::shared_ptr<const History> history;
  Verdict verdict;
  // How many transactions arrived before each of `history`: what it is numbered in the history of
  // all batches one behind the other.
  std::vector<std::uint64_t> arrivals = {};
};

// All since the stream began.
struct StreamSummary {
  std::uint64_t txns = 0;        // That take part.
  std::uint64_t left_out = 0;    // Aborted, or unknown without a commit timestamp.
  std::uint64_t operations = 0;  // Of those that take part.
  std::uint64_t stragglers = 0;  // Came after the time-out of a transaction they could affect …
  std::uint64_t lost_stragglers = 0;  // … and so late that what they affect could not come back.
  std::uint64_t flips = 0;            // How often a provisional judgement of a transaction changed,
  std::uint64_t flipped_txns = 0;     // … and of how many: …
  std::array<std::uint64_t, 4> flipped{};  // … once, twice, three times, more often.
  // By how long the judgement had stood: below 1 ms, 10 ms, 100 ms, 1 s, and longer.
  std::array<std::uint64_t, 5> flip_waits{};
  // As in Verdict::counts: what holds now, provisional judgements included …
  std::array<std::uint64_t, kAnomalyKindCount> counts{};
  std::uint64_t provisional = 0;  // … and how many of these are provisional.
  // Now.
  std::uint64_t window_txns = 0;  // Not yet final.
  std::uint64_t keys = 0;         // In memory.
  std::uint64_t memory = 0;       // Bytes, as accounted.
  std::uint64_t disk = 0;         // Bytes in the folder.
  std::uint64_t spilled = 0;      // Versions and reads that went to the folder.
  std::uint64_t recalled = 0;     // Times something came back from there.
  std::uint64_t keys_left = 0;    // Times a key went there as a whole, …
  std::uint64_t keys_back = 0;    // … and came back.
};

class Stream {
 public:
  // The error is a level that timestamps cannot decide, or a folder that cannot be used. What an
  // earlier stream left in the folder is removed, unless it is restored.
  [[nodiscard]] static Result<Stream> open(const StreamOptions& options);
  // As if all that happened until save() had been done to this stream. What was written to the
  // folder after that is removed. `options` must be the same but for `memory`.
  [[nodiscard]] static Result<Stream> restore(const StreamOptions& options,
                                              const std::string& file);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Takes the transactions of `batch` in its order; those of a session must come in session order.
  // All or nothing: the error is a key that is both a list and a register, or a batch that the
  // stream cannot take (another initial value of all keys than before, predicate reads if there
  // were neither any nor rows before the retention was over once); then nothing has changed.
  // Initial values of single keys may come late, and the last one counts. Version orders count for
  // nothing by timestamps.
  // The stream keeps the batch until nobody needs its transactions for a report.
  [[nodiscard]] Status append(std::shared_ptr<const History> batch, StreamTime now);
  // Makes final what has waited long enough.
  void advance(StreamTime now);
  // What happened since the last call, in the order of their numbers.
  [[nodiscard]] std::vector<StreamEvent> poll();
  [[nodiscard]] StreamSummary summary() const;
  // Makes everything final, as if all time-outs were over. Events may be waiting for poll() then.
  StreamSummary finish();

  // Writes all that the stream knows, synced to disk; replaces `file` in one step. Events that were
  // not polled are part of it.
  [[nodiscard]] Status save(const std::string& file);
  // As save(), but by a copy of this process (fork), so that the stream can go on: what is written
  // is what it knows now. Pages that it changes meanwhile are in memory twice. The error is that of
  // what is to be done before. Whatever was being saved is given up. The thread that calls it must
  // live until it has ended.
  [[nodiscard]] Status begin_save(const std::string& file);
  // How that ended, once; nothing while it goes on, and if there is none.
  [[nodiscard]] std::optional<Status> saved();
  // Whether the stream is in the middle of moving old parts to the folder, which saving must finish
  // first, for up to a second.
  [[nodiscard]] bool sweeping() const;

 private:
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What a stream found in the end, as one verdict with the first examples of each kind.
class StreamDigest {
 public:
  StreamDigest(Level level, std::size_t examples) : level_(level), examples_(examples) {}

  // All events of the stream, in order.
  void add(std::span<const StreamEvent> events);

  struct Digest {
    History history;  // Only the transactions that the examples involve.
    Verdict
        verdict;  // With the counts of all; undecided if a straggler was lost and nothing found.
  };
  [[nodiscard]] Digest close(const StreamSummary& summary) const;

 private:
  Level level_;
  std::size_t examples_;
  std::array<std::vector<StreamEvent>, kAnomalyKindCount> kept_;
};

// What proves the verdict of a stream, for certificate.h: all its transactions in the order of
// their timestamps, or violations. Transactions and operations are numbered as in the history of
// all batches one behind the other.
//
// Takes 21 bytes for each transaction (13 at the serial levels, and 8 more if timestamps have
// logical parts), and 32 for each violation that may still be withdrawn; to close a verdict that
// holds, 24 more for each transaction for a while (4 at the serial levels).
class StreamProof {
 public:
  // REQUIRES: the level of the stream, whose retention is never over.
  StreamProof(Level level, std::size_t examples);
  StreamProof(StreamProof&&) noexcept;
  StreamProof& operator=(StreamProof&&) noexcept;
  ~StreamProof();

  // All batches that the stream took, in order. The error is a history that is too large for
  // anybody who reads it whole.
  [[nodiscard]] Status add(const History& batch);
  // All events of the stream, in order, each after its batches.
  void add(std::span<const StreamEvent> events);
  // As check() says it, without counts. Violations are the first ones that were reported, sorted by
  // where they are on the timeline. REQUIRES: `outcome`, which the stream came to, is decided.
  [[nodiscard]] Verdict close(Outcome outcome) &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ouro
