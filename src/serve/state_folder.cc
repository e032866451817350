#include "serve/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/half_written.h"
#include "base/system_error.h"
#include "ouro/format.h"

namespace ouro::serving {
namespace {

constexpr std::string_view kLogPrefix = "input-";
constexpr std::string_view kLogSuffix = ".log";

Error error_at(const std::string& path, std::string what) {
  Error error;
  error.file = path;
  error.what = std::move(what);
  return error;
}

// "level si, timeout_ms 5000": for messages.
std::string on_one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string(", ") : std::string(1, c);
  return out;
}

std::vector<std::uint64_t> find_logs(const std::string& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kLogPrefix) || !name.ends_with(kLogSuffix)) continue;
    const char* begin = name.data() + kLogPrefix.size();
    const char* end = name.data() + name.size() - kLogSuffix.size();
    std::uint64_t number = 0;
    if (std::from_chars(begin, end, number).ptr == end) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Repeats the calls of the streams that the records of a log describe.
class Replay {
 public:
  Replay(Sources& sources, Progress& progress, const std::function<void(SourceEvents)>& told)
      : sources_(sources), progress_(progress), told_(told) {}

  Status apply(const LogRecord& record) {
    using Kind = LogRecord::Kind;
    progress_.time = std::max(progress_.time, record.time);
    switch (record.kind) {
      case Kind::Seen:
        progress_.seen.add(record.id.client, record.id.number);
        return {};
      case Kind::Floor:
        progress_.seen.raise(record.id.client, record.id.number);
        return {};
      case Kind::Position:
        progress_.positions[record.position.path] = record.position;
        return {};
      case Kind::Source: {
        if (sources_.find(record.source) != nullptr) return {};
        const auto source = sources_.restore(record.source, record.id.client);
        if (!source.ok()) return source.error();
        if (*source == nullptr) return {};
        progress_.given += (*source)->given;
        tell(**source);
        return {};
      }
      case Kind::Batch:
      case Kind::SourceBatch:
        return batch(record);
      case Kind::Doubt:
        doubt(record);
        return {};
      case Kind::Advance:
      case Kind::Finish:
        time_passed(record);
        return {};
    }
    return {};
  }

 private:
  void time_passed(const LogRecord& record) {
    if (record.txns < progress_.given) return;
    for (auto& [number, source] : sources_.all()) {
      if (record.kind == LogRecord::Kind::Advance) {
        source.stream.advance(StreamTime(record.time));
      } else {
        static_cast<void>(source.stream.finish());
      }
      source.changed = true;
      tell(source);
    }
  }
  void doubt(const LogRecord& record) {
    take_position(record);
    SourceStream* const source = sources_.find(record.source);
    if (source == nullptr) return;  // It was forgotten.
    const Doubt doubt{record.id.number, record.scope, record.id.client, StreamTime(record.time)};
    if (source->add(doubt)) told_({source->number, source->name, {}, {doubt}});
  }
  void take_position(const LogRecord& record) {
    if (record.position.path.empty()) return;
    progress_.positions[record.position.path] = record.position;
  }
  Status batch(const LogRecord& record) {
    if (!record.id.client.empty()) progress_.seen.add(record.id.client, record.id.number);
    take_position(record);
    SourceStream* const source = sources_.find(record.source);
    if (source == nullptr) return {};            // It was forgotten.
    if (!source->judged()) return {};
    if (record.txns < source->given) return {};  // The checkpoint includes it.
    auto history = parse_history(record.history, {.format = Format::NativeBinary, .threads = 1});
    if (!history.ok()) return history.error();
    // A batch without transactions has initial values, which may be set twice.
    if (record.txns == source->given && history->txn_count() > 0) return {};
    auto taken = source->stream.append(std::make_shared<const History>(*std::move(history)),
                                       StreamTime(record.time));
    if (!taken) return taken;
    progress_.given += record.txns - source->given;
    source->given = record.txns;
    source->changed = true;
    tell(*source);
    return {};
  }
  void tell(SourceStream& source) {
    auto events = source.poll();
    if (!events.empty()) told_({source.number, source.name, std::move(events)});
  }

  Sources& sources_;
  Progress& progress_;
  const std::function<void(SourceEvents)>& told_;
};

// Makes it last that files of the folder were made, renamed or removed.
Status sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return system_error(path, "cannot sync this folder");
  Status status;
  if (::fsync(folder) != 0) status = system_error(path, "cannot sync this folder");
  ::close(folder);
  return status;
}

// Writes `progress` to the beginning of a new log.
void log_progress(const Progress& progress, const Sources& sources, LogWriter& log) {
  for (const auto& [number, source] : sources.all()) {
    LogRecord record{.kind = LogRecord::Kind::Source, .time = progress.time, .source = number};
    record.id.client = source.name;
    if (number != 0) log.append(record);
    if (source.doubt.number > 0) log.append(record_of(source, source.doubt));
  }
  for (const auto& [name, client] : progress.seen.clients()) {
    LogRecord record{.kind = LogRecord::Kind::Floor, .time = progress.time};
    record.id = {name, client.floor};
    log.append(record);
    record.kind = LogRecord::Kind::Seen;
    for (const std::uint64_t number : client.above) {
      record.id.number = number;
      log.append(record);
    }
  }
  for (const auto& [path, position] : progress.positions) {
    log.append({.kind = LogRecord::Kind::Position, .time = progress.time, .position = position});
  }
}

}  // namespace

