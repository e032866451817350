#include "run/history_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace ouro::running {
namespace {

constexpr std::size_t kRingBytes = 2 * 1024 * 1024;  // Small enough for the processor's cache.
constexpr auto kWriterPause = std::chrono::milliseconds(20);

Error error_at(const std::string& path, const char* what, int number) {
  Error error;
  error.file = path;
  error.what = std::string(what) + ": " + std::strerror(number);
  return error;
}

// Returns zero or an errno. Safe in a forked child.
int write_at(int file, const char* data, std::size_t size, std::uint64_t offset) {
  while (size > 0) {
    const ssize_t count = ::pwrite(file, data, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    data += count;
    size -= static_cast<std::size_t>(count);
    offset += static_cast<std::uint64_t>(count);
  }
  return 0;
}

// Closes all descriptors but the standard ones and these two. Safe in a forked child.
void close_all_but(int one, int other) {
  unsigned from = 3;
  for (const int kept : {std::min(one, other), std::max(one, other)}) {
    const auto number = static_cast<unsigned>(kept);
    if (number > from) ::syscall(SYS_close_range, from, number - 1, 0);
    from = std::max(from, number + 1);
  }
  ::syscall(SYS_close_range, from, ~0U, 0);
}

}  // namespace

// The memory shared with the undertaker. Positions count all bytes since the start: they are
// offsets in the file; modulo kRingBytes they are offsets in the ring.
//
// Invariant: written <= added <= written + kRingBytes. The ring holds the bytes from `written` to
// `added`.
struct HistoryFile::Memory {
  // The announcement of one client.
  struct Slot {
    std::atomic<std::uint64_t> bytes;     // Of `text`; zero: nothing is announced.
    std::atomic<std::uint64_t> replaced;  // Void once `added` is at least this; zero: not void.
    char text[kSlotBytes];
  };
  std::atomic<std::uint64_t> added;    // What clients added.
  std::atomic<std::uint64_t> written;  // What was written to the file.
  std::uint64_t clients;
  char ring[kRingBytes];
  // Slots follow, one for each client.
  [[nodiscard]] Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }

  // Writes the bytes of the ring between two positions to the file. Returns zero or an errno.
  int write(int file, std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      const std::uint64_t at = from % kRingBytes;
      const std::uint64_t size = std::min(to - from, kRingBytes - at);
      if (const int problem = write_at(file, ring + at, size, from); problem != 0) return problem;
      from += size;
    }
    return 0;
  }

  // What the undertaker does when the process is dead. Only makes calls that are safe in a forked
  // child.
  void bury(int file) {
    std::uint64_t end = added.load();
    if (write(file, written.load(), end) != 0) return;
    for (std::uint64_t i = 0; i < clients; ++i) {
      const Slot& slot = slots()[i];
      const std::uint64_t bytes = slot.bytes.load();
      const std::uint64_t replaced = slot.replaced.load();
      if (bytes == 0 || (replaced != 0 && replaced <= added.load())) continue;
      if (write_at(file, slot.text, bytes, end) != 0) return;
      end += bytes;
    }
    static_cast<void>(::ftruncate(file, static_cast<off_t>(end)));
  }
};

Result<std::unique_ptr<HistoryFile>> HistoryFile::create(const std::string& path,
                                                         std::size_t clients) {
  std::unique_ptr<HistoryFile> made(new HistoryFile);
  made->path_ = path;
  made->file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (made->file_ < 0) return error_at(path, "cannot write this file", errno);
  if (auto mapped = made->map(clients); !mapped) return mapped.error();
  if (auto started = made->start_undertaker(); !started) return started.error();
  made->writer_ = std::thread([raw = made.get()] { raw->flush_now_and_then(); });
  return made;
}

Status HistoryFile::map(std::size_t clients) {
  clients_ = clients;
  memory_bytes_ = sizeof(Memory) + clients * sizeof(Memory::Slot);
  void* memory = ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return error_at(path_, "cannot map memory for the history", errno);
  memory_ = static_cast<Memory*>(memory);  // New pages are zero, the initial value of all members.
  memory_->clients = clients;
  return {};
}

