// Checks a history by its timestamps while it is read, for files that are larger than memory.
//
// It is what `ouro check --stream` does: HistoryPieces feed a Stream, what goes out of memory goes
// to a temporary folder, and in the end there is one verdict, which is check()'s with
// Evidence::Timestamps.
//
// Example (built and run as tests/example_check_pieces.cc):
//
//   const auto checked = ouro::check_pieces("tests/data/stream/timeline.jsonl",
//                                           {.level = ouro::Level::SessionSi});
//   if (!checked.ok()) return fail(checked.error());
//   std::cout << ouro::headline(checked->history, checked->verdict) << "\n";
//
// Thread safety: calls share no state. One thread reads ahead of the one that calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"
#include "ouro/stream.h"

namespace ouro {

struct PiecesOptions {
  Level level = Level::SessionSi;            // REQUIRES: decidable(level, Evidence::Timestamps).
  std::int64_t clock_drift = 0;              // Of client clocks; not negative.
  std::chrono::milliseconds time_limit{0};   // Zero: none. Reading counts.
  std::size_t memory_limit = 1'000'000'000;  // In bytes, about; the rest goes to a folder.
  std::size_t examples = 1;                  // Violations of each kind to keep.
  bool certificate = false;                  // Whether to make one, which needs more memory.
  const std::atomic<bool>* cancelled = nullptr;  // Turns true: stop after the piece at hand.
  // That no transaction has a timestamp is no error, but a violation for each that needs one. For
  // parts of a history, such as shards (ouro/shard.h).
  bool unstamped = false;
};

struct CheckedPieces {
  History history;  // Only the transactions that the examples of the verdict involve.
  Verdict verdict;  // Undecided, with a reason, if a limit or `cancelled` ended it early.
  StreamSummary summary;
  std::optional<Certificate> certificate;  // If wanted, and the verdict is decided.
};

// Reads the history at `path` as HistoryPieces::open() does. The error is one of the file, of its
// content, or that no transaction has a timestamp.
//
// Cost: O(n log n) for n operations, and the memory that `options` say; with a certificate at most
// 45 bytes more for each transaction (StreamProof).
[[nodiscard]] Result<CheckedPieces> check_pieces(const std::string& path,
                                                 const PiecesOptions& options);

}  // namespace ouro
