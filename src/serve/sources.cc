#include "serve/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "report/json_writer.h"
#include "serve/monitor.h"
#include "serve/small_file.h"

namespace ouro::serving {
namespace {

// A source of which no batch came for so long is quiet. It keeps what a stream needs at least.
constexpr auto kQuiet = std::chrono::minutes(1);
constexpr std::size_t kQuietBytes = std::size_t{1} << 20;

}  // namespace

bool is_source_name(std::string_view name) {
  return name.size() <= Sources::kMaxNameBytes && name != kDefaultSource &&
         valid_utf8(std::string(name)) == name &&
         std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::uint64_t given_to(const Stream& stream) {
  const StreamSummary summary = stream.summary();
  return summary.txns + summary.left_out;
}

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
  if (number == 0 || options.folder.empty()) return options;
  options.folder = folder_.empty() ? fmt::format("{}/source-{}", options_.folder, number)
                                   : folder_of(number) + "/spill";
  return options;
}

Status Sources::open(const Manifest& manifest, std::vector<std::string>* lost) {
  manifest_ = manifest;
  lost_ = lost;
  forgotten_ = manifest.forgotten;
  if (!forgotten_.empty()) next_ = std::max(next_, *forgotten_.rbegin() + 1);
  const auto first = restore(0, "");
  if (!first.ok()) return first.error();
  for (const auto& [number, source] : manifest.sources) {
    if (number == 0) continue;
    const auto restored = restore(number, source.name);
    if (!restored.ok()) return restored.error();
  }
  return {};
}

Result<Stream> Sources::restored_stream(std::uint32_t number, const StreamOptions& options) {
  const std::string file = checkpoint_file(number);
  const auto known = manifest_.sources.find(number);
  const bool named = known != manifest_.sources.end() && known->second.saved;
  std::error_code problem;
  const bool there = !folder_.empty() && std::filesystem::exists(file, problem);
  if (!there && !named) return Stream::open(options);
  Result<Stream> stream =
      there ? Stream::restore(options, file) : Result<Stream>(damaged_file(file, "is missing"));
  if (stream.ok() && named && given_to(*stream) < *known->second.saved) {
    stream = damaged_file(file, "is older than the last checkpoint");
  } else if (!stream.ok() && there) {
    const Error error = stream.error();
    // Of another version, or with other options, it is no damage.
    const bool other =
        error.what.starts_with("is of ") || error.what.starts_with("is a checkpoint of ");
    if (other) return error;
    stream = damaged_file(error.file, error.what);
  }
  if (stream.ok() || lost_ == nullptr) return stream;
  Error error = stream.error();
  lost_->push_back(error.file + ' ' + error.what.substr(0, error.what.find(';')));
  if (there) std::rename(file.c_str(), (file + ".damaged").c_str());
  return Stream::open(options);
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
  auto stream = restored ? restored_stream(number, options) : Stream::open(options);
  if (!stream.ok()) return stream.error();
  next_ = std::max(next_, number + 1);
  const std::uint64_t given = given_to(*stream);
  SourceStream& source =
      streams_.emplace(number, SourceStream{number, name, *std::move(stream), given}).first->second;
  source.fed = now_;
  if (restored && !folder_.empty() && std::filesystem::exists(checkpoint_file(number), problem)) {
    source.saved = given;
  }
  share_memory();
  return &source;
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
  if (remember_) {
    if (Status kept = remember_(); !kept) {
      forgotten_.erase(number);
      return kept;
    }
  }
  streams_.erase(number);
  const StreamOptions options = options_of(number);
  std::error_code ignored;
  if (!options.folder.empty()) std::filesystem::remove_all(options.folder, ignored);
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
