// Work done by a copy of this process, so that this one can go on.
//
// The copy has all memory as it was when it began: the system copies a page only when one of the
// two writes to it. Of the threads only the one that began it is there, so the work must wait for
// no other; it may allocate memory and write files. Files that were open are closed in the copy,
// signals are left to this process, and when the thread that began it ends, so does the copy.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "ouro/result.h"

namespace ouro::stream {

class Twin {
 public:
  Twin() = default;
  ~Twin() { stop(); }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  // False: the system allows no copy. REQUIRES: !at_work().
  [[nodiscard]] bool begin(const std::function<Status()>& work);
  [[nodiscard]] bool at_work() const { return pid_ > 0; }
  // How the work ended; nothing while it is under way. REQUIRES: at_work().
  [[nodiscard]] std::optional<Status> ended();
  // Kills the copy, whatever it is doing.
  void stop();

 private:
  void forget();

  pid_t pid_ = 0;
  int answer_ = -1;  // The pipe through which it tells how it ended.
  std::string told_;
};

}  // namespace ouro::stream
