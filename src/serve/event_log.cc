#include "serve/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/system_error.h"
#include "serve/event_text.h"

namespace ouro::serving {
namespace {

// Where the lines of `file` end, in bytes. A last line without a line break is left out.
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

Error stranger(const std::string& path) {
  Error error;
  error.file = path;
  error.what = "does not hold the events that it should; move the folder away to begin anew";
  return error;
}

}  // namespace

EventLog::~EventLog() {
  if (older_.fd >= 0) ::close(older_.fd);
  if (current_.fd >= 0) ::close(current_.fd);
}

std::string EventLog::older_path() const {
  std::filesystem::path path(path_);
  return path.replace_extension(".old" + path.extension().string());
}

Status EventLog::load(const std::string& path, Part& part) {
  auto ends = find_lines(part.fd, path);
  if (!ends.ok()) return ends.error();
  part.ends = *std::move(ends);
  if (part.ends.empty()) return {};
  EventText event;
  if (!parse_event(read(part, part.first), event) || event.number == 0) return stranger(path);
  part.first = event.number;
  return {};
}

Status EventLog::open(const std::string& path, std::uint64_t limit) {
  path_ = path;
  limit_ = limit;
  older_.fd = ::open(older_path().c_str(), O_RDONLY | O_CLOEXEC);
  if (older_.fd < 0 && errno != ENOENT) return system_error(older_path(), "cannot read events");
  if (older_.fd >= 0) {
    if (Status loaded = load(older_path(), older_); !loaded) return loaded;
  }
  if (Status begun = begin_current(); !begun) return begun;
  const std::uint64_t expected = older_.first + older_.ends.size();
  current_.first = expected;
  if (Status loaded = load(path_, current_); !loaded) return loaded;
  if (current_.first != expected) return stranger(path_);
  // A line that a crash cut off is removed; its event will be published again.
  if (::ftruncate(current_.fd, static_cast<off_t>(current_.bytes())) != 0 ||
      ::lseek(current_.fd, 0, SEEK_END) < 0) {
    return system_error(path_, "cannot write events");
  }
  return {};
}

Status EventLog::begin_current() {
  current_ = {};
  current_.fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return current_.fd < 0 ? Status(system_error(path_, "cannot write events")) : Status();
}

Status EventLog::write(const std::string& line) {
  const std::uint64_t begin = current_.bytes();
  full_ = false;
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::pwrite(current_.fd, line.data() + done, line.size() - done,
                                   static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      full_ = errno == ENOSPC || errno == EDQUOT;
      return system_error(path_, "cannot write events");
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

void EventLog::add(const std::string& line) {
  current_.ends.push_back(current_.bytes() + line.size());
}

Status EventLog::sync() const {
  if (::fdatasync(current_.fd) == 0) return {};
  return system_error(path_, "cannot sync events");
}

Status EventLog::drop_older() {
  if (Status synced = sync(); !synced) return synced;
  if (std::rename(path_.c_str(), older_path().c_str()) != 0) {
    return system_error(older_path(), "cannot keep events");
  }
  if (older_.fd >= 0) ::close(older_.fd);
  older_ = std::exchange(current_, {});
  if (Status begun = begin_current(); !begun) return begun;
  current_.first = older_.first + older_.ends.size();
  // The folder must be synced, too, or a crash of the machine may undo the new names.
  const auto folder = std::filesystem::path(path_).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  Status synced;
  if (fd < 0 || ::fsync(fd) != 0) synced = system_error(folder.string(), "cannot sync events");
  if (fd >= 0) ::close(fd);
  return synced;
}

std::string EventLog::read(std::uint64_t number) const {
  return read(number < current_.first ? older_ : current_, number);
}

std::string EventLog::read(const Part& part, std::uint64_t number) {
  const std::uint64_t line = number - part.first;
  const std::uint64_t begin = line == 0 ? 0 : part.ends[line - 1];
  std::string text(part.ends[line] - begin, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count =
        ::pread(part.fd, text.data() + done, text.size() - done, static_cast<off_t>(begin + done));
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace ouro::serving
