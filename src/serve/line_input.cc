#include "serve/line_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace ouro::serving {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr auto kPause = std::chrono::milliseconds(50);  // Between looks at a file that may grow.
constexpr std::uint64_t kMaxComplaints = 10;

bool stopped(const LineOptions& options) { return options.stop != nullptr && *options.stop; }

// Reads once. Returns how many bytes; zero at the end of the file, which may grow; -1 is an error.
ssize_t read_some(int file, std::vector<char>& buffer) {
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count >= 0 || errno != EINTR) return count;
  }
}

}  // namespace

void LineFeed::complain(std::string_view what) {
  monitor_.count_rejected();
  if (++complaints_ > kMaxComplaints || !options_.note) return;
  options_.note(
      fmt::format("{}: {}{}", options_.name, what,
                  complaints_ == kMaxComplaints ? "; more such lines are not noted" : ""));
}

bool LineFeed::add(std::string_view bytes, const FilePosition& position) {
  const std::size_t end = bytes.rfind('\n');
  if (end == bytes.npos) {
    rest_ += bytes;
    if (rest_.size() > options_.line_limit && !skipping_) {
      complain(fmt::format("a line of more than {} bytes is left out", options_.line_limit));
      skipping_ = true;
    }
    if (skipping_) rest_.clear();
    return true;
  }
  std::string_view lines = bytes.substr(0, end + 1);
  std::string joined;
  if (skipping_) lines.remove_prefix(lines.find('\n') + 1);
  if (!rest_.empty()) {
    joined = std::exchange(rest_, {}) + std::string(lines);
    lines = joined;
  }
  skipping_ = false;
  rest_ = bytes.substr(end + 1);
  FilePosition behind = position;
  behind.offset -= std::min<std::uint64_t>(behind.offset, rest_.size());
  return lines.empty() || submit(lines, behind);
}

bool LineFeed::end() {
  if (rest_.empty() || skipping_) return true;
  return submit(std::exchange(rest_, {}) + '\n', {});
}

bool LineFeed::submit(std::string_view lines, const FilePosition& position) {
  auto parsed = parse_batch(lines, Format::Native, options_.name, options_.rules);
  if (!parsed.ok()) return submit_each(lines, position);
  return submit_parsed(*std::move(parsed), lines, position, false);
}

// Submits each line as a batch of its own, and leaves out the bad ones.
bool LineFeed::submit_each(std::string_view lines, const FilePosition& position) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n') + 1;
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end);
    auto parsed = parse_batch(line, Format::Native, "", options_.rules);
    if (!parsed.ok()) {
      complain(fmt::format("left out a line: {}", parsed.error().what));
      continue;
    }
    FilePosition behind = position;
    behind.offset -= std::min<std::uint64_t>(behind.offset, lines.size());
    if (!submit_parsed(*std::move(parsed), line, behind, true)) return false;
  }
  return true;
}

bool LineFeed::submit_parsed(ParsedBatch parsed, std::string_view lines,
                             const FilePosition& position, bool alone) {
  auto reservation = queue_.reserve(lines.size());
  if (!reservation) return false;
  Batch batch;
  batch.history = std::move(parsed.history);
  batch.binary = std::move(parsed.binary);
  batch.position = position;
  batch.arrived = std::chrono::steady_clock::now();
  batch.reservation = *std::move(reservation);
  // The check may refuse a batch that could be read. We wait for the answer, so that its lines can
  // then be tried one by one before later lines of the file.
  struct Answer {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<Receipt> receipt;
  };
  const auto answer = std::make_shared<Answer>();
  batch.done = [answer](const Receipt& receipt) {
    const std::lock_guard lock(answer->mutex);
    answer->receipt = receipt;
    answer->came.notify_all();
  };
  if (!queue_.submit(std::move(batch))) return false;
  std::unique_lock lock(answer->mutex);
  answer->came.wait(lock, [&] { return answer->receipt.has_value(); });
  if (!answer->receipt->error) return true;
  if (!alone) return submit_each(lines, position);
  complain(fmt::format("left out a line: {}", answer->receipt->error->to_string()));
  return true;
}

