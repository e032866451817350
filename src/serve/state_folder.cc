#include "serve/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/system_error.h"
#include "ouro/format.h"
#include "serve/event_log.h"
#include "serve/small_file.h"

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
  Status take(const LogRecord& record) {
    if (!record.id.client.empty()) progress_.seen.add(record.id.client, record.id.number);
    take_position(record);
    return {};
  }
  Status batch(const LogRecord& record) {
    SourceStream* const source = sources_.find(record.source);
    const bool included = source == nullptr ||      // It was forgotten.
                          !source->judged() || record.txns < source->given;
    if (included) return take(record);
    auto history = parse_history(record.history, {.format = Format::NativeBinary, .threads = 1});
    if (!history.ok()) return history.error();
    // A batch without transactions has initial values, which may be set twice.
    if (record.txns == source->given && history->txn_count() > 0) return take(record);
    const std::uint64_t before = given_to(source->stream);
    const auto taken = source->stream.append(
        std::make_shared<const History>(*std::move(history)), StreamTime(record.time));
    // It was refused then, too, and a crash came before its record was cut off again.
    if (!taken && given_to(source->stream) == before) return {};
    static_cast<void>(take(record));
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
  std::swap(on_damage_, other.on_damage_);
  std::swap(manifest_, other.manifest_);
  std::swap(lost_, other.lost_);
  std::swap(lost_scope_, other.lost_scope_);
  std::swap(logs_, other.logs_);
  std::swap(log_, other.log_);
  return *this;
}

std::string StateFolder::log_file(std::uint64_t number) const {
  return fmt::format("{}/{}{}{}", path_, kLogPrefix, number, kLogSuffix);
}

Status StateFolder::lose(const Error& error) {
  if (!repairs()) return error;
  lost_.push_back(error.file + ' ' + error.what.substr(0, error.what.find(';')));
  return {};
}

bool StateFolder::is_new() const {
  std::error_code ignored;
  const bool any = std::filesystem::exists(checkpoint_file(), ignored) ||
                   std::filesystem::exists(events_file(), ignored) ||
                   std::filesystem::exists(counters_file(), ignored) ||
                   std::filesystem::exists(path_ + "/sources", ignored);
  return logs_.empty() && !any;
}

Status StateFolder::read_manifest(const std::string& settings) {
  const SealedText found = read_sealed(manifest_file());
  const auto manifest =
      found.state == SealedText::State::Whole ? parse_manifest(found.text) : std::nullopt;
  const bool missing = found.state == SealedText::State::Missing;
  std::error_code ignored;
  if (manifest) {
    manifest_ = *manifest;
  } else if (missing && std::filesystem::exists(path_ + "/settings", ignored)) {
    if (Status converted = convert(); !converted) return converted;
  } else {
    manifest_.settings = settings;
    if (missing && is_new()) return write_sealed(manifest_file(), print_manifest(manifest_));
    if (Status lost = lose(damaged_file(manifest_file(), missing ? "is missing" : "is damaged"));
        !lost) {
      return lost;
    }
  }
  if (manifest_.settings != settings) {
    return error_at(path_, fmt::format("this state has {}, not {}; use the same options or another "
                                       "folder",
                                       on_one_line(manifest_.settings), on_one_line(settings)));
  }
  if (!manifest_.repairing) return {};
  // Some checkpoints include what the logs still have, and it is not known which.
  lost_scope_ = Doubt::Scope::Everything;
  return lose(damaged_file(path_, "a repair was interrupted"));
}

// Nothing of a former folder can be checked, so it is believed. If this is interrupted, it is
// repeated: the manifest comes last.
Status StateFolder::convert() {
  std::ifstream settings(path_ + "/settings", std::ios::binary);
  std::ostringstream text;
  text << settings.rdbuf();
  manifest_.settings = text.str();
  std::ifstream forgotten(path_ + "/sources/forgotten");
  for (std::uint32_t number = 0; forgotten >> number;) manifest_.forgotten.insert(number);
  manifest_.logs = {logs_.begin(), logs_.end()};
  for (const std::string& file : {counters_file(), webhook_file()}) {
    const SealedText found = read_sealed(file);
    if (found.state == SealedText::State::Damaged) return damaged_file(file, "is damaged");
    if (found.state != SealedText::State::Unsealed) continue;
    if (Status sealed = write_sealed(file, found.text); !sealed) return sealed;
  }
  std::error_code ignored;
  manifest_.counters = std::filesystem::exists(counters_file(), ignored);
  if (Status sealed = seal_events(events_file()); !sealed) return sealed;
  if (Status written = write_sealed(manifest_file(), print_manifest(manifest_)); !written) {
    return written;
  }
  std::filesystem::remove(path_ + "/settings", ignored);
  std::filesystem::remove(path_ + "/sources/forgotten", ignored);
  return {};
}

Status StateFolder::write_manifest(const Sources& sources) {
  Manifest next;
  next.settings = manifest_.settings;
  next.logs = {logs_.begin(), logs_.end()};
  next.forgotten = sources.all_forgotten();
  next.repairing = manifest_.repairing;
  std::error_code ignored;
  next.counters = std::filesystem::exists(counters_file(), ignored);
  for (const auto& [number, source] : sources.all()) {
    if (!sources.forgotten(number)) next.sources[number] = {source.name, source.saved};
  }
  if (Status written = write_sealed(manifest_file(), print_manifest(next)); !written) {
    return written;
  }
  manifest_ = std::move(next);
  return {};
}

