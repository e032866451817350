// Reads a history piece by piece, for files that are larger than memory.
//
// Example (built and run as tests/example_pieces.cc):
//
//   auto pieces = ouro::HistoryPieces::open("tests/data/demo/lost_update.jsonl");
//   if (!pieces.ok()) return fail(pieces.error());
//   for (;;) {
//     const auto piece = pieces->next();
//     if (!piece.ok()) return fail(piece.error());
//     if (*piece == nullptr) break;
//     std::cout << (*piece)->txn_count() << " transactions\n";
//   }
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

class HistoryPieces {
 public:
  // Opens the history at `path` ("-": standard input; also .gz or .zst), to be read in pieces of
  // about `bytes` bytes of text. The error is a file that cannot be read, or one that is neither
  // native text nor the JSON of Chronos. The latter is read twice, since what keys hold at first
  // follows from all of it; so it must be a file, and its first error is this one.
  [[nodiscard]] static Result<HistoryPieces> open(const std::string& path,
                                                  std::size_t bytes = std::size_t{4} << 20);
  HistoryPieces(HistoryPieces&&) noexcept;
  HistoryPieces& operator=(HistoryPieces&&) noexcept;
  ~HistoryPieces();

  // The next piece, as a history of its own; null at the end. Each line of the file is in exactly
  // one piece, except a first line about the whole history, which counts for every piece. Ids and
  // values of two pieces have nothing to do with each other. The error names the line that cannot
  // be read; there is no next piece after it. Cost: linear in the piece, in time and memory.
  [[nodiscard]] Result<std::shared_ptr<const History>> next();

 private:
  struct State;
  explicit HistoryPieces(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ouro
