// Files that are of no use any more, but that the last checkpoint may mention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::stream {

class Dropped {
 public:
  void add(std::uint32_t number) { numbers_.push_back(number); }
  // Call it if there is a checkpoint: from then on files stay until the next one replaced it.
  void keep() { keeps_ = true; }
  // A checkpoint is being written, which mentions none of those that are here now.
  void begin_checkpoint() {
    keeps_ = true;
    unmentioned_ = numbers_.size();
  }
  // It is whole, and replaced the last one.
  template <class Delete>
  void end_checkpoint(const Delete& delete_file) {
    for (std::size_t i = 0; i < unmentioned_; ++i) delete_file(numbers_[i]);
    numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(unmentioned_));
    unmentioned_ = 0;
  }
  // Deletes all, unless there may be a checkpoint.
  template <class Delete>
  void tidy(const Delete& delete_file) {
    if (keeps_) return;
    for (const std::uint32_t number : numbers_) delete_file(number);
    numbers_.clear();
  }

 private:
  std::vector<std::uint32_t> numbers_;
  // How many of the first files the checkpoint being written does not mention.
  std::size_t unmentioned_ = 0;
  bool keeps_ = false;
};

}  // namespace ouro::stream
