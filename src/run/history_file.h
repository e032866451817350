// The history file of a run: all clients add lines, which survive a crash of this process.
//
// Lines go into a ring buffer in memory; a thread writes them to the file about 50 times a second.
// The memory is shared with a child process, the undertaker, which is made at the start. If this
// process dies, however suddenly, the undertaker writes the lines that the file lacks. Clients also
// announce each transaction before they commit it; the undertaker adds those whose commits were
// under way as unknown. Without that, a value that such a transaction wrote and another read would
// look as if nobody had written it.
//
// So the file is a complete history after a crash, too. Only a crash of the machine, or killing
// both processes, can cut it short.
//
// Thread safety: announce() and add() may be called from any thread, but for one `client` from one
// at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "ouro/result.h"

namespace ouro::running {

class HistoryFile {
 public:
  // Makes the file `path`, or overwrites it. `clients` is the number of those that announce and
  // add; they are numbered from 0.
  static Result<std::unique_ptr<HistoryFile>> create(const std::string& path, std::size_t clients);
  // Calls close().
  ~HistoryFile();
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  // The lines to add for `client` if this process dies before its next add(). REQUIRES: one or more
  // whole lines, of at most kSlotBytes together.
  void announce(std::size_t client, std::string_view lines);
  // Adds lines, and withdraws the announcement of `client`. Returns the number of the first of them
  // in the file, from zero. REQUIRES: `lines` are `count` whole lines.
  std::uint64_t add(std::size_t client, std::string_view lines, std::uint64_t count = 1);

  // Whether a write to the file failed; close() returns the error. Adding more is useless then.
  [[nodiscard]] bool failed() const { return failed_; }

  // Waits until all lines are in the file. The error says why some are not.
  Status close();

  static constexpr std::size_t kSlotBytes = 16 * 1024;

 private:
  struct Memory;

  HistoryFile() = default;
  Status map(std::size_t clients);
  Status start_undertaker();
  void flush_now_and_then();  // What the thread does.
  // Writes to the file what is in the ring. `lock` is that of mutex_.
  void flush(std::unique_lock<std::mutex>& lock);
  // Tells the undertaker that there is nothing to do, and waits for its end.
  void dismiss_undertaker();

  std::string path_;
  int file_ = -1;
  int pipe_ = -1;        // To the undertaker; it sees the end of the pipe when this process dies.
  int undertaker_ = -1;  // Its process id.
  Memory* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  std::size_t clients_ = 0;

  std::mutex mutex_;    // Guards all members below, and Memory::added and the ring.
  std::mutex writing_;  // Guards writing to the file, and Memory::written.
  std::condition_variable wake_;
  std::uint64_t lines_ = 0;  // How many lines were added.
  bool closing_ = false;
  int problem_ = 0;  // The first errno of a write.
  std::atomic<bool> failed_{false};
  std::thread writer_;
};

}  // namespace ouro::running
