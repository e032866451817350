#include "serve/event_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ouro::serving {
namespace {

// How many events are kept in memory; with a file, older ones are read from there.
constexpr std::size_t kKeptEvents = 10'000;
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;
constexpr std::size_t kRecent = 50;  // How many events overview() has.
// Explaining an event takes about a millisecond. If more than this wait, their text is brief.
constexpr std::size_t kManyPending = 1'000;
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
    last_ = published_ = log_.last();
    const std::uint64_t recent = std::max(first, last_ > kRecent ? last_ - kRecent + 1 : 1);
    for (std::uint64_t number = recent; number <= last_; ++number) {
      EventText event;
      if (!parse_event(log_.read(number), event) || event.number != number) {
        Error error;
        error.file = options_.file;
        error.what = fmt::format(
            "event {} is not where it should be; move the folder away to begin anew", number);
        return error;
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
    const StreamEvent event = std::move(pending_.front());
    pending_.pop_front();
    telling_ = true;
    lock.unlock();
    EventText told = tell(event, telling);
    Status written;
    if (log_.is_open()) written = log_.write(told.line);
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
