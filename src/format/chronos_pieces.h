// Reads a Chronos array piece by piece.
//
// What keys hold at first, and whether reads of null are reads of lists, follows from all
// transactions together (chronos_uses.h). So the file is read twice.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "format/array_cutter.h"
#include "format/blocks.h"
#include "format/input.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

// The blocks of an array, one after the other, each of at least so many bytes but the last.
class ArrayBlocks {
 public:
  ArrayBlocks(Input input, std::size_t bytes) : input_(std::move(input)), bytes_(bytes) {}

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const std::string& name() const { return input_.name(); }
  [[nodiscard]] const ArrayCutter& cutter() const { return *cutter_; }
  // The next one; the last, which may be empty, makes ended() true. REQUIRES: !ended().
  [[nodiscard]] Result<Block> next();

 private:
  Input input_;
  std::size_t bytes_;
  std::unique_ptr<ArrayCutter> cutter_ = std::make_unique<ArrayCutter>();
  std::string rest_;  // What was read but not cut off yet.
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 1;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
};

class ChronosPieces {
 public:
  // Reads the file at `path` once. The error is one of the file or of its text, or that it cannot
  // be read twice.
  [[nodiscard]] static Result<ChronosPieces> open(const std::string& path, std::size_t bytes);

  // As HistoryPieces::next().
  [[nodiscard]] Result<std::shared_ptr<const History>> next();

 private:
  ChronosPieces(ArrayBlocks blocks, Value initial, bool lists)
      : blocks_(std::move(blocks)), initial_(initial), lists_(lists) {}

  ArrayBlocks blocks_;
  Value initial_;  // What keys hold at first.
  bool lists_;     // Whether keys are lists.
};

}  // namespace ouro
