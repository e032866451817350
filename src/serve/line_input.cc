#include "serve/line_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "serve/small_file.h"

namespace ouro::serving {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr auto kPause = std::chrono::milliseconds(50);  // Between looks at a file that may grow.
// A file was replaced, not renamed: others may have come between if we had not looked for so long.
constexpr auto kLongAgo = std::chrono::seconds(5);
constexpr int kAttempts = 10;  // To find a file while files get other names.
constexpr auto kFullDiskPause = std::chrono::milliseconds(200);
constexpr std::uint64_t kMaxComplaints = 10;

// How many bytes before a place in a file are remembered, to tell whether they are still there.
constexpr std::size_t kTailBytes = 256;

// The position with a checksum of the end of `text`, which is what comes before it in the file.
FilePosition with_tail(FilePosition position, std::string_view text) {
  if (position.path.empty() || text.empty()) return position;
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), kTailBytes));
  position.tail_bytes = static_cast<std::uint32_t>(tail.size());
  position.tail_sum = crc32_of(tail);
  return position;
}

bool stopped(const LineOptions& options) { return options.stop != nullptr && *options.stop; }

// Reads once. Returns how many bytes; zero at the end of the file, which may grow; -1 is an error.
ssize_t read_some(int file, std::vector<char>& buffer) {
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count >= 0 || errno != EINTR) return count;
  }
}

}  // namespace

bool LineFeed::complain(std::string_view what, const FilePosition& position) {
  monitor_.count_rejected();
  if (++complaints_ > kMaxComplaints) return true;  // That some are missing is known by now.
  const std::string_view last =
      complaints_ == kMaxComplaints ? "; more such lines are not noted" : "";
  if (options_.note) options_.note(fmt::format("{}: {}{}", options_.name, what, last));
  return miss(fmt::format("{}{}", what, last), position);
}

bool LineFeed::miss(const std::string& what, const FilePosition& position) {
  const auto doubt = [&] {
    Batch said;
    said.doubt = Doubt{.scope = Doubt::Scope::Reads,
                       .reason = reason_of(fmt::format("{}: {}", options_.name, what))};
    said.position = position;
    return said;
  };
  return ask(doubt, 0).has_value();
}

bool LineFeed::add(std::string_view bytes, const FilePosition& position) {
  const std::size_t end = bytes.rfind('\n');
  if (end == bytes.npos) {
    rest_ += bytes;
    if (rest_.size() > options_.line_limit && !skipping_) {
      skipping_ = true;
      rest_.clear();
      return complain(
          fmt::format("a line of more than {} bytes is left out", options_.line_limit), {});
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
  return lines.empty() || submit(lines, with_tail(behind, lines));
}

bool LineFeed::end() {
  if (rest_.empty() || skipping_) return true;
  return submit(std::exchange(rest_, {}) + '\n', {});
}

bool LineFeed::submit(std::string_view lines, const FilePosition& position) {
  auto parsed = parse_batch(lines, Format::Native, options_.name, options_.rules);
  if (!parsed.ok()) return submit_each(lines, position);
  return submit_parsed(*parsed, lines, position, false);
}

bool LineFeed::add_whole(std::string_view bytes, Format format) {
  const auto parsed = parse_batch(bytes, format, "input", options_.rules);
  if (!parsed.ok()) return complain("left out: " + parsed.error().to_string(), {});
  return submit_parsed(*parsed, bytes, {}, true);
}

// Submits each line as a batch of its own, and leaves out the bad ones.
bool LineFeed::submit_each(std::string_view lines, const FilePosition& position) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n') + 1;
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end);
    FilePosition behind = position;
    behind.offset -= std::min<std::uint64_t>(behind.offset, lines.size());
    behind = with_tail(behind, line);
    auto parsed = parse_batch(line, Format::Native, "", options_.rules);
    if (!parsed.ok()) {
      if (!complain("left out a line: " + parsed.error().what, behind)) return false;
      continue;
    }
    if (!submit_parsed(*parsed, line, behind, true)) return false;
  }
  return true;
}

bool LineFeed::submit_parsed(const ParsedBatch& parsed, std::string_view lines,
                             const FilePosition& position, bool alone) {
  const auto batch = [&] {
    Batch said;
    said.history = parsed.history;
    said.binary = parsed.binary;
    said.position = position;
    return said;
  };
  const auto receipt = ask(batch, lines.size());
  if (!receipt) return false;
  if (!receipt->error) return true;
  if (!alone) return submit_each(lines, position);
  return complain("left out: " + receipt->error->to_string(), position);
}