Result<StateFolder> StateFolder::open(const std::string& path, const std::string& settings,
                                      OnDamage on_damage) {
  StateFolder folder;
  folder.path_ = path;
  folder.on_damage_ = on_damage;
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return error_at(path, "cannot make this folder: " + problem.message());
  const std::string lock = path + "/lock";
  folder.lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (folder.lock_ < 0) return system_error(path, "cannot use this folder");
  if (::flock(folder.lock_, LOCK_EX | LOCK_NB) != 0) {
    return error_at(path, "another ouro serve uses this folder; stop it, or name another");
  }
  folder.logs_ = find_logs(path);
  if (auto read = folder.read_manifest(settings); !read) return read.error();
  folder.found_ =
      !folder.logs_.empty() || std::filesystem::exists(folder.checkpoint_file(), problem);
  return folder;
}

Status StateFolder::recover(Sources& sources, Progress& progress, const Hub& hub) {
  for (const std::uint64_t number : manifest_.logs) {
    if (std::binary_search(logs_.begin(), logs_.end(), number)) continue;
    if (Status lost = lose(damaged_file(log_file(number), "is missing")); !lost) return lost;
  }
  if (Status opened = sources.open(manifest_, repairs() ? &lost_ : nullptr); !opened) {
    return opened;
  }
  std::uint64_t whole = 0;
  if (Status replayed = replay(sources, progress, hub, whole); !replayed) return replayed;
  if (!lost_.empty()) {
    // From here on as many count as there are.
    progress.given = 0;
    for (auto& [number, source] : sources.all()) {
      source.given = given_to(source.stream);
      progress.given += source.given;
    }
    manifest_.repairing = true;
  }
  const std::uint64_t last = manifest_.logs.empty() ? 0 : *manifest_.logs.rbegin();
  if (logs_.empty() || logs_.back() < last) {
    logs_.push_back(last + 1);
    whole = 0;
  }
  auto log = LogWriter::open(log_file(logs_.back()), whole);
  if (!log.ok()) return log.error();
  log_ = *std::move(log);
  if (Status synced = sync_folder(path_); !synced) return synced;
  sources.remember_by([this, &sources] { return write_manifest(sources); });
  // If nothing relies on it, it need not have room on the disk.
  const bool known = manifest_.logs.contains(logs_.back()) && lost_.empty();
  const Status written = write_manifest(sources);
  return known ? Status() : written;
}

Status StateFolder::replay(Sources& sources, Progress& progress, const Hub& hub,
                           std::uint64_t& whole) {
  std::vector<LostPart> lost;
  std::set<std::uint32_t> renumbered;
  const auto renumber = [&] {
    if (lost.empty() && lost_.empty()) return;
    for (auto& [number, source] : sources.all()) {
      if (renumbered.insert(number).second) {
        source.stream.number_events_after(hub.published(number));
      }
    }
  };
  // Nobody is accused of reading what was lost.
  const std::function<void(SourceEvents)> tell_fairly = [&](SourceEvents events) {
    if (!lost.empty() || !lost_.empty()) {
      for (StreamEvent& event : events.events) leave_open(lost_scope_, event);
    }
    hub.told(std::move(events));
  };
  renumber();
  for (SourceEvents& events : sources.poll()) tell_fairly(std::move(events));
  for (const auto& [number, source] : sources.all()) progress.given += source.given;
  Replay replay(sources, progress, tell_fairly);
  for (const std::uint64_t number : logs_) {
    const std::string path = log_file(number);
    lost.clear();
    auto read = read_log(
        path,
        [&](const LogRecord& record) {
          renumber();
          return replay.apply(record);
        },
        repairs() ? &lost : nullptr);
    if (!read.ok()) return read.error();
    whole = *read;
    std::error_code ignored;
    const std::uint64_t size = std::filesystem::file_size(path, ignored);
    if (number != logs_.back() && whole != size) {
      if (!repairs()) return damaged_log(path, whole);
      lost.push_back({whole, size});
    }
    for (const LostPart& part : lost) {
      lost_.push_back(fmt::format("bytes {} to {} of {}", part.from, part.to, path));
    }
  }
  renumber();
  return {};
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
  logs_.push_back(number);
  if (Status named = write_manifest(sources); !named) {
    logs_.pop_back();
    std::error_code ignored;
    std::filesystem::remove(log_file(number), ignored);
    return named;
  }
  log_ = *std::move(next);
  return {};
}

Status StateFolder::remove_old_logs(const Sources& sources) {
  const std::vector<std::uint64_t> old(logs_.begin(), logs_.end() - 1);
  const bool repaired = std::exchange(manifest_.repairing, false);
  logs_.erase(logs_.begin(), logs_.end() - 1);
  if (Status named = write_manifest(sources); !named) {
    manifest_.repairing = repaired;
    logs_.insert(logs_.begin(), old.begin(), old.end());
    return named;
  }
  std::error_code ignored;
  for (const std::uint64_t number : old) std::filesystem::remove(log_file(number), ignored);
  return {};
}

LogRecord record_of(const SourceStream& source, const Doubt& doubt) {
  return {.kind = LogRecord::Kind::Doubt,
          .time = doubt.at.count(),
          .source = source.number,
          .id = {doubt.reason, doubt.number},
          .scope = doubt.scope};
}

}  // namespace ouro::serving
