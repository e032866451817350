// The files that the process is writing at the moment, so that they can be removed when a signal
// ends it in the middle.
#pragma once

#include <cstddef>
#include <string>

namespace ouro {

// A file that is written under a name of its own and gets its final name when it is complete.
// Without finish(), it is removed together with the object.
class HalfWritten {
 public:
  // Nothing is opened: the caller does that, after this.
  explicit HalfWritten(std::string path);
  ~HalfWritten();
  HalfWritten(const HalfWritten&) = delete;
  HalfWritten& operator=(const HalfWritten&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Leaves alone whatever has that name: the file could not be opened.
  void abandon();
  // Gives the file its final name, replacing what has that name. False: that failed, and errno says
  // why.
  [[nodiscard]] bool finish(const std::string& final_name);

  // Removes all such files. Safe in a signal handler, and meant for one that ends the process.
  static void remove_all() noexcept;

 private:
  static constexpr std::size_t kNoSlot = ~std::size_t{0};
  void forget();

  std::string path_;
  std::size_t slot_ = kNoSlot;
  bool finished_ = false;
};

}  // namespace ouro
