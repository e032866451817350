// The transactions that wait for their time-out, and the batches in memory.
//
// A transaction is open until its time-out; then it is final. Time-outs are in the order of
// arrival, so the open transactions have consecutive numbers: first() to next() - 1.
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
  std::uint32_t flips : 29 = 0;  // How often `wrong` changed from or to zero.
  // Whether it should have followed a transaction that comes earlier in its session, but does not
  // by its timestamps. Only where sessions are numbered: else that is reported at once.
  std::uint32_t disordered : 1 = 0;
  std::uint32_t asks : 1 = 0;  // Whether it has predicate reads.
  // Whether it should have followed a transaction that had completed before it was invoked, but
  // does not by its timestamps.
  std::uint32_t untimely : 1 = 0;
};

// A transaction and the batch it came in.
struct Source {
  std::shared_ptr<const History> history;
  TxnId txn;
};

class Window {
 public:
  // Adds a batch whose first transaction has the number next(). The caller must then call open()
  // once for each of its transactions.
  void add_batch(std::shared_ptr<const History> batch);
  OpenTxn& open(StreamTime now) {
    if (next_ % kChunk == 0 || chunk(next_) == nullptr) add_chunk();
    OpenTxn& txn = at(next_++);
    txn = {now, now, now, 0, 0, 0, 0, 0};
    return txn;
  }
  [[nodiscard]] Arrival first() const { return first_; }  // The oldest open transaction.
  [[nodiscard]] Arrival next() const { return next_; }
  [[nodiscard]] std::size_t size() const { return next_ - first_; }
  // The first of the recent transactions, which are the last quarter of the open ones.
  [[nodiscard]] Arrival lately() const { return next_ - (size() + 3) / 4; }
  // REQUIRES: first() <= arrival < next().
  [[nodiscard]] OpenTxn& at(Arrival arrival) { return (*chunk(arrival))[arrival % kChunk]; }
  [[nodiscard]] bool is_open(Arrival arrival) const { return arrival >= first_; }
  void close_first() {
    if (++first_ % kChunk == 0) drop_chunk();
  }

  // The transaction, open or not; nothing if its batch is no longer in memory.
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
  // For a stream that is restored: drops all batches and opens transactions `first` to `next` - 1,
  // which the caller then fills by at().
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

  // The open transactions, by arrival, in a ring of chunks: growing moves chunks, not transactions.
  // The size of the ring is a power of two.
  std::vector<std::unique_ptr<Chunk>> ring_ = std::vector<std::unique_ptr<Chunk>>(4);
  std::unique_ptr<Chunk> spare_;  // The chunk dropped last, to be used again.
  std::size_t chunks_ = 0;
  Arrival first_ = 0;
  Arrival next_ = 0;
  std::deque<Batch> batches_;
  std::size_t batch_bytes_ = 0;
};

// About how many bytes a batch takes in memory.
[[nodiscard]] std::size_t bytes_of(const History& batch);

}  // namespace ouro::stream