void read_input(int file, const LineOptions& options, BatchQueue& queue, Monitor& monitor) {
  LineFeed feed(options, queue, monitor);
  std::vector<char> buffer(kReadBytes);
  std::string other;  // Content that does not consist of lines.
  bool first = true;
  bool lines = true;
  while (!stopped(options)) {
    pollfd wanted{.fd = file, .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, 100) == 0) continue;
    const ssize_t count = read_some(file, buffer);
    if (count <= 0) break;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    if (std::exchange(first, false)) lines = format_of(bytes, "") == Format::Native;
    if (!lines) {
      other += bytes;
    } else if (!feed.add(bytes)) {
      return;
    }
  }
  if (lines) {
    static_cast<void>(feed.end());
    return;
  }
  auto parsed = parse_batch(other, format_of(other, ""), options.name, options.rules);
  if (!parsed.ok()) {
    monitor.count_rejected();
    if (options.note) options.note(parsed.error().to_string());
    return;
  }
  auto reservation = queue.reserve(other.size());
  if (!reservation) return;
  Batch batch;
  batch.history = std::move(parsed->history);
  batch.binary = std::move(parsed->binary);
  batch.arrived = std::chrono::steady_clock::now();
  batch.reservation = *std::move(reservation);
  batch.done = [note = options.note](const Receipt& receipt) {
    if (receipt.error && note) note(receipt.error->to_string());
  };
  static_cast<void>(queue.submit(std::move(batch)));
}

namespace {

// Follows the file that has a given name; it may be replaced by another.
class Follower {
 public:
  Follower(std::string path, const LineOptions& options, BatchQueue& queue, Monitor& monitor)
      : path_(std::move(path)), options_(options), feed_(options, queue, monitor) {}
  ~Follower() { close(); }

  void follow(const std::optional<FilePosition>& begin) {
    std::vector<char> buffer(kReadBytes);
    bool first = true;
    while (!stopped(options_)) {
      if (file_ < 0 && open()) {
        const bool same = std::exchange(first, false) && begin && begin->inode == at_.inode &&
                          begin->device == at_.device && begin->offset <= size();
        at_.offset = same ? begin->offset : 0;
        ::lseek(file_, static_cast<off_t>(at_.offset), SEEK_SET);
      }
      if (file_ < 0 && !std::exchange(told_, true)) note("is not there yet");
      const ssize_t count = file_ < 0 ? 0 : read_some(file_, buffer);
      if (count > 0) {
        at_.offset += static_cast<std::uint64_t>(count);
        if (!feed_.add({buffer.data(), static_cast<std::size_t>(count)}, at_)) return;
        continue;
      }
      if (file_ >= 0) look_around();
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  bool open() {
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (file_ < 0 || ::fstat(file_, &facts) != 0) return false;
    at_ = {.path = path_, .device = facts.st_dev, .inode = facts.st_ino, .offset = 0};
    return true;
  }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  [[nodiscard]] std::uint64_t size() const {
    struct stat facts {};
    return ::fstat(file_, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
  }

  // At the end of the file: looks whether it got shorter, or another file took its name.
  void look_around() {
    if (size() < at_.offset) {
      note("was cut; reading it from its beginning");
      feed_.restart();
      at_.offset = 0;
      ::lseek(file_, 0, SEEK_SET);
      return;
    }
    struct stat facts {};
    if (::stat(path_.c_str(), &facts) != 0) return;
    if (facts.st_ino == at_.inode && facts.st_dev == at_.device) return;
    // More may have been written to the old file since we read to its end; read that first.
    if (size() > at_.offset) return;
    static_cast<void>(feed_.end());
    close();
  }
  void note(std::string_view what) const {
    if (options_.note) options_.note(fmt::format("{}: {}", path_, what));
  }

  std::string path_;
  const LineOptions& options_;
  LineFeed feed_;
  int file_ = -1;
  bool told_ = false;  // Whether it was noted that the file does not exist.
  FilePosition at_;    // The place after what was read.
};

}  // namespace

void follow_file(const std::string& path, const std::optional<FilePosition>& begin,
                 const LineOptions& options, BatchQueue& queue, Monitor& monitor) {
  Follower(path, options, queue, monitor).follow(begin);
}

}  // namespace ouro::serving
