#include "serve/event_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "serve/state_folder.h"

namespace ouro::serving {
namespace {

// How many events are kept in memory; with a file, older ones are read from there.
constexpr std::size_t kKeptEvents = 10'000;
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;
constexpr std::size_t kRecent = 50;  // How many events overview() has.
// Explaining an event takes about a millisecond. If more than this wait, their text is brief.
constexpr std::size_t kManyPending = 1'000;
constexpr auto kFullPause = std::chrono::milliseconds(200);  // Between attempts on a full disk.
// If more than this wait, publish() waits, and so does the check.
constexpr std::size_t kMaxPending = 20'000;

}  // namespace

EventHub::~EventHub() {
  stop();
  if (teller_.joinable()) teller_.join();
}

Status EventHub::open() {
  std::uint64_t first = 1;
  if (!options_.file.empty()) {
    if (Status opened = log_.open(options_.file, options_.file_limit); !opened) return opened;
    first = log_.first();
    last_ = numbered_ = log_.last();
    const std::uint64_t recent = std::max(first, last_ > kRecent ? last_ - kRecent + 1 : 1);
    for (std::uint64_t number = recent; number <= last_; ++number) {
      EventText event;
      if (!parse_event(log_.read(number), event) || event.number != number) {
        return damaged(fmt::format("event {} is not where it should be", number));
      }
      kept_bytes_ += event.line.size();
      kept_.push_back(std::move(event));
    }
  }
  if (Status loaded = load_counters(); !loaded) return loaded;
  for (std::uint64_t number = std::max(options_.event_after, first - 1);
       options_.event && number < last_; ++number) {
    options_.event(log_.read(number + 1));
  }
  teller_ = std::thread([this] { tell_all(); });
  return {};
}

void EventHub::publish(SourceEvents events) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || pending_.size() < kMaxPending; });
  std::uint64_t& published = published_[events.number];
  for (StreamEvent& event : events.events) {
    if (event.number <= published) continue;
    published = event.number;
    pending_.push_back({{++numbered_, events.number, events.name, std::move(event)}});
  }
  for (Doubt& doubt : events.doubts) {
    if (doubt.number <= doubts_[events.number]) continue;
    doubts_[events.number] = doubt.number;
    pending_.push_back({{++numbered_, events.number, events.name, {}, std::move(doubt)}});
  }
  changed_.notify_all();
}

void EventHub::publish(EventText told) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || pending_.size() < kMaxPending; });
  renumber(told, ++numbered_);
  pending_.push_back({{}, std::move(told)});
  changed_.notify_all();
}

void EventCounters::add(const EventText& event) {
  if (event.what == StreamEvent::What::Violation) {
    ++violations[{event.source_number, event.counted_as}];
  }
  ++kinds[static_cast<std::size_t>(event.what)];
  if (event.doubt > 0) {
    doubts[event.source_number] = event.doubt;
  } else {
    published[event.source_number] = event.in_source;
  }
  names[event.source_number] = event.source;
}

Error EventHub::damaged(std::string what) const {
  Error error;
  error.file = options_.file;
  error.what =
      std::move(what) + "; restore the folder from a backup, or move it away to begin anew";
  return error;
}

std::string_view name_of(const EventCounters& counters, std::uint32_t source) {
  const auto found = counters.names.find(source);
  return found == counters.names.end() ? std::string_view() : found->second;
}

// The file has lines "events N", "kinds N N N N", "published SOURCE N NAME", "doubts SOURCE N" and
// "violations SOURCE N ANOMALY".
Status EventHub::save_counters() const {
  if (options_.counters.empty()) return {};
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("events {}\nkinds", last_);
  for (const std::uint64_t count : counters_.kinds) text += fmt::format(" {}", count);
  text += '\n';
  for (const auto& [source, count] : counters_.published) {
    text += fmt::format("published {} {} {}\n", source, count, name_of(counters_, source));
  }
  for (const auto& [source, count] : counters_.doubts) {
    text += fmt::format("doubts {} {} \n", source, count);
  }
  for (const auto& [which, count] : counters_.violations) {
    text += fmt::format("violations {} {} {}\n", which.first, count, which.second);
  }
  return replace_file(options_.counters, text);
}