std::optional<Receipt> LineFeed::ask(const std::function<Batch()>& batch, std::size_t bytes) {
  for (;;) {
    auto reservation = queue_.reserve(bytes);
    if (!reservation) return std::nullopt;
    Batch wanted = batch();
    wanted.arrived = std::chrono::steady_clock::now();
    wanted.reservation = *std::move(reservation);
    // The check may refuse a batch that could be read. We wait for the answer, so that its lines
    // can then be tried one by one before later lines of the file.
    const auto answer = std::make_shared<std::promise<Receipt>>();
    auto came = answer->get_future();
    wanted.done = [answer](const Receipt& receipt) { answer->set_value(receipt); };
    if (!queue_.submit(std::move(wanted))) return std::nullopt;
    const Receipt receipt = came.get();
    if (!receipt.full) return receipt;
    // Nothing may be left out, so it is tried again until there is room.
    if (stopped(options_)) return std::nullopt;
    std::this_thread::sleep_for(kFullDiskPause);
  }
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
  static_cast<void>(feed.add_whole(other, format_of(other, "")));
}

namespace {

// Follows the file that has a given name; it may be replaced by another.
class Follower {
 public:
  Follower(std::string path, const LineOptions& options, BatchQueue& queue, Monitor& monitor)
      : path_(std::move(path)),
        options_(options),
        monitor_(monitor),
        feed_(options, queue, monitor),
        buffer_(kReadBytes) {}
  ~Follower() { close(); }

  void follow(const std::optional<FilePosition>& begin) {
    if (begin && !catch_up(*begin)) return;
    while (!stopped(options_)) {
      if (file_ < 0 && !open_current()) return;
      if (file_ < 0 && !std::exchange(told_, true)) note("is not there yet");
      if (file_ >= 0 && !has(at_)) {
        if (!read_copy(at_, "was cut, and no copy of what was in it is in its folder")) return;
        continue;
      }
      const ssize_t count = file_ < 0 ? 0 : read_some(file_, buffer_);
      if (count > 0) {
        if (!take(count)) return;
        continue;
      }
      if (file_ >= 0) look_around();
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  // A file that may have been followed under the name path_.
  struct Sibling {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    timespec written{};
    [[nodiscard]] bool is(const FilePosition& position) const {
      return inode == position.inode && device == position.device;
    }
  };
  // A file that was read to its end, and then lost the name.
  struct Past {
    FilePosition end;
    timespec written{};
    bool long_ago = false;  // We had not looked for long.
    bool missed = false;    // It was told that others may be gone.
  };

  // Goes on where an earlier process stopped: opens that file, or reads it to its end if it has
  // another name now. False: the service ends.
  bool catch_up(const FilePosition& begin) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (open(path_) && is_open(begin)) {
        if (!has(begin)) break;
        seek(begin);
        return true;
      }
      close();
      for (const Sibling& sibling : siblings()) {
        if (!sibling.is(begin) || sibling.size < begin.offset) continue;
        if (!open(sibling.path) || !is_open(begin)) break;  // It has yet another name by now.
        if (!has(begin)) continue;
        seek(begin);
        return read_rest();
      }
      close();
    }
    return read_copy(begin,
                     "is another file than before, and the rest of that one is not in its folder");
  }

  // What was read of the file is not in it any more: it was cut, and perhaps written anew. Some
  // rotate by making a copy first: reads the rest of that, and then the file from its beginning. If
  // there is none, what was written behind the last look is missing. False: the service ends.
  bool read_copy(FilePosition last, const std::string& without) {
    close();
    std::vector<Sibling> files = siblings();
    std::reverse(files.begin(), files.end());
    for (const Sibling& file : files) {
      if (last.tail_bytes == 0) break;
      const bool same = file.size >= last.offset && open(file.path) && has(last);
      if (!same) {
        close();
        continue;
      }
      note("was cut; reading the rest of its copy " + file.path + ", and then it from the start");
      seek(last);
      return read_rest();
    }
    feed_.restart();
    at_ = {};
    past_.reset();
    return miss(without);
  }

  // Opens the file that has the name now, after reading those that had it since the last one that
  // was read. Rotation may go on meanwhile. False: the service ends.
  bool open_current() {
    while (!stopped(options_) && open(path_) && past_) {
      const FilePosition current = at_;
      std::vector<Sibling> files = siblings();
      // It may have been renamed since it was opened, and others may have followed it.
      files.erase(std::find_if(files.begin(), files.end(),
                               [&](const Sibling& file) { return file.is(current); }),
                  files.end());
      const auto next = next_of(files);
      if (ended_) return false;
      if (next == files.end()) break;
      const int opened = std::exchange(file_, -1);
      const FilePosition wanted{path_, next->device, next->inode, 0};
      // If it has another name by now, we look again.
      const bool read = open(next->path) && is_open(wanted);
      if (!read) close();
      ::close(opened);
      if (read && !read_rest()) return false;
    }
    if (file_ >= 0) past_.reset();
    return true;
  }

  // The first of `files` that was written after the file past_. If that is gone, so may be others.
  [[nodiscard]] std::vector<Sibling>::const_iterator next_of(const std::vector<Sibling>& files) {
    const auto last = std::find_if(files.begin(), files.end(), [&](const Sibling& file) {
      return file.is(past_->end) && file.size >= past_->end.offset;
    });
    if (last != files.end()) return last + 1;
    const auto next = std::find_if(files.begin(), files.end(), [&](const Sibling& file) {
      return !before(file.written, past_->written);
    });
    if ((next != files.end() || past_->long_ago) && !std::exchange(past_->missed, true)) {
      ended_ = !miss("was replaced, and others that had the name may be gone");
    }
    return next;
  }

