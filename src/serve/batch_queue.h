// The queue in which batches wait for the check. It is bounded in bytes.
//
// An input reserves the bytes of a batch as it reads them, so memory is bounded however many
// clients there are, and what a client announces but does not send takes no room. If there is none,
// the input waits: HTTP for a second, after which the client is told to try again; the others as
// long as it takes, which makes the sender wait, too. So that these do not wait for each other with
// half a batch each, one of them at a time may exceed the limit when it has waited for a second.
// While somebody waits in vain, inputs give up those who send slowly (crowded()).
//
// Thread safety: all members of BatchQueue may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "ouro/result.h"
#include "serve/doubt.h"

namespace ouro::serving {

class BatchQueue;

// A share of the queue's bytes; the destructor gives it back. REQUIRES: the queue outlives it.
class Reservation {
 public:
  Reservation() = default;
  Reservation(BatchQueue& queue, std::size_t bytes) : queue_(&queue), bytes_(bytes) {}
  ~Reservation();
  Reservation(Reservation&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)),
        bytes_(other.bytes_),
        exceeds_(other.exceeds_) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(bytes_, other.bytes_);
    std::swap(exceeds_, other.exceeds_);
    return *this;
  }
  // Changes it to `bytes`. False: there is no room now, and nothing has changed.
  [[nodiscard]] bool resize(std::size_t bytes);
  // The same, but waits for room as long as it takes. False: the queue was closed.
  [[nodiscard]] bool await(std::size_t bytes);

 private:
  friend class BatchQueue;
  BatchQueue* queue_ = nullptr;
  std::size_t bytes_ = 0;
  bool exceeds_ = false;  // It is the one that may exceed the limit.
};

constexpr std::size_t kMaxClientName = 200;  // In bytes.

// Identifies a batch, so that it is applied only once if the client sends it again. A batch without
// the name of a client is never recognised.
struct BatchId {
  std::string client;
  std::uint64_t number = 0;
};

// How far a growing file had been read when a batch of it was applied.
struct FilePosition {
  std::string path;          // Empty: the batch is from no file.
  std::uint64_t device = 0;  // Device and inode tell whether it is still the same file.
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;  // In bytes.
  // A CRC-32 of the last bytes before the offset, which tells whether the file was cut and written
  // anew. Zero bytes: not known.
  std::uint32_t tail_bytes = 0;
  std::uint32_t tail_sum = 0;
};

// What became of a batch. If there is an error, nothing of the batch was applied.
struct Receipt {
  std::optional<Error> error;
  bool full = false;      // The error is a disk that is full; it may be sent again later.
  bool repeated = false;  // The batch had been applied before, so nothing was done.
  bool unjudged = false;  // Nothing of its source is judged any more.
};

struct Batch {
  std::string source;   // See sources.h; empty: the batch names none.
  bool forget = false;  // Not a batch at all, but the wish to forget its source.
  // Not a batch either, but what its recorder got wrong.
  std::optional<Doubt> doubt = std::nullopt;
  std::shared_ptr<const History> history;
  std::string binary;  // The history in native binary form, if it is to be logged.
  BatchId id;
  FilePosition position;
  std::chrono::steady_clock::time_point arrived;
  Reservation reservation;
  // Called once, from another thread, when the batch is applied and on disk, or refused.
  std::function<void(const Receipt&)> done;
};

class BatchQueue {
 public:
  explicit BatchQueue(std::size_t limit) : limit_(limit) {}

  // Waits until `bytes` fit. Returns nothing if the queue was closed. A batch larger than the limit
  // fits if nothing else is reserved.
  [[nodiscard]] std::optional<Reservation> reserve(std::size_t bytes);
  // Whether somebody has waited for room in vain for half a second.
  [[nodiscard]] bool crowded() const;
  // Adds a batch. Returns false if the queue is closed; then Batch::done is never called.
  bool submit(Batch batch);

  // Removes and returns all batches, in order. If there are none, waits at most `patience` for one.
  [[nodiscard]] std::vector<Batch> take(std::chrono::milliseconds patience);
  // Accepts no more batches; those in the queue can still be taken.
  void close();
  [[nodiscard]] bool closed() const;

  [[nodiscard]] std::size_t bytes() const;    // Reserved.
  [[nodiscard]] std::size_t waiting() const;  // Batches.

 private:
  friend class Reservation;
  using Clock = std::chrono::steady_clock;
  // REQUIRES for these two: mutex_ is held.
  [[nodiscard]] bool fits(const Reservation& changed, std::size_t bytes) const;
  void note_shortage(Clock::time_point now);
  [[nodiscard]] bool resize(Reservation& changed, std::size_t bytes);
  [[nodiscard]] bool await(Reservation& changed, std::size_t bytes);
  void give_back(const Reservation& reservation);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;  // Bytes were given back, or the queue was closed.
  std::condition_variable came_;   // A batch came, or the queue was closed.
  std::deque<Batch> queue_;
  std::size_t bytes_ = 0;  // Reserved, whether their batches are in the queue, to come, or taken.
  bool exceeded_ = false;  // A reservation may exceed the limit.
  bool closed_ = false;
  // When somebody last found no room, and since when that has happened again and again.
  Clock::time_point short_at_{}, short_since_{};
};

}  // namespace ouro::serving
