#include "serve/batch_queue.h"

#include <utility>

namespace ouro::serving {

namespace {

// Whoever finds no room asks again after this time, or sooner.
constexpr auto kAskAgain = std::chrono::milliseconds(100);
constexpr auto kCrowded = std::chrono::milliseconds(500);
constexpr auto kLongWait = std::chrono::seconds(1);

}  // namespace

Reservation::~Reservation() {
  if (queue_ != nullptr) queue_->give_back(*this);
}

bool Reservation::resize(std::size_t bytes) { return queue_->resize(*this, bytes); }
bool Reservation::await(std::size_t bytes) { return queue_->await(*this, bytes); }

bool BatchQueue::fits(const Reservation& changed, std::size_t bytes) const {
  const std::size_t others = bytes_ - changed.bytes_;
  return bytes <= changed.bytes_ || changed.exceeds_ || others == 0 || others + bytes <= limit_;
}

void BatchQueue::note_shortage(Clock::time_point now) {
  if (now - short_at_ > 2 * kAskAgain) short_since_ = now;
  short_at_ = now;
}

bool BatchQueue::crowded() const {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  return now - short_at_ <= 2 * kAskAgain && now - short_since_ >= kCrowded;
}

bool BatchQueue::resize(Reservation& changed, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  if (!fits(changed, bytes)) {
    note_shortage(Clock::now());
    return false;
  }
  bytes_ += bytes - changed.bytes_;
  changed.bytes_ = bytes;
  return true;
}

bool BatchQueue::await(Reservation& changed, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const auto begun = Clock::now();
  while (!closed_ && !fits(changed, bytes)) {
    const auto now = Clock::now();
    note_shortage(now);
    if (now - begun >= kLongWait && !exceeded_) {
      exceeded_ = changed.exceeds_ = true;
    } else {
      freed_.wait_for(lock, kAskAgain);
    }
  }
  if (closed_) return false;
  bytes_ += bytes - changed.bytes_;
  changed.bytes_ = bytes;
  return true;
}

std::optional<Reservation> BatchQueue::reserve(std::size_t bytes) {
  std::optional<Reservation> reservation(std::in_place, *this, 0);
  if (!reservation->await(bytes)) reservation.reset();
  return reservation;
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

void BatchQueue::give_back(const Reservation& reservation) {
  const std::lock_guard lock(mutex_);
  bytes_ -= reservation.bytes_;
  if (reservation.exceeds_) exceeded_ = false;
  freed_.notify_all();
}

}  // namespace ouro::serving
