#include "serve/event_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "serve/small_file.h"

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
    if (Status opened = log_.open(options_.file, options_.file_limit, options_.on_damage);
        !opened) {
      return opened;
    }
    lost_ = log_.lost();
  }
  if (Status loaded = load_counters(); !loaded) return loaded;
  if (log_.is_open()) {
    first = log_.first();
    last_ = numbered_ = log_.last();
    const std::uint64_t recent = std::max(first, last_ > kRecent ? last_ - kRecent + 1 : 1);
    for (std::uint64_t number = recent; number <= last_; ++number) {
      EventText event;
      if (!parse_event(log_.read(number), event) || event.number != number) {
        return damaged_file(options_.file, fmt::format("event {} is no event", number));
      }
      kept_bytes_ += event.line.size();
      kept_.push_back(std::move(event));
    }
  }
  for (std::uint64_t number = std::max(options_.event_after, first - 1);
       options_.event && number < last_; ++number) {
    options_.event(log_.read(number + 1));
  }
  teller_ = std::thread([this] { tell_all(); });
  return {};
}

void EventHub::publish(SourceEvents events) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || full_ || pending_.size() < kMaxPending; });
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
    std::uint64_t& last = published[event.source_number];
    last = std::max(last, event.in_source);
  }
  names[event.source_number] = event.source;
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
  return write_sealed(options_.counters, text);
}

bool EventHub::parse_counters(const std::string& text, EventCounters& counters,
                              std::uint64_t& counted) {
  std::istringstream file(text);
  for (std::string what; file >> what;) {
    std::uint32_t source = 0;
    std::uint64_t count = 0;
    std::string name;
    if (what == "events") {
      file >> counted;
    } else if (what == "kinds") {
      for (std::uint64_t& kind : counters.kinds) file >> kind;
    } else if (file >> source >> count && std::getline(file.ignore(1), name)) {
      if (what == "published") {
        counters.published[source] = count;
        counters.names[source] = name;
      } else if (what == "doubts") {
        counters.doubts[source] = count;
      } else {
        counters.violations[{source, name}] = count;
      }
    }
    if (!file) return false;
  }
  return true;
}

Status EventHub::load_counters() {
  last_ = log_.is_open() ? log_.last() : 0;
  std::uint64_t counted = log_.is_open() ? log_.first() - 1 : 0;
  const SealedText saved =
      options_.counters.empty() ? SealedText{} : read_sealed(options_.counters);
  const bool missing = saved.state == SealedText::State::Missing;
  if (saved.state == SealedText::State::Whole) {
    EventCounters counters;
    std::uint64_t told = 0;
    if (!parse_counters(saved.text, counters, told)) return count_all("is damaged");
    if (told > last_) {
      if (!keeps()) {
        return damaged_file(options_.file,
                            fmt::format("has {} events, and there were {}", last_, told));
      }
      if (Status replaced = replace_lost(told); !replaced) return replaced;
    }
    counters_ = std::move(counters);
    counted = told;
  } else if (!missing || options_.has_counters) {
    return count_all(missing ? "is missing" : "is damaged");
  }
  for (std::uint64_t number = std::max(counted + 1, log_.first()); number <= last_; ++number) {
    EventText event;
    if (!parse_event(log_.read(number), event)) {
      return damaged_file(options_.file, fmt::format("event {} is no event", number));
    }
    counters_.add(event);
  }
  published_ = counters_.published;
  doubts_ = counters_.doubts;
  return {};
}

Status EventHub::count_all(std::string why) {
  if (!keeps()) return damaged_file(options_.counters, why);
  lost_.push_back(options_.counters + ' ' + why + ": only the events that are kept are counted");
  std::error_code ignored;
  std::filesystem::rename(options_.counters, options_.counters + ".damaged", ignored);
  for (std::uint64_t number = log_.first(); number <= last_; ++number) {
    EventText event;
    if (parse_event(log_.read(number), event)) counters_.add(event);
  }
  published_ = counters_.published;
  doubts_ = counters_.doubts;
  return {};
}

Status EventHub::replace_lost(std::uint64_t last) {
  lost_.push_back(fmt::format("events {} to {}", last_ + 1, last));
  for (; last_ < last; ++last_) {
    const std::string line = lost_event(last_ + 1);
    if (Status written = log_.write(line); !written) return written;
    log_.add(line);
  }
  return log_.sync();
}

std::uint64_t EventHub::published(std::uint32_t source) const {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(source);
  return found == published_.end() ? 0 : found->second;
}

Result<bool> EventHub::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return problem_ || full_ || (pending_.empty() && !telling_); });
  if (problem_) return *problem_;
  if (!pending_.empty() || telling_) return false;
  if (Status synced = log_.is_open() ? log_.sync() : Status(); !synced) return synced.error();
  return true;
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
      wait_for_room();
      written = log_.write(told.line);
    }
    full_ = false;
    if (options_.event) options_.event(told.line);
    lock.lock();
    telling_ = false;
    add(std::move(told));
    if (written.ok()) written = drop_if_due();
    if (!written && !problem_) problem_ = written.error();
    changed_.notify_all();
  }
}

void EventHub::wait_for_room() {
  {
    const std::lock_guard lock(mutex_);
    full_ = true;
    changed_.notify_all();
  }
  std::this_thread::sleep_for(kFullPause);
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
