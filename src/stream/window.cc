#include "stream/window.h"

#include <algorithm>
#include <utility>

#include "history/columns.h"

namespace ouro::stream {

void Window::add_batch(std::shared_ptr<const History> batch) {
  restore_batch(next_, std::move(batch));
}

void Window::restore_batch(Arrival first, std::shared_ptr<const History> batch) {
  const std::size_t bytes = bytes_of(*batch);
  batches_.push_back({first, std::move(batch), bytes});
  batch_bytes_ += bytes;
}

void Window::drop_first_batch() {
  batch_bytes_ -= batches_.front().bytes;
  batches_.pop_front();
}

std::optional<Source> Window::find(Arrival arrival) const {
  const auto behind = std::partition_point(
      batches_.begin(), batches_.end(), [&](const Batch& batch) { return batch.first <= arrival; });
  if (behind == batches_.begin()) return std::nullopt;
  const Batch& batch = *std::prev(behind);
  if (arrival - batch.first >= batch.history->txn_count()) return std::nullopt;
  return Source{batch.history, TxnId{arrival - batch.first}};
}

void Window::add_chunk() {
  if (chunk(next_) != nullptr) {  // The ring is full.
    std::vector<std::unique_ptr<Chunk>> larger(ring_.size() * 2);
    const Arrival first = next_ / kChunk - ring_.size();
    for (Arrival c = first; c < next_ / kChunk; ++c) {
      larger[c & (larger.size() - 1)] = std::move(ring_[c & (ring_.size() - 1)]);
    }
    ring_ = std::move(larger);
  }
  chunk(next_) = spare_ != nullptr ? std::move(spare_) : std::make_unique<Chunk>();
  ++chunks_;
}

void Window::drop_chunk() {
  spare_ = std::move(chunk(first_ - 1));
  --chunks_;
}

void Window::restart(Arrival first, Arrival next) {
  ring_.clear();
  ring_.resize(4);
  chunks_ = 0;
  first_ = next_ = first;
  while (next_ < next) open({});
  batches_.clear();
  batch_bytes_ = 0;
}

std::size_t bytes_of(const History& batch) {
  std::size_t bytes = 0;
  for_each_column([&](const auto& column) { bytes += column.size_bytes(); }, columns_of(batch));
  return bytes;
}

}  // namespace ouro::stream
