// The history file while a run goes on: lines are added by all clients, and survive us.
//
// Lines go into a ring in memory that this process shares with a child made at the start, the
// undertaker; a thread writes them to the file a few times a second. If this process dies, however
// suddenly, the undertaker writes what the file lacks. It also adds the transactions whose commits
// were under way, as unknown: their clients announced them. Without that, somebody else's read of
// such a value would look as if nobody had written it.
//
// So after a crash, too, the file is a whole history. Only a crash of the machine, or a signal that
// kills both processes, can cut it short.
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
  // Makes the file `path`, or overwrites it. Announcements of up to kSlotBytes fit.
  static Result<std::unique_ptr<HistoryFile>> create(const std::string& path, std::size_t clients);
  // Closes.
  ~HistoryFile();
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  // What to add for `client` if we die before its next add(). REQUIRES: one or more whole lines.
  void announce(std::size_t client, std::string_view lines);
  // Adds lines, and takes the announcement of `client` back. Returns the number of the first line,
  // from zero. REQUIRES: `count` whole lines.
  std::uint64_t add(std::size_t client, std::string_view lines, std::uint64_t count = 1);

  // Whether something could not be written; close() tells what. Nothing more is worth adding.
  [[nodiscard]] bool failed() const { return failed_; }

  // Waits until everything is in the file. The error is why some of it is not.
  Status close();

  static constexpr std::size_t kSlotBytes = 16 * 1024;

 private:
  struct Memory;

  HistoryFile() = default;
  Status map(std::size_t clients);
  Status start_undertaker();
  void flush_now_and_then();
  void flush(std::unique_lock<std::mutex>& lock);
  void dismiss_undertaker();

  std::string path_;
  int file_ = -1;
  int pipe_ = -1;
  int undertaker_ = -1;
  Memory* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  std::size_t clients_ = 0;

  std::mutex mutex_;  // Guards all members below, and adding.
  std::mutex writing_;
  std::condition_variable wake_;
  std::uint64_t lines_ = 0;
  bool closing_ = false;
  int problem_ = 0;  // The first errno of a write.
  std::atomic<bool> failed_{false};
  std::thread writer_;
};

}  // namespace ouro::running
