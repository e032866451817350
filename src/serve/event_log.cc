#include "serve/event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/half_written.h"
#include "base/system_error.h"
#include "serve/small_file.h"

namespace ouro::serving {
namespace {

// In a file each line has a last member: a checksum of the line without it.
constexpr std::string_view kSeal = ",\"crc32\":\"";
constexpr std::string_view kEnd = "}\n";
constexpr std::size_t kSealBytes = kSeal.size() + 9;  // Eight digits and a quotation mark.

std::string sealed(const std::string& line) {
  return fmt::format("{}{}{:08x}\"{}", std::string_view(line).substr(0, line.size() - kEnd.size()),
                     kSeal, crc32_of(line), kEnd);
}

bool has_seal(std::string_view line) {
  return line.size() > kSealBytes + kEnd.size() && line.ends_with(kEnd) &&
         line.substr(line.size() - kSealBytes - kEnd.size()).starts_with(kSeal);
}

// The line without its checksum; nothing if it is damaged.
std::optional<std::string> unsealed(const std::string& line) {
  if (!has_seal(line)) return std::nullopt;
  std::string bare = line.substr(0, line.size() - kSealBytes - kEnd.size());
  bare += kEnd;
  return sealed(bare) == line ? std::optional(std::move(bare)) : std::nullopt;
}

// The number of the event; zero: it is none.
std::uint64_t number_of(std::string_view line) {
  constexpr std::string_view kBegin = "{\"event\":";
  std::uint64_t number = 0;
  if (!line.starts_with(kBegin)) return 0;
  std::from_chars(line.data() + kBegin.size(), line.data() + line.size(), number);
  return number;
}

// Calls `visit` with each line of `path` that ends. A file that is not there has none.
Status for_each_line(const std::string& path,
                     const std::function<Status(const std::string& line)>& visit) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file && std::filesystem::exists(path, ignored)) {
    return system_error(path, "cannot read events");
  }
  for (std::string line; std::getline(file, line) && !file.eof();) {
    line += '\n';
    if (Status visited = visit(line); !visited) return visited;
  }
  if (file.bad()) return system_error(path, "cannot read events");
  return {};
}

// Replaces a file by one with other lines.
class Rewriting {
 public:
  explicit Rewriting(const std::string& path)
      : path_(path), part_(path + ".part"), out_(part_.path(), std::ios::binary) {
    std::filesystem::permissions(part_.path(), std::filesystem::perms(0600), ignored_);
  }
  void add(const std::string& line) { out_ << line; }
  Status finish() {
    out_.close();
    if (!out_ || !part_.finish(path_)) return system_error(path_, "cannot write events");
    const auto folder = std::filesystem::path(path_).parent_path().string();
    return sync_folder(folder.empty() ? "." : folder);
  }

 private:
  std::string path_;
  HalfWritten part_;
  std::ofstream out_;
  std::error_code ignored_;
};

// Rewrites a file so that its lines have the numbers from `first` on (zero: from that of the first
// whole one) without gaps. Adds to `lost` what is not whole.
Status mend(const std::string& path, std::uint64_t first, std::vector<std::string>& lost) {
  Rewriting mended(path);
  std::uint64_t next = first;
  std::uint64_t damaged = 0;
  const Status read = for_each_line(path, [&](const std::string& line) {
    const auto bare = unsealed(line);
    const std::uint64_t number = bare ? number_of(*bare) : 0;
    if (number == 0 || number < next) {
      ++damaged;
      return Status();
    }
    for (next = next == 0 ? number : next; next < number; ++next) {
      lost.push_back(fmt::format("event {}", next));
      mended.add(sealed(lost_event(next)));
    }
    mended.add(line);
    ++next;
    return Status();
  });
  if (!read) return read;
  if (damaged > 0) lost.push_back(fmt::format("{} lines of {}", damaged, path));
  return mended.finish();
}

std::string older_name(const std::string& events) {
  std::filesystem::path path(events);
  return path.replace_extension(".old" + path.extension().string());
}

}  // namespace

std::string lost_event(std::uint64_t number) {
  return fmt::format(
      R"({{"event":{},"number":0,"kind":"undecided","anomaly":"lost","id":"lost-event",)"
      R"("headline":"this event is lost: its record was damaged","arrived":0,"reported":0}})"
      "\n",
      number);
}

Status seal_events(const std::string& path) {
  for (const std::string& file : {older_name(path), path}) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) continue;
    Rewriting rewriting(file);
    const Status read = for_each_line(file, [&](const std::string& line) {
      rewriting.add(has_seal(line) || line.size() < kEnd.size() ? line : sealed(line));
      return Status();
    });
    if (!read) return read;
    if (Status done = rewriting.finish(); !done) return done;
  }
  return {};
}

EventLog::~EventLog() {
  if (older_.fd >= 0) ::close(older_.fd);
  if (current_.fd >= 0) ::close(current_.fd);
}

std::string EventLog::older_path() const { return older_name(path_); }

Status EventLog::load(const std::string& path, std::uint64_t first, Part& part) {
  part.ends.clear();
  std::uint64_t offset = 0;
  std::uint64_t next = first;
  bool damaged = false;
  const Status read = for_each_line(path, [&](const std::string& line) {
    const auto bare = unsealed(line);
    const std::uint64_t number = bare ? number_of(*bare) : 0;
    if (number == 0 || (next != 0 && number != next)) {
      damaged = true;
      return on_damage_ == OnDamage::Keep
                 ? Status()
                 : Status(damaged_file(path, fmt::format("damaged at byte {}", offset)));
    }
    if (part.ends.empty()) part.first = number;
    next = number + 1;
    offset += line.size();
    part.ends.push_back(offset);
    return Status();
  });
  if (!read || !damaged) return read;
  if (Status mended = mend(path, first, lost_); !mended) return mended;
  on_damage_ = OnDamage::Refuse;
  Status loaded = load(path, first, part);
  on_damage_ = OnDamage::Keep;
  return loaded;
}

Status EventLog::open(const std::string& path, std::uint64_t limit, OnDamage on_damage) {
  path_ = path;
  limit_ = limit;
  on_damage_ = on_damage;
  if (Status loaded = load(older_path(), 0, older_); !loaded) return loaded;
  const std::uint64_t expected = older_.first + older_.ends.size();
  Part current;
  current.first = expected;
  const bool any = on_damage == OnDamage::Keep && older_.ends.empty();
  if (Status loaded = load(path_, any ? 0 : expected, current); !loaded) return loaded;
  if (current.first != expected) lost_.push_back(fmt::format("events before {}", current.first));
  // Files that were mended are others now, so they are opened only here.
  older_.fd = ::open(older_path().c_str(), O_RDONLY | O_CLOEXEC);
  if (older_.fd < 0 && errno != ENOENT) return system_error(older_path(), "cannot read events");
  if (Status begun = begin_current(); !begun) return begun;
  current_.first = current.first;
  current_.ends = std::move(current.ends);
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

Status EventLog::write(const std::string& bare) {
  const std::string line = sealed(bare);
  const std::uint64_t begin = current_.bytes();
  full_ = false;
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::pwrite(current_.fd, line.data() + done, line.size() - done,
                                   static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      full_ = no_room(errno);
      return system_error(path_, "cannot write events");
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

void EventLog::add(const std::string& line) {
  current_.ends.push_back(current_.bytes() + line.size() + kSealBytes);
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
  const auto folder = std::filesystem::path(path_).parent_path().string();
  return sync_folder(folder.empty() ? "." : folder);
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
  return unsealed(text).value_or(std::string());
}

}  // namespace ouro::serving
