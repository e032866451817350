// Checks a history by what clients observed while it is read, for files that are larger than
// memory.
//
// It is what `ouro check --stream` does without timestamps. Wherever clients' clocks show a quiet
// moment (everything recorded so far had completed before anything behind was invoked), the history
// is cut, and each segment is decided by itself: with what keys hold before it, and with what later
// transactions read of what it left. docs/scale.md says why that is exact.
//
// A quiet moment orders transactions only where real time does. So segments are decided at
// strong-si or strict-serializable; if they hold, so do the levels that these imply.
//
// Example (built and run as tests/example_check_segments.cc):
//
//   const auto checked = ouro::check_segments("tests/data/stream/quiet.jsonl",
//                                             {.level = ouro::Level::StrictSerializable});
//   if (!checked.ok()) return fail(checked.error());
//   std::cout << ouro::headline(checked->history, checked->verdict) << "\n";
//
// Thread safety: calls share no state. One thread reads ahead, others decide segments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

struct SegmentsOptions {
  Level level = Level::StrictSerializable;   // REQUIRES: not Mixed.
  std::int64_t clock_drift = 0;              // Of client clocks; not negative.
  std::chrono::milliseconds time_limit{0};   // Zero: none. Reading counts.
  std::size_t memory_limit = 1'000'000'000;  // In bytes, about; what waits goes to a folder.
  unsigned threads = 0;                      // That decide segments; zero: one per core.
  // A segment has at least so many transactions, if the history has.
  std::uint64_t least = 10'000;
  // A cut is made when so many transactions were seen behind it. One that comes later still, but
  // was invoked before the cut, leaves what is behind the cut undecided.
  std::uint64_t ahead = 10'000;
  std::size_t piece_bytes = std::size_t{4} << 20;  // As for HistoryPieces::open().
  // Where to write a certificate (ouro/certificate.h); empty: nowhere. If the history is violated
  // it is read once more for that.
  std::string certificate;
  std::size_t examples = 1;                        // Of violations, of each kind.
  const std::atomic<bool>* cancelled = nullptr;    // Turns true: stop after the piece at hand.
};

// The transactions `first` to `last` of the history, counted from 1.
struct SegmentVerdict {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  Outcome outcome = Outcome::Undecided;
  std::string reason;  // Undecided: why.
};

struct CheckedSegments {
  // Violated: the segment that the verdict tells of. Before it stand transactions that wrote what
  // it read of the time before, behind it one that reads what later ones read.
  History history;
  Verdict verdict;
  Level decided_at = Level::StrictSerializable;  // What the segments were checked against.
  std::vector<SegmentVerdict> segments;
  std::uint64_t txns = 0;
  std::uint64_t operations = 0;
  // Whether the certificate was written that was asked for. There is none of what is undecided, nor
  // of a violation in what cannot be read twice.
  bool certified = false;
};

// What the segments of a history are checked against if the history is to be checked against
// `level`: strong-si if that implies it, else strict-serializable.
[[nodiscard]] Level segment_level(Level level);

// Reads the history at `path` as HistoryPieces::open() does. The error is one of the file or of its
// content, which must be reads and writes of registers.
//
// Cost: that of check() for each segment; memory for a few segments, and for each key.
[[nodiscard]] Result<CheckedSegments> check_segments(const std::string& path,
                                                     const SegmentsOptions& options);

}  // namespace ouro
