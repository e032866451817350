// The transactions that wait for their time-out, and the batches that transactions came in.
//
// Time-outs are in the order of arrival, so what waits is a row of consecutive arrivals.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "ouro/stream.h"
#include "stream/moment.h"

namespace ouro::stream {

// A transaction whose reads are not yet final.
struct OpenTxn {
  StreamTime arrived{0};
  StreamTime changed{0};         // When the judgement of one of its reads changed last.
  StreamTime flipped{0};         // When the judgement of the whole transaction changed last.
  std::uint32_t wrong = 0;       // How many reads are wrong by what is known now.
  std::uint32_t flips : 30 = 0;  // How often `wrong` became zero, or was zero no longer.
  std::uint32_t asks : 1 = 0;    // It has predicate reads.
  // It misses a transaction that had completed before it was invoked.
  std::uint32_t untimely : 1 = 0;
};

// A transaction, as a part of the batch it came in.
struct Source {
  std::shared_ptr<const History> history;
  TxnId txn;
};

class Window {
 public:
  // Numbers the transactions of the batch from next() on; each is then to be opened.
  void add_batch(std::shared_ptr<const History> batch);
  OpenTxn& open(StreamTime now) {
    if (next_ % kChunk == 0 || chunk(next_) == nullptr) add_chunk();
    OpenTxn& txn = at(next_++);
    txn = {now, now, now, 0, 0, 0, 0};
    return txn;
  }
  [[nodiscard]] Arrival first() const { return first_; }  // The oldest that is not final.
  [[nodiscard]] Arrival next() const { return next_; }
  [[nodiscard]] std::size_t size() const { return next_ - first_; }
  // The recent transactions begin here: the last quarter of those that wait.
  [[nodiscard]] Arrival lately() const { return next_ - (size() + 3) / 4; }
  // REQUIRES: first() <= arrival < next().
  [[nodiscard]] OpenTxn& at(Arrival arrival) { return (*chunk(arrival))[arrival % kChunk]; }
  [[nodiscard]] bool is_open(Arrival arrival) const { return arrival >= first_; }
  void close_first() {
    if (++first_ % kChunk == 0) drop_chunk();
  }

  // Nothing if the batch is no longer in memory.
  [[nodiscard]] std::optional<Source> find(Arrival arrival) const;

  struct Batch {
    Arrival first = 0;
    std::shared_ptr<const History> history;
    std::size_t bytes = 0;
  };
  [[nodiscard]] const std::deque<Batch>& batches() const { return batches_; }
  void drop_first_batch();
  [[nodiscard]] std::size_t bytes() const {
    return chunks_ * sizeof(Chunk) + batch_bytes_ + batches_.size() * sizeof(Batch);
  }
  // An empty window that goes on at these numbers.
  void restart(Arrival first, Arrival next);
  void restore_batch(Arrival first, std::shared_ptr<const History> batch);

 private:
  static constexpr std::size_t kChunk = 512;
  using Chunk = std::array<OpenTxn, kChunk>;

  // The chunk of `arrival`; null if it was not made or was dropped.
  [[nodiscard]] std::unique_ptr<Chunk>& chunk(Arrival arrival) {
    return ring_[arrival / kChunk & (ring_.size() - 1)];
  }
  // Makes the chunk that next_ belongs to.
  void add_chunk();
  // Drops the chunk before the one of first_.
  void drop_chunk();

  // The transactions that wait, by arrival, in a ring of chunks, so that growing copies none of
  // them.
  std::vector<std::unique_ptr<Chunk>> ring_ = std::vector<std::unique_ptr<Chunk>>(4);
  std::unique_ptr<Chunk> spare_;
  std::size_t chunks_ = 0;
  Arrival first_ = 0;
  Arrival next_ = 0;
  std::deque<Batch> batches_;
  std::size_t batch_bytes_ = 0;
};

// About how many bytes a batch takes in memory.
[[nodiscard]] std::size_t bytes_of(const History& batch);

}  // namespace ouro::stream
