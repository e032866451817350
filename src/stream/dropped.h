// Numbers of files (epochs, slabs or runs) that the stream no longer needs, but that the last
// checkpoint may mention: they must not be deleted before the next checkpoint has replaced it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::stream {

class Dropped {
 public:
  void add(std::uint32_t number) { numbers_.push_back(number); }
  // Tells that there is a checkpoint: from now on files stay until the next one has replaced it.
  void keep() { keeps_ = true; }
  // Call it when a checkpoint begins to be written: it mentions none of the files added before.
  void begin_checkpoint() {
    keeps_ = true;
    unmentioned_ = numbers_.size();
  }
  // Call it when that checkpoint has replaced the last one: deletes the files it does not mention.
  template <class Delete>
  void end_checkpoint(const Delete& delete_file) {
    for (std::size_t i = 0; i < unmentioned_; ++i) delete_file(numbers_[i]);
    numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(unmentioned_));
    unmentioned_ = 0;
  }
  // Deletes all files, unless there may be a checkpoint.
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
