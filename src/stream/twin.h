// Does work in a copy of this process, made by fork(), so that this process can go on.
//
// The copy has all memory as it was when it was made: the system copies a page only when one of the
// two writes to it. It has only the thread that made it, so the work must not wait for another
// thread; it may allocate memory and write files. The copy closes all files that were open, except
// for standard input, output and error, and ignores signals that end a process. It is killed when
// the thread that made it ends.
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

  // Begins `work` in a copy. False: the system allows no copy. REQUIRES: !at_work().
  [[nodiscard]] bool begin(const std::function<Status()>& work);
  [[nodiscard]] bool at_work() const { return pid_ > 0; }
  // How the work ended; nothing while it is under way. Does not wait. REQUIRES: at_work().
  [[nodiscard]] std::optional<Status> ended();
  // Kills the copy, whatever it is doing.
  void stop();

 private:
  // Waits for the end of the copy, and frees what belongs to it.
  void forget();

  pid_t pid_ = 0;     // The copy; zero: there is none.
  int answer_ = -1;   // The pipe through which it tells how it ended.
  std::string told_;  // What it has told so far.
};

}  // namespace ouro::stream