StateFolder::~StateFolder() {
  if (lock_ >= 0) ::close(lock_);
}

StateFolder::StateFolder(StateFolder&& other) noexcept { *this = std::move(other); }

StateFolder& StateFolder::operator=(StateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(found_, other.found_);
  std::swap(repairs_, other.repairs_);
  std::swap(lost_, other.lost_);
  std::swap(logs_, other.logs_);
  std::swap(log_, other.log_);
  return *this;
}

std::string StateFolder::log_file(std::uint64_t number) const {
  return fmt::format("{}/{}{}{}", path_, kLogPrefix, number, kLogSuffix);
}

Status StateFolder::check_settings(const std::string& wanted) const {
  const std::string path = path_ + "/settings";
  std::ifstream file(path, std::ios::binary);
  if (!file) return replace_file(path, wanted);
  std::ostringstream found;
  found << file.rdbuf();
  if (found.str() == wanted) return {};
  return error_at(path_, fmt::format("this state has {}, not {}; use the same options or another "
                                     "folder",
                                     on_one_line(found.str()), on_one_line(wanted)));
}

Result<StateFolder> StateFolder::open(const std::string& path, const std::string& settings) {
  StateFolder folder;
  folder.path_ = path;
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return error_at(path, "cannot make this folder: " + problem.message());
  const std::string lock = path + "/lock";
  folder.lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (folder.lock_ < 0) return system_error(path, "cannot use this folder");
  if (::flock(folder.lock_, LOCK_EX | LOCK_NB) != 0) {
    return error_at(path, "another ouro serve uses this folder; stop it, or name another");
  }
  if (auto same = folder.check_settings(settings); !same) return same.error();
  folder.logs_ = find_logs(path);
  folder.found_ =
      !folder.logs_.empty() || std::filesystem::exists(folder.checkpoint_file(), problem);
  return folder;
}

Status StateFolder::recover(Sources& sources, Progress& progress,
                            const std::function<void(SourceEvents)>& told) {
  std::error_code ignored;
  if (Status opened = sources.open(); !opened) return opened;
  for (SourceEvents& events : sources.poll()) told(std::move(events));
  for (const auto& [number, source] : sources.all()) progress.given += source.given;
  std::vector<LostPart> lost;
  // Nobody is accused of reading what was lost.
  const std::function<void(SourceEvents)> tell_fairly = [&](SourceEvents events) {
    if (!lost.empty() || !lost_.empty()) {
      for (StreamEvent& event : events.events) leave_open(Doubt::Scope::Reads, event);
    }
    told(std::move(events));
  };
  Replay replay(sources, progress, tell_fairly);
  std::uint64_t whole = 0;
  for (const std::uint64_t number : logs_) {
    const std::string path = log_file(number);
    lost.clear();
    auto read = read_log(
        path, [&](const LogRecord& record) { return replay.apply(record); },
        repairs_ ? &lost : nullptr);
    if (!read.ok()) return read.error();
    whole = *read;
    const std::uint64_t size = std::filesystem::file_size(path, ignored);
    if (number != logs_.back() && whole != size) {
      if (!repairs_) return damaged_log(path, whole);
      lost.push_back({whole, size});
    }
    for (const LostPart& part : lost) {
      lost_.push_back(fmt::format("bytes {} to {} of {}", part.from, part.to, path));
    }
  }
  if (logs_.empty()) logs_.push_back(1);
  auto log = LogWriter::open(log_file(logs_.back()), whole);
  if (!log.ok()) return log.error();
  log_ = *std::move(log);
  return sync_folder(path_);
}

Status StateFolder::begin_log(const Progress& progress, const Sources& sources) {
  const std::uint64_t number = logs_.back() + 1;
  auto next = LogWriter::open(log_file(number), 0);
  if (!next.ok()) return next.error();
  log_progress(progress, sources, *next);
  Status written = next->flush();
  if (written) written = next->sync();
  if (!written) {
    std::error_code ignored;
    std::filesystem::remove(log_file(number), ignored);
    return written;
  }
  if (auto synced = sync_folder(path_); !synced) return synced;
  log_ = *std::move(next);
  logs_.push_back(number);
  return {};
}

void StateFolder::remove_old_logs() {
  std::error_code ignored;
  for (; logs_.size() > 1; logs_.erase(logs_.begin())) {
    std::filesystem::remove(log_file(logs_.front()), ignored);
  }
}

LogRecord record_of(const SourceStream& source, const Doubt& doubt) {
  return {.kind = LogRecord::Kind::Doubt,
          .time = doubt.at.count(),
          .source = source.number,
          .id = {doubt.reason, doubt.number},
          .scope = doubt.scope};
}

Status replace_file(const std::string& path, const std::string& content) {
  HalfWritten part(path + ".part");
  const int file = ::open(part.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return system_error(path, "cannot write");
  const bool written =
      ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::fdatasync(file) == 0;
  ::close(file);
  if (!written || !part.finish(path)) return system_error(path, "cannot write");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return sync_folder(folder.empty() ? "." : folder);
}

}  // namespace ouro::serving
