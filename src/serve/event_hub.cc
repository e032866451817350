#include "serve/event_hub.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/system_error.h"

namespace ouro::serving {
namespace {

// Kept in memory; with a file the others are read from there.
constexpr std::size_t kKeptEvents = 10'000;
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;
constexpr std::size_t kRecent = 50;
// Stories take about a millisecond each. Behind this many events, only the facts are told, …
constexpr std::size_t kManyPending = 1'000;
// … and behind so many the check has to wait.
constexpr std::size_t kMaxPending = 20'000;

Status write_all(int file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, "cannot write events");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// Where the lines of `file` end.
Result<std::vector<std::uint64_t>> find_lines(int file, const std::string& path) {
  std::vector<std::uint64_t> ends;
  std::array<char, 65536> buffer{};
  std::uint64_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count < 0) return system_error(path, "cannot read events");
    if (count == 0) return ends;
    for (ssize_t i = 0; i < count; ++i) {
      if (buffer[static_cast<std::size_t>(i)] == '\n') {
        ends.push_back(offset + static_cast<std::uint64_t>(i) + 1);
      }
    }
    offset += static_cast<std::uint64_t>(count);
  }
}

}  // namespace

EventHub::~EventHub() {
  stop();
  if (teller_.joinable()) teller_.join();
  if (file_ >= 0) ::close(file_);
}

Status EventHub::open() {
  if (!options_.file.empty()) {
    file_ = ::open(options_.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) return system_error(options_.file, "cannot write events");
    auto ends = find_lines(file_, options_.file);
    if (!ends.ok()) return ends.error();
    line_ends_ = *std::move(ends);
    // A line that was cut off is told again.
    const std::uint64_t size = line_ends_.empty() ? 0 : line_ends_.back();
    if (::ftruncate(file_, static_cast<off_t>(size)) != 0 ||
        ::lseek(file_, static_cast<off_t>(size), SEEK_SET) < 0) {
      return system_error(options_.file, "cannot write events");
    }
    last_ = published_ = line_ends_.size();
    const std::uint64_t first = last_ > kRecent ? last_ - kRecent + 1 : 1;
    for (std::uint64_t number = first; number <= last_; ++number) {
      EventText event;
      if (!parse_event(read_line(number), event) || event.number != number) {
        Error error;
        error.file = options_.file;
        error.line = number;
        error.what = "not the event of this number; move the folder away to begin anew";
        return error;
      }
      kept_bytes_ += event.line.size();
      kept_.push_back(std::move(event));
    }
  }
  for (std::uint64_t number = options_.event_after; options_.event && number < last_; ++number) {
    options_.event(read_line(number + 1));
  }
  teller_ = std::thread([this] { tell_all(); });
  return {};
}

void EventHub::publish(std::vector<StreamEvent> events) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || pending_.size() < kMaxPending; });
  for (StreamEvent& event : events) {
    if (event.number <= published_) continue;
    published_ = event.number;
    pending_.push_back(std::move(event));
  }
  changed_.notify_all();
}

Status EventHub::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return problem_ || (pending_.empty() && !telling_); });
  if (problem_) return *problem_;
  if (file_ >= 0 && ::fdatasync(file_) != 0) {
    return system_error(options_.file, "cannot sync events");
  }
  return {};
}

void EventHub::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void EventHub::tell_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopped_ || !pending_.empty(); });
    if (pending_.empty()) return;
    const Telling telling = pending_.size() > kManyPending ? Telling::Brief : Telling::Full;
    const StreamEvent event = std::move(pending_.front());
    pending_.pop_front();
    telling_ = true;
    lock.unlock();
    EventText told = tell(event, telling);
    Status written;
    if (file_ >= 0) written = write_all(file_, options_.file, told.line);
    if (options_.event) options_.event(told.line);
    lock.lock();
    telling_ = false;
    if (!written && !problem_) problem_ = written.error();
    add(std::move(told));
    changed_.notify_all();
  }
}

void EventHub::add(EventText event) {
  last_ = event.number;
  if (file_ >= 0) {
    line_ends_.push_back((line_ends_.empty() ? 0 : line_ends_.back()) + event.line.size());
  }
  if (event.withdrawn) {
    ++withdrawals_;
  } else {
    ++violations_[event.anomaly];
  }
  kept_bytes_ += event.line.size();
  kept_.push_back(std::move(event));
  while (kept_.size() > kKeptEvents || (kept_.size() > kRecent && kept_bytes_ > kKeptBytes)) {
    kept_bytes_ -= kept_.front().line.size();
    kept_.pop_front();
  }
}

std::string EventHub::read_line(std::uint64_t number) const {
  const std::uint64_t begin = number == 1 ? 0 : line_ends_[number - 2];
  std::string line(line_ends_[number - 1] - begin, '\0');
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count =
        ::pread(file_, line.data() + done, line.size() - done, static_cast<off_t>(begin + done));
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return line;
}

std::uint64_t EventHub::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::vector<EventHub::Line> EventHub::after(std::uint64_t after, std::size_t count,
                                            std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return stopped_ || last_ > after; });
  std::vector<Line> lines;
  if (last_ <= after || kept_.empty()) return lines;
  const std::uint64_t first_kept = kept_.front().number;
  std::uint64_t number = after + 1;
  if (file_ < 0) number = std::max(number, first_kept);
  for (; number <= last_ && lines.size() < count; ++number) {
    lines.push_back(
        {number, number >= first_kept ? kept_[number - first_kept].line : read_line(number)});
  }
  return lines;
}

EventHub::Overview EventHub::overview() const {
  const std::lock_guard lock(mutex_);
  Overview overview{.recent = {},
                    .violations = violations_,
                    .withdrawals = withdrawals_,
                    .backlog = pending_.size()};
  for (auto at = kept_.rbegin(); at != kept_.rend() && overview.recent.size() < kRecent; ++at) {
    overview.recent.push_back({.number = at->number,
                               .withdrawn = at->withdrawn,
                               .withdraws = at->withdraws,
                               .anomaly = at->anomaly,
                               .headline = at->headline,
                               .reported = at->reported,
                               .line = {}});
  }
  return overview;
}

}  // namespace ouro::serving
