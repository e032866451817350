// Where batches wait for the check: a queue that is bounded in bytes.
//
// An input reserves the bytes of a batch before it reads them, so that memory is bounded however
// many clients there are. Who cannot reserve waits: HTTP clients for a moment (then they are told
// to come back), the others for as long as it takes, which stops the sender.
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

namespace ouro::serving {

class BatchQueue;

// A share of the queue's bytes; given back when it goes.
class Reservation {
 public:
  Reservation() = default;
  Reservation(BatchQueue& queue, std::size_t bytes) : queue_(&queue), bytes_(bytes) {}
  ~Reservation();
  Reservation(Reservation&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)), bytes_(other.bytes_) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

 private:
  BatchQueue* queue_ = nullptr;
  std::size_t bytes_ = 0;
};

constexpr std::size_t kMaxClientName = 200;  // Bytes.

// By this a batch is recognised if it is sent again. Without a client none is.
struct BatchId {
  std::string client;
  std::uint64_t number = 0;
};

// How far a growing file has been read when a batch of it was applied.
struct FilePosition {
  std::string path;  // Empty: the batch is from no file.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
};

// What became of a batch.
struct Receipt {
  std::optional<Error> error;  // Then nothing of it was applied.
  bool repeated = false;       // It was applied before.
};

struct Batch {
  std::shared_ptr<const History> history;
  std::string binary;  // The history in native binary form, if it is to be logged.
  BatchId id;
  FilePosition position;
  std::chrono::steady_clock::time_point arrived;
  Reservation reservation;
  // Called once, from another thread, when the batch is safe or refused.
  std::function<void(const Receipt&)> done;
};

class BatchQueue {
 public:
  explicit BatchQueue(std::size_t limit) : limit_(limit) {}

  // Waits until `bytes` fit, at most until `deadline`. Nothing: time is over, or nothing more is
  // accepted. A batch larger than the limit fits if it is alone.
  [[nodiscard]] std::optional<Reservation> reserve(
      std::size_t bytes, std::chrono::steady_clock::time_point deadline =
                             std::chrono::steady_clock::time_point::max());
  // False: nothing more is accepted, and `done` was not called.
  bool submit(Batch batch);

  // All batches that wait, in order. If there are none, waits for one at most `patience`.
  [[nodiscard]] std::vector<Batch> take(std::chrono::milliseconds patience);
  // From here on nothing is accepted; what waits can still be taken.
  void close();
  [[nodiscard]] bool closed() const;

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t waiting() const;

 private:
  friend class Reservation;
  void give_back(std::size_t bytes);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::condition_variable came_;
  std::deque<Batch> queue_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace ouro::serving
