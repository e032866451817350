#include "serve/batch_queue.h"

#include <utility>

namespace ouro::serving {

Reservation::~Reservation() {
  if (queue_ != nullptr) queue_->give_back(bytes_);
}

std::optional<Reservation> BatchQueue::reserve(std::size_t bytes,
                                               std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto fits = [&] { return closed_ || bytes_ == 0 || bytes_ + bytes <= limit_; };
  if (deadline == std::chrono::steady_clock::time_point::max()) {
    freed_.wait(lock, fits);
  } else if (!freed_.wait_until(lock, deadline, fits)) {
    return std::nullopt;
  }
  if (closed_) return std::nullopt;
  bytes_ += bytes;
  return std::optional<Reservation>(std::in_place, *this, bytes);
}

bool BatchQueue::submit(Batch batch) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      queue_.push_back(std::move(batch));
      came_.notify_one();
      return true;
    }
  }
  return false;  // `batch` is destroyed and gives its bytes back, which locks mutex_ again.
}

std::vector<Batch> BatchQueue::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, patience, [&] { return closed_ || !queue_.empty(); });
  std::vector<Batch> taken;
  taken.reserve(queue_.size());
  for (Batch& batch : queue_) taken.push_back(std::move(batch));
  queue_.clear();
  return taken;
}

void BatchQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  freed_.notify_all();
  came_.notify_all();
}

bool BatchQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::size_t BatchQueue::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t BatchQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void BatchQueue::give_back(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
  freed_.notify_all();
}

}  // namespace ouro::serving
