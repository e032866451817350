#include "stream/cold_merge.h"

#include <new>
#include <system_error>
#include <tuple>
#include <utility>

namespace ouro::stream {

RunMerge::RunMerge(std::vector<const Run*> runs, std::unique_ptr<RunWriter> writer)
    : writer_(std::move(writer)), result_(Error{}) {
  std::uint64_t pages = 0;
  for (const Run* const run : runs) {
    inputs_.emplace_back(*run);
    pages += run->info().pages;
  }
  bytes_ = (runs.size() + 2) * kRunBuffer + pages * sizeof(std::uint32_t);
  writer_->expect_pages(pages);
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    work();  // The system allows no more threads: merge here and now.
  }
}

RunMerge::~RunMerge() {
  gives_up_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<RunInfo> RunMerge::finish() {
  if (thread_.joinable()) thread_.join();
  return std::move(result_);
}

void RunMerge::work() {
  try {
    result_ = run();
  } catch (const std::bad_alloc&) {
    Error error;
    error.what = "out of memory while runs of keys are merged";
    result_ = std::move(error);
  }
  failed_ = !result_.ok();
}

Result<RunInfo> RunMerge::run() {
  for (std::size_t i = inputs_.size(); i-- > 0;) {
    if (inputs_[i].next()) continue;
    if (inputs_[i].error()) return *inputs_[i].error();
    inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  while (!inputs_.empty()) {
    if (gives_up_.load(std::memory_order_relaxed)) return Error{};
    if (Status status = add_next(); !status.ok()) return status.error();
  }
  auto info = writer_->finish();
  writer_ = nullptr;  // Its index is large, and the run will have one of its own.
  return info;
}

// Writes the least key of all inputs, and moves on all inputs that are at that key. If several are,
// the newest of them counts.
Status RunMerge::add_next() {
  std::size_t least = 0;
  bool copies = false;
  for (std::size_t i = 1; i < inputs_.size(); ++i) {
    const auto place = [&](std::size_t at) {
      return std::tuple(inputs_[at].hash(), inputs_[at].key().name);
    };
    if (inputs_[i].hash() > inputs_[least].hash() || place(i) > place(least)) continue;
    copies = place(i) == place(least);
    least = i;
  }
  if (Status status = writer_->add(inputs_[least].key(), inputs_[least].hash()); !status.ok()) {
    return status;
  }
  const Name name = inputs_[least].key().name;
  for (std::size_t i = least + 1; i-- > (copies ? 0 : least);) {
    if (inputs_[i].key().name != name || inputs_[i].next()) continue;
    if (inputs_[i].error()) return *inputs_[i].error();
    inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

}  // namespace ouro::stream
