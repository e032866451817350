#include "serve/sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "serve/monitor.h"
#include "serve/state_folder.h"

namespace ouro::serving {
namespace {

// A source of which no batch came for so long is quiet. It keeps what a stream needs at least.
constexpr auto kQuiet = std::chrono::minutes(1);
constexpr std::size_t kQuietBytes = std::size_t{1} << 20;

}  // namespace

Sources::Sources(const StreamOptions& options, std::string folder)
    : options_(options), folder_(std::move(folder)) {}

std::string Sources::folder_of(std::uint32_t number) const {
  return number == 0 ? folder_ : fmt::format("{}/sources/{}", folder_, number);
}

std::string Sources::checkpoint_file(std::uint32_t number) const {
  return folder_of(number) + "/checkpoint";
}

StreamOptions Sources::options_of(std::uint32_t number) const {
  StreamOptions options = options_;
  if (number == 0 || options.memory == 0) return options;
  options.folder = folder_.empty() ? fmt::format("{}/source-{}", options_.folder, number)
                                   : folder_of(number) + "/spill";
  return options;
}

Status Sources::open() {
  if (!folder_.empty()) {
    std::ifstream file(folder_ + "/sources/forgotten");
    for (std::uint32_t number = 0; file >> number;) {
      forgotten_.insert(number);
      next_ = std::max(next_, number + 1);
    }
  }
  const auto first = restore(0, "");
  return first.ok() ? Status() : Status(first.error());
}

Result<SourceStream*> Sources::add(const std::string& name) {
  if (streams_.size() >= kMost) {
    Error error;
    error.what = fmt::format("there are {} sources already; forget one: DELETE /source/NAME",
                             streams_.size());
    return error;
  }
  return take(next_, name, false);
}

Result<SourceStream*> Sources::restore(std::uint32_t number, const std::string& name) {
  if (forgotten(number)) return nullptr;
  if (SourceStream* const known = find(number)) return known;
  return take(number, name, true);
}

Result<SourceStream*> Sources::take(std::uint32_t number, const std::string& name, bool restored) {
  const StreamOptions options = options_of(number);
  std::error_code problem;
  if (!folder_.empty() && number != 0) {
    std::filesystem::create_directories(folder_of(number), problem);
    if (problem) {
      Error error;
      error.file = folder_of(number);
      error.what = "cannot make this folder: " + problem.message();
      return error;
    }
  }
  const bool saved =
      restored && !folder_.empty() && std::filesystem::exists(checkpoint_file(number), problem);
  auto stream = saved ? Stream::restore(options, checkpoint_file(number)) : Stream::open(options);
  if (!stream.ok()) return stream.error();
  const StreamSummary summary = stream->summary();
  next_ = std::max(next_, number + 1);
  const auto at = streams_.emplace(
      number, SourceStream{number, name, *std::move(stream), summary.txns + summary.left_out});
  at.first->second.fed = now_;
  share_memory();
  return &at.first->second;
}

SourceStream* Sources::find(const std::string& name) {
  for (auto& [number, source] : streams_) {
    if (source.name == name) return &source;
  }
  return nullptr;
}

SourceStream* Sources::find(std::uint32_t number) {
  const auto found = streams_.find(number);
  return found == streams_.end() ? nullptr : &found->second;
}

Status Sources::forget(std::uint32_t number) {
  forgotten_.insert(number);
  if (!folder_.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(folder_ + "/sources", ignored);
    std::string text;
    for (const std::uint32_t gone : forgotten_) text += std::to_string(gone) + '\n';
    if (Status kept = replace_file(folder_ + "/sources/forgotten", text); !kept) {
      forgotten_.erase(number);
      return kept;
    }
  }
  streams_.erase(number);
  const StreamOptions options = options_of(number);
  std::error_code ignored;
  if (options.memory > 0) std::filesystem::remove_all(options.folder, ignored);
  if (!folder_.empty()) {
    std::filesystem::remove(checkpoint_file(number), ignored);
    if (number != 0) std::filesystem::remove_all(folder_of(number), ignored);
  }
  share_memory();
  return {};
}

bool SourceStream::add(const Doubt& more) {
  if (more.number <= doubt.number) return false;
  doubt.number = more.number;
  if (more.scope <= doubt.scope) return true;
  doubt = more;
  changed = true;
  return true;
}

std::vector<StreamEvent> SourceStream::poll() {
  std::vector<StreamEvent> events = stream.poll();
  if (!judged()) return {};
  for (StreamEvent& event : events) leave_open(doubt.scope, event);
  return events;
}

StreamSummary SourceStream::summary() const {
  StreamSummary summary = stream.summary();
  leave_open(doubt.scope, summary);
  return summary;
}

std::vector<SourceEvents> Sources::poll() {
  std::vector<SourceEvents> all;
  for (auto& [number, source] : streams_) {
    auto events = source.poll();
    if (!events.empty()) all.push_back({number, source.name, std::move(events)});
  }
  return all;
}

StreamSummary Sources::summary() const {
  StreamSummary sum;
  for (const auto& [number, source] : streams_) serving::add(sum, source.summary());
  return sum;
}

void Sources::share_memory(StreamTime now) {
  now_ = now;
  share_memory();
}

void Sources::share_memory() {
  if (options_.memory == 0 || streams_.empty()) return;
  const auto quiet = [&](const SourceStream& source) { return now_ - source.fed > kQuiet; };
  std::size_t busy = 0;
  for (const auto& [number, source] : streams_) busy += quiet(source) ? 0 : 1;
  if (busy == 0) busy = streams_.size();
  const bool all = busy == streams_.size();
  const std::size_t even = std::max<std::size_t>(options_.memory / streams_.size(), 1);
  const std::size_t little = all ? even : std::min(even, kQuietBytes);
  const std::size_t share =
      (options_.memory - std::min(options_.memory, little * (streams_.size() - busy))) / busy;
  for (auto& [number, source] : streams_) {
    const std::size_t mine = std::max<std::size_t>(!all && quiet(source) ? little : share, 1);
    if (std::exchange(source.memory, mine) != mine) source.stream.limit(mine);
  }
}

void add(StreamSummary& sum, const StreamSummary& more) {
  constexpr std::uint64_t StreamSummary::*kCounts[] = {&StreamSummary::txns,
                                                       &StreamSummary::left_out,
                                                       &StreamSummary::operations,
                                                       &StreamSummary::stragglers,
                                                       &StreamSummary::lost_stragglers,
                                                       &StreamSummary::undecided,
                                                       &StreamSummary::faults,
                                                       &StreamSummary::flips,
                                                       &StreamSummary::flipped_txns,
                                                       &StreamSummary::provisional,
                                                       &StreamSummary::window_txns,
                                                       &StreamSummary::keys,
                                                       &StreamSummary::memory,
                                                       &StreamSummary::disk,
                                                       &StreamSummary::spilled,
                                                       &StreamSummary::recalled,
                                                       &StreamSummary::keys_left,
                                                       &StreamSummary::keys_back};
  for (const auto count : kCounts) sum.*count += more.*count;
  for (std::size_t i = 0; i < sum.flipped.size(); ++i) sum.flipped[i] += more.flipped[i];
  for (std::size_t i = 0; i < sum.flip_waits.size(); ++i) sum.flip_waits[i] += more.flip_waits[i];
  for (std::size_t i = 0; i < sum.counts.size(); ++i) {
    sum.counts[i] += more.counts[i];
    sum.provisional_counts[i] += more.provisional_counts[i];
  }
}

Outcome outcome_of(const StreamSummary& summary, Doubt::Scope doubt) {
  if (violation_count(summary) > 0) return Outcome::Violated;
  const bool all = doubt == Doubt::Scope::None && summary.lost_stragglers == 0 &&
                   summary.faults == 0 && summary.undecided == 0;
  return all ? Outcome::Holds : Outcome::Undecided;
}

}  // namespace ouro::serving