  // Reads an open file to its end, and closes it. False: the service ends.
  bool read_rest() {
    for (ssize_t count = 0; (count = read_some(file_, buffer_)) > 0;) {
      if (!take(count) || stopped(options_)) return false;
    }
    leave(false);
    return feed_.end();
  }

  // Closes a file that was read to its end.
  void leave(bool long_ago) {
    struct stat facts {};
    past_ = Past{at_, ::fstat(file_, &facts) == 0 ? facts.st_mtim : timespec{}, long_ago};
    close();
    at_ = {};
  }

  // The files in the folder whose names begin with that of path_, without the one that has it now;
  // those that were written last come last.
  [[nodiscard]] std::vector<Sibling> siblings() const {
    const std::filesystem::path path(path_);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const std::string name = path.filename().string();
    std::vector<Sibling> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string other = entry.path().filename().string();
      struct stat facts {};
      if (other == name || !other.starts_with(name)) continue;
      if (::stat(entry.path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
      found.push_back({entry.path().string(), facts.st_dev, facts.st_ino,
                       static_cast<std::uint64_t>(facts.st_size), facts.st_mtim});
    }
    std::sort(found.begin(), found.end(),
              [](const Sibling& a, const Sibling& b) { return before(a.written, b.written); });
    return found;
  }
  static bool before(const timespec& a, const timespec& b) {
    return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
  }

  // Submits the bytes of buffer_ that were read last. False: the queue is closed.
  bool take(ssize_t count) {
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(count));
    at_.offset += bytes.size();
    tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), kTailBytes));
    tail_.erase(0, tail_.size() - std::min(tail_.size(), kTailBytes));
    at_ = with_tail(at_, tail_);
    return feed_.add(bytes, at_);
  }
  bool open(const std::string& path) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (file_ < 0 || ::fstat(file_, &facts) != 0) return false;
    at_ = {.path = path_, .device = facts.st_dev, .inode = facts.st_ino, .offset = 0};
    tail_.clear();
    return true;
  }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  [[nodiscard]] bool is_open(const FilePosition& position) const {
    return at_.inode == position.inode && at_.device == position.device;
  }
  // Goes on at a place of the open file that has() the same.
  void seek(const FilePosition& place) {
    at_.offset = place.offset;
    at_.tail_bytes = place.tail_bytes;
    at_.tail_sum = place.tail_sum;
    ::lseek(file_, static_cast<off_t>(place.offset), SEEK_SET);
  }
  // Whether the open file has at this place what was read before it.
  [[nodiscard]] bool has(const FilePosition& place) const {
    if (size() < place.offset || place.offset < place.tail_bytes) return false;
    std::string tail(std::min<std::size_t>(place.tail_bytes, kTailBytes), '\0');
    const auto from = static_cast<off_t>(place.offset - tail.size());
    return tail.empty() || (::pread(file_, tail.data(), tail.size(), from) ==
                                static_cast<ssize_t>(tail.size()) &&
                            crc32_of(tail) == place.tail_sum);
  }
  [[nodiscard]] std::uint64_t size() const {
    struct stat facts {};
    return ::fstat(file_, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
  }

  // At the end of the file: looks whether another file took its name.
  void look_around() {
    struct stat facts {};
    if (::stat(path_.c_str(), &facts) != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (facts.st_ino == at_.inode && facts.st_dev == at_.device) {
      looked_ = now;
      return;
    }
    // More may have been written to the old file since we read to its end; read that first.
    if (size() > at_.offset) return;
    static_cast<void>(feed_.end());
    leave(now - looked_ > kLongAgo);
    looked_ = now;
  }
  // A part of what had this name cannot be read any more. False: the service ends.
  bool miss(const std::string& what) {
    monitor_.count_gap();
    note(what + ": transactions are missing, so reads can no longer be judged");
    return feed_.miss(what);
  }
  void note(std::string_view what) const {
    if (options_.note) options_.note(fmt::format("{}: {}", path_, what));
  }

  std::string path_;
  const LineOptions& options_;
  Monitor& monitor_;
  LineFeed feed_;
  std::vector<char> buffer_;
  bool ended_ = false;  // The service ends.
  // When the file that is read was last seen to have the name.
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  int file_ = -1;
  bool told_ = false;  // Whether it was noted that the file does not exist.
  FilePosition at_;    // The place after what was read.
  std::string tail_;   // What was read last.
  std::optional<Past> past_;
};

}  // namespace

void follow_file(const std::string& path, const std::optional<FilePosition>& begin,
                 const LineOptions& options, BatchQueue& queue, Monitor& monitor) {
  Follower(path, options, queue, monitor).follow(begin);
}

}  // namespace ouro::serving