Status HistoryFile::start_undertaker() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error_at(path_, "cannot make a pipe", errno);
  undertaker_ = ::fork();
  if (undertaker_ < 0) return error_at(path_, "cannot start a process", errno);
  if (undertaker_ == 0) {
    ::setsid();  // So that Ctrl-C on the terminal does not reach it.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
    // Others wait for the end of what the parent has open (pipes, sockets), so it must not stay
    // open here.
    close_all_but(ends[0], file_);
    char dismissed = 0;
    ssize_t count = 0;
    do {
      count = ::read(ends[0], &dismissed, 1);
    } while (count < 0 && errno == EINTR);
    if (count == 0) memory_->bury(file_);
    ::syscall(SYS_exit_group, 0);  // Without the exit handlers and destructors of the parent.
  }
  ::close(ends[0]);
  pipe_ = ends[1];
  return {};
}

void HistoryFile::dismiss_undertaker() {
  if (pipe_ >= 0) {
    static_cast<void>(!::write(pipe_, "x", 1));
    ::close(pipe_);
  }
  if (undertaker_ > 0) ::waitpid(undertaker_, nullptr, 0);
  pipe_ = -1;
  undertaker_ = -1;
}

HistoryFile::~HistoryFile() {
  static_cast<void>(close());
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
}

void HistoryFile::announce(std::size_t client, std::string_view lines) {
  Memory::Slot& slot = memory_->slots()[client];
  slot.bytes = 0;
  slot.replaced = 0;
  const std::size_t size = std::min(lines.size(), kSlotBytes);
  std::memcpy(slot.text, lines.data(), size);
  slot.bytes = size;
}

std::uint64_t HistoryFile::add(std::size_t client, std::string_view lines, std::uint64_t count) {
  Memory::Slot& slot = memory_->slots()[client];
  std::unique_lock lock(mutex_);
  const std::uint64_t first = lines_;
  lines_ += count;
  const std::uint64_t end = memory_->added + lines.size();
  // Lines that do not fit into the ring go in pieces. A crash between two pieces leaves an
  // incomplete line in the file.
  while (!lines.empty()) {
    const std::uint64_t added = memory_->added;
    const std::uint64_t room = kRingBytes - (added - memory_->written);
    if (room < std::min<std::uint64_t>(lines.size(), kRingBytes / 2)) {
      flush(lock);
      continue;
    }
    const std::uint64_t at = added % kRingBytes;
    const std::uint64_t size = std::min<std::uint64_t>(lines.size(), room);
    const std::uint64_t straight = std::min(size, kRingBytes - at);
    std::memcpy(memory_->ring + at, lines.data(), straight);
    std::memcpy(memory_->ring, lines.data() + straight, size - straight);
    slot.replaced = end;
    memory_->added = added + size;
    lines.remove_prefix(size);
  }
  slot.bytes = 0;
  if (memory_->added - memory_->written > kRingBytes / 2) wake_.notify_one();
  return first;
}

// Unlocks while it writes, so that clients can add meanwhile.
void HistoryFile::flush(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t to = memory_->added;
  lock.unlock();
  {
    const std::lock_guard one_at_a_time(writing_);
    const std::uint64_t from = memory_->written;
    if (from < to) {
      const int problem = memory_->write(file_, from, to);
      // Also if the write failed: if the ring stayed full, clients would wait for ever.
      memory_->written = to;
      if (problem != 0) {
        const std::lock_guard note(mutex_);
        if (problem_ == 0) problem_ = problem;
        failed_ = true;
      }
    }
  }
  lock.lock();
}

void HistoryFile::flush_now_and_then() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    wake_.wait_for(lock, kWriterPause);
    flush(lock);
  }
}

Status HistoryFile::close() {
  if (writer_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    writer_.join();
  }
  if (memory_ != nullptr && file_ >= 0) {
    std::unique_lock lock(mutex_);
    flush(lock);
  }
  dismiss_undertaker();
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && problem_ == 0) problem_ = errno;
  if (problem_ != 0) return error_at(path_, "cannot write this file", problem_);
  return {};
}

}  // namespace ouro::running