Status EventHub::load_counters() {
  std::uint64_t counted = log_.is_open() ? log_.first() - 1 : 0;
  std::ifstream file(options_.counters);
  const bool saved = !options_.counters.empty() && file.is_open();
  for (std::string what; saved && file >> what;) {
    std::uint32_t source = 0;
    std::uint64_t count = 0;
    std::string name;
    if (what == "events") {
      file >> counted;
    } else if (what == "kinds") {
      for (std::uint64_t& kind : counters_.kinds) file >> kind;
    } else if (file >> source >> count && std::getline(file.ignore(1), name)) {
      if (what == "published") {
        counters_.published[source] = count;
        counters_.names[source] = name;
      } else if (what == "doubts") {
        counters_.doubts[source] = count;
      } else {
        counters_.violations[{source, name}] = count;
      }
    }
  }
  if (counted > last_) {
    return damaged(fmt::format("has {} events, and there were {}", last_, counted));
  }
  for (std::uint64_t number = std::max(counted + 1, log_.first()); number <= last_; ++number) {
    EventText event;
    if (!parse_event(log_.read(number), event)) {
      return damaged(fmt::format("event {} is not where it should be", number));
    }
    counters_.add(event);
  }
  published_ = counters_.published;
  doubts_ = counters_.doubts;
  return {};
}

Status EventHub::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return problem_ || (pending_.empty() && !telling_); });
  if (problem_) return *problem_;
  return log_.is_open() ? log_.sync() : Status();
}

void EventHub::delivered(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  delivered_ = number;
}

Status EventHub::drop_if_due() {
  if (!log_.is_open() || !log_.is_full()) return {};
  if (options_.delivers && delivered_ < log_.last_of_older()) return {};
  return log_.drop_older();
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
    Pending next = std::move(pending_.front());
    pending_.pop_front();
    telling_ = true;
    lock.unlock();
    EventText told = next.told ? *std::move(next.told) : tell(next.event, telling);
    Status written;
    if (log_.is_open()) written = log_.write(told.line);
    // Nothing is lost while the disk is full: whoever needs the event on disk waits.
    while (!written && log_.full() && !stopped_) {
      std::this_thread::sleep_for(kFullPause);
      written = log_.write(told.line);
    }
    if (options_.event) options_.event(told.line);
    lock.lock();
    telling_ = false;
    add(std::move(told));
    if (written.ok()) written = drop_if_due();
    if (!written && !problem_) problem_ = written.error();
    changed_.notify_all();
  }
}

void EventHub::add(EventText event) {
  last_ = event.number;
  if (log_.is_open()) log_.add(event.line);
  counters_.add(event);
  kept_bytes_ += event.line.size();
  kept_.push_back(std::move(event));
  while (kept_.size() > kKeptEvents || (kept_.size() > kRecent && kept_bytes_ > kKeptBytes)) {
    kept_bytes_ -= kept_.front().line.size();
    kept_.pop_front();
  }
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
  number = std::max(number, log_.is_open() ? log_.first() : first_kept);
  for (; number <= last_ && lines.size() < count; ++number) {
    lines.push_back(
        {number, number >= first_kept ? kept_[number - first_kept].line : log_.read(number)});
  }
  return lines;
}

EventHub::Overview EventHub::overview() const {
  const std::lock_guard lock(mutex_);
  Overview overview{.recent = {}, .counters = counters_, .backlog = pending_.size()};
  for (auto at = kept_.rbegin(); at != kept_.rend() && overview.recent.size() < kRecent; ++at) {
    overview.recent.push_back({.number = at->number,
                               .in_source = at->in_source,
                               .source_number = at->source_number,
                               .source = at->source,
                               .what = at->what,
                               .withdraws = at->withdraws,
                               .anomaly = at->anomaly,
                               .counted_as = at->counted_as,
                               .headline = at->headline,
                               .reported = at->reported,
                               .doubt = at->doubt,
                               .line = {}});
  }
  return overview;
}

}  // namespace ouro::serving
