#include "serve/stream_thread.h"

#include <algorithm>
#include <utility>

#include "history/columns.h"

namespace ouro::serving {
namespace {

// How often time-outs are looked for. So an event that a time-out causes is at most as late.
constexpr auto kTick = std::chrono::milliseconds(10);
constexpr auto kLeastPause = std::chrono::seconds(1);           // Between checkpoints.
constexpr auto kMonitorPause = std::chrono::milliseconds(100);  // Between updates of the monitor.

}  // namespace

StreamThread::StreamThread(const ServeOptions& options, StateFolder* state, BatchQueue& queue,
                           EventHub& hub, Monitor& monitor)
    : options_(options),
      state_(state),
      queue_(queue),
      hub_(hub),
      monitor_(monitor),
      sources_(options.stream, state == nullptr ? "" : state->path()) {}

Status StreamThread::open() {
  const auto publish = [&](SourceEvents events) { hub_.publish(std::move(events)); };
  const Status opened =
      state_ == nullptr ? sources_.open() : state_->recover(sources_, progress_, publish);
  if (!opened) return opened;
  if (state_ != nullptr && state_->found()) patient_until_ = Clock::now() + options_.stream.timeout;
  committer_.emplace(hub_);
  if (state_ != nullptr) committer_->use(&state_->log());
  const Status repaired =
      state_ == nullptr || state_->lost().empty() ? Status() : begin_after_repair();
  tell_monitor();
  return repaired;
}

// Input is missing, of any source. What is left is saved, so that the damaged logs can go.
Status StreamThread::begin_after_repair() {
  Doubt doubt{.scope = Doubt::Scope::Reads, .reason = "a part of the state folder is lost"};
  for (const std::string& part : state_->lost()) {
    if (options_.note) options_.note("lost: " + part);
  }
  for (const auto& [number, source] : sources_.all()) {
    Batch batch;
    batch.source = source.name;
    batch.doubt = doubt;
    static_cast<void>(this->doubt(batch, now()));
  }
  for (auto& [number, source] : sources_.all()) source.changed = true;
  Committer::Group group;
  group.events = std::exchange(last_words_, {});
  if (Status passed = pass_on(std::move(group)); !passed) return passed;
  return checkpoint();
}

std::optional<FilePosition> StreamThread::position_of(const std::string& path) const {
  const auto found = progress_.positions.find(path);
  if (found == progress_.positions.end()) return std::nullopt;
  return found->second;
}

StreamTime StreamThread::now() {
  const auto clock = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  // The clock may be set back, also while the service is not running.
  progress_.time = std::max<std::int64_t>(progress_.time, clock.count());
  return StreamTime(progress_.time);
}

Result<StreamSummary> StreamThread::run() {
  Status status;
  for (bool open = true; open && status;) {
    // Looks whether the queue is closed before it takes batches, so that one accepted just before
    // the queue was closed is still taken.
    open = !queue_.closed() || queue_.waiting() > 0;
    status = step();
  }
  if (status) {
    auto summary = finish();
    if (summary.ok()) return summary;
    status = summary.error();
  }
  failed_ = true;
  refuse(status.error());
  return status.error();
}

void StreamThread::refuse(const Error& why) {
  queue_.close();
  for (Batch& batch : queue_.take(std::chrono::milliseconds(0))) {
    if (batch.done) batch.done({.error = why});
  }
}

Status StreamThread::step() {
  std::vector<Batch> batches = queue_.take(kTick);
  const StreamTime at = now();
  Committer::Group group;
  for (Batch& batch : batches) take(batch, at, group);
  if ((!batches.empty() || vitals_.stream.window_txns > 0) && !full_) advance(at);
  group.events = std::exchange(last_words_, {});
  for (SourceEvents& events : sources_.poll()) group.events.push_back(std::move(events));
  if (auto passed = pass_on(std::move(group)); !passed) return passed;
  if (Clock::now() - told_monitor_ >= kMonitorPause) {
    sources_.share_memory(at);
    tell_monitor();
  }
  if (!saving_) return checkpoint_is_due() ? begin_checkpoint() : Status();
  watch_checkpoint();
  return {};
}

void StreamThread::take(Batch& batch, StreamTime at, Committer::Group& group) {
  const Clock::time_point begun = Clock::now();
  Receipt receipt = full_ ? Receipt{.error = disk_is_full(), .full = true} : apply(batch, at);
  const Clock::time_point ended = Clock::now();
  if (receipt.error) {
    monitor_.count_rejected();
  } else if (receipt.repeated) {
    ++vitals_.repeated;
  } else if (batch.history != nullptr) {
    ++vitals_.batches;
    for (const TxnStatus status : columns_of(*batch.history).txn_status) {
      ++vitals_.txns[static_cast<std::size_t>(status)];
    }
    vitals_.checks.add(std::chrono::duration<double>(ended - begun).count());
    vitals_.lag_seconds = std::chrono::duration<double>(ended - batch.arrived).count();
    // The summary is refreshed only now and then; step() must know now that transactions can time
    // out.
    if (!receipt.unjudged) vitals_.stream.window_txns += batch.history->txn_count();
  }
  group.answers.emplace_back(std::move(batch.done), std::move(receipt));
}

Receipt StreamThread::apply(const Batch& batch, StreamTime at) {
  if (batch.forget) return forget(batch.source);
  if (!batch.id.client.empty() && progress_.seen.contains(batch.id.client, batch.id.number)) {
    return {.error = {}, .repeated = true};
  }
  if (batch.doubt) return doubt(batch, at);
  const auto found = source_of(batch.source, at);
  if (!found.ok()) return {.error = found.error()};
  SourceStream& source = **found;
  if (source.judged()) {
    if (auto taken = source.stream.append(batch.history, at); !taken) {
      return {.error = taken.error()};
    }
    source.changed = true;
    source.fed = at;
    source.given += batch.history->txn_count();
    progress_.given += batch.history->txn_count();
  }
  remember(batch);
  using Kind = LogRecord::Kind;
  log({.kind = source.number == 0 ? Kind::Batch : Kind::SourceBatch,
       .time = at.count(),
       .txns = source.given,
       .source = source.number,
       .id = batch.id,
       .position = batch.position,
       .history = source.judged() ? std::string_view(batch.binary) : std::string_view()});
  return {.error = {}, .unjudged = !source.judged()};
}

Result<SourceStream*> StreamThread::source_of(const std::string& name, StreamTime at) {
  if (SourceStream* const known = sources_.find(name)) return known;
  const auto added = sources_.add(name);
  if (!added.ok()) return added.error();
  LogRecord record{
      .kind = LogRecord::Kind::Source, .time = at.count(), .source = (*added)->number};
  record.id.client = name;
  log(record);
  return *added;
}

void StreamThread::remember(const Batch& batch) {
  if (!batch.id.client.empty()) progress_.seen.add(batch.id.client, batch.id.number);
  if (!batch.position.path.empty()) progress_.positions[batch.position.path] = batch.position;
}

// What was found before is told as it was then: a restart that replays the log does the same.
Receipt StreamThread::doubt(const Batch& batch, StreamTime at) {
  const auto found = source_of(batch.source, at);
  if (!found.ok()) return {.error = found.error()};
  SourceStream& source = **found;
  remember(batch);
  SourceEvents told{source.number, source.name, source.poll()};
  Doubt doubt = *batch.doubt;
  doubt.number = source.doubt.number + 1;
  doubt.at = at;
  source.add(doubt);
  LogRecord record = record_of(source, doubt);
  record.position = batch.position;
  log(record);
  told.doubts.push_back(std::move(doubt));
  last_words_.push_back(std::move(told));
  return {};
}

Receipt StreamThread::forget(const std::string& name) {
  SourceStream* const source = sources_.find(name);
  if (source == nullptr) {
    Error error;
    error.what = "there is no such source";
    return {.error = error};
  }
  const std::uint64_t given = source->given;
  for (SourceEvents& events : sources_.poll()) last_words_.push_back(std::move(events));
  if (Status done = sources_.forget(source->number); !done) return {.error = done.error()};
  progress_.given -= std::min(progress_.given, given);
  changed_ = true;
  return {};
}

void StreamThread::advance(StreamTime at) {
  if (Clock::now() < patient_until_) return;
  for (auto& [number, source] : sources_.all()) source.stream.advance(at);
  log({.kind = LogRecord::Kind::Advance, .time = at.count(), .txns = progress_.given});
}

void StreamThread::log(const LogRecord& record) {
  if (state_ == nullptr) return;
  state_->log().append(record);
  logged_ = true;
  changed_ = true;
}

// If the disk is full, all waits here for room: what was applied is answered only when it is on
// disk, and nothing else is applied meanwhile.
Status StreamThread::pass_on(Committer::Group group) {
  if (full_) {  // These were refused; they need not wait.
    for (auto& [done, receipt] : std::exchange(group.answers, {})) {
      if (done) done(receipt);
    }
  }
  for (auto& answer : group.answers) held_.answers.push_back(std::move(answer));
  for (SourceEvents& events : group.events) held_.events.push_back(std::move(events));
  held_.durable = logged_;
  if (logged_) {
    const Status flushed = state_->log().flush();
    const bool was_full = std::exchange(full_, !flushed && state_->log().full());
    if (full_ != was_full && options_.note) {
      options_.note(full_ ? disk_is_full().to_string() + "; batches are refused until then"
                          : std::string("the disk has room again"));
    }
    const bool stops = options_.stop != nullptr && *options_.stop;
    if (full_ && !stops) return {};
    if (!flushed) {
      for (auto& [done, receipt] : std::exchange(held_.answers, {})) {
        if (!receipt.error) receipt = {.error = flushed.error(), .full = full_};
        if (done) done(receipt);
      }
      return flushed;
    }
    logged_ = false;
  }
  committer_->add(std::exchange(held_, {}));
  return committer_->failed() ? committer_->drain() : Status();
}

Error StreamThread::disk_is_full() const {
  Error error;
  error.file = options_.state;
  error.what = "the disk is full; make room";
  return error;
}

Result<StreamSummary> StreamThread::finish() {
  const StreamTime at = now();
  for (auto& [number, source] : sources_.all()) {
    static_cast<void>(source.stream.finish());
    source.changed = true;
  }
  const StreamSummary summary = sources_.summary();
  log({.kind = LogRecord::Kind::Finish, .time = at.count(), .txns = progress_.given});
  Committer::Group group;
  group.events = sources_.poll();
  if (auto passed = pass_on(std::move(group)); !passed) return passed.error();
  tell_monitor();
  if (state_ != nullptr) {
    if (auto saved = checkpoint(); !saved) return saved.error();
  } else {
    if (auto drained = committer_->drain(); !drained) return drained.error();
    if (auto told = hub_.drain(); !told) return told.error();
  }
  return summary;
}

bool StreamThread::checkpoint_is_due() const {
  if (state_ == nullptr || !changed_ || full_) return false;
  const auto pause = Clock::now() - checkpointed_;
  // A checkpoint waits for the end of a sweep of the stream, but at most one more interval.
  const auto& all = sources_.all();
  const bool sweeping = std::any_of(
      all.begin(), all.end(), [](const auto& source) { return source.second.stream.sweeping(); });
  if (sweeping && pause < 2 * options_.checkpoint) return false;
  return pause >= options_.checkpoint ||
         (pause >= kLeastPause && state_->log().bytes() >= options_.checkpoint_bytes);
}

Status StreamThread::checkpoint() {
  if (auto settled = settle(); !settled) return settled;
  Status saved;
  for (auto& [number, source] : sources_.all()) {
    if (!source.changed || !saved) continue;
    saved = source.stream.save(sources_.checkpoint_file(number));
    source.saving = false;
    if (saved) source.changed = false;
  }
  if (saved) {
    if (auto begun = begin_log(); !begun) return begun;
  }
  end_checkpoint(saved);
  return {};
}

Status StreamThread::begin_checkpoint() {
  if (auto settled = settle(); !settled) return settled;
  for (auto& [number, source] : sources_.all()) {
    if (!source.changed) continue;
    if (auto begun = source.stream.begin_save(sources_.checkpoint_file(number)); !begun) {
      end_checkpoint(begun);
      return {};
    }
    source.saving = true;
    source.changed = false;
  }
  saving_ = true;
  save_problem_.reset();
  return begin_log();
}

void StreamThread::watch_checkpoint() {
  bool all = true;
  for (auto& [number, source] : sources_.all()) {
    if (!source.saving) continue;
    const auto saved = source.stream.saved();
    if (!saved) {
      all = false;
      continue;
    }
    source.saving = false;
    if (*saved) continue;
    source.changed = true;
    save_problem_ = saved->error();
  }
  if (all) end_checkpoint(save_problem_ ? Status(*save_problem_) : Status());
}

Status StreamThread::settle() {
  if (auto drained = committer_->drain(); !drained) return drained;
  checkpointed_ = Clock::now();
  if (auto drained = hub_.drain(); !drained) return drained;
  // If this fails, the old counters are still right: later events are counted anew at a restart.
  static_cast<void>(hub_.save_counters());
  return {};
}

Status StreamThread::begin_log() {
  changed_ = false;
  const Status begun = state_->begin_log(progress_, sources_);
  committer_->use(&state_->log());
  if (begun) return {};
  // The old log goes on: what the checkpoint includes of it is skipped when it is read.
  changed_ = true;
  if (options_.note && !std::exchange(told_trouble_, true)) {
    options_.note("no new log: " + begun.error().to_string());
  }
  return {};
}

void StreamThread::end_checkpoint(const Status& saved) {
  saving_ = false;
  if (saved) return state_->remove_old_logs();
  // Without a checkpoint nothing is lost: the old logs are kept and have everything.
  if (options_.note && !std::exchange(told_trouble_, true)) {
    options_.note("no checkpoint: " + saved.error().to_string());
  }
}

void StreamThread::tell_monitor() {
  vitals_.stream = sources_.summary();
  vitals_.sources.clear();
  for (const auto& [number, source] : sources_.all()) {
    vitals_.sources.push_back({number, source.name, source.summary(), source.doubt});
  }
  monitor_.update(vitals_);
  told_monitor_ = Clock::now();
}

}  // namespace ouro::serving
