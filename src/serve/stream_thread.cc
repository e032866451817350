#include "serve/stream_thread.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "history/columns.h"

namespace ouro::serving {
namespace {

// How often time-outs are looked for. So an event that a time-out causes is at most as late.
constexpr auto kTick = std::chrono::milliseconds(10);
constexpr auto kLeastPause = std::chrono::seconds(1);  // Between checkpoints.
// Between attempts on a full disk.
constexpr auto kFullLogPause = std::chrono::milliseconds(200);
constexpr std::size_t kBacklog = std::size_t{4} << 20;          // Bytes in the queue.
constexpr auto kMonitorPause = std::chrono::milliseconds(100);  // Between updates of the monitor.

// Gives memory that was freed back to the system, as far as the allocator can; takes milliseconds.
void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

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
  const StateFolder::Hub hub{
      .told = [&](SourceEvents events) { hub_.publish(std::move(events)); },
      .published = [&](std::uint32_t source) { return hub_.published(source); }};
  const Status opened =
      state_ == nullptr ? sources_.open() : state_->recover(sources_, progress_, hub);
  if (!opened) return opened;
  if (state_ != nullptr && state_->found()) patient_until_ = Clock::now() + options_.stream.timeout;
  committer_.emplace(hub_);
  if (state_ != nullptr) committer_->use(&state_->log());
  for (const std::string& part : hub_.lost()) {
    if (options_.note) options_.note("lost: " + part);
  }
  const bool damaged = state_ != nullptr && !state_->lost().empty();
  const Status repaired = damaged ? begin_after_repair() : Status();
  if (!damaged && !hub_.lost().empty()) static_cast<void>(settle());
  tell_monitor();
  return repaired;
}

// Input is missing, of any source. What is left is saved, so that the damaged logs can go.
Status StreamThread::begin_after_repair() {
  Doubt doubt{.scope = state_->lost_scope(), .reason = "a part of the state folder is lost: "};
  for (const std::string& part : state_->lost()) {
    if (options_.note) options_.note("lost: " + part);
    doubt.reason += (&part == &state_->lost().front() ? "" : ", ") + part;
  }
  doubt.reason = reason_of(doubt.reason);
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
  if ((!batches.empty() || vitals_.stream.window_txns > 0) && !is_full()) advance(at);
  group.events = std::exchange(last_words_, {});
  for (SourceEvents& events : sources_.poll()) group.events.push_back(std::move(events));
  if (auto passed = pass_on(std::move(group)); !passed) return passed;
  batches.clear();
  if (queue_.bytes() > kBacklog) backlog_ = true;
  // What a backlog took would stay with the process else.
  if (queue_.bytes() == 0 && std::exchange(backlog_, false)) give_memory_back();
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
  if (hub_.full()) note_full();
  Receipt receipt = is_full() ? Receipt{.error = disk_is_full(), .full = true} : apply(batch, at);
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
  if (receipt.error) {
    if (batch.done) batch.done(receipt);
    return;
  }
  group.answers.emplace_back(std::move(batch.done), std::move(receipt));
}

bool StreamThread::is_full() const { return (full_ && Clock::now() < try_again_) || hub_.full(); }

void StreamThread::note_full() {
  try_again_ = Clock::now() + kFullLogPause;
  if (!std::exchange(full_, true) && options_.note) {
    options_.note(disk_is_full().to_string() + "; batches are refused until then");
  }
}

std::optional<Receipt> StreamThread::write(const LogRecord& record) {
  if (state_ == nullptr) return std::nullopt;
  LogWriter& log = state_->log();
  const std::uint64_t end = log.end();
  this->log(record);
  const Status written = log.flush();
  if (written) {
    logged_ = false;
    flushed_ = true;
    if (std::exchange(full_, false) && options_.note) options_.note("the disk has room again");
    return std::nullopt;
  }
  const bool full = log.full();
  if (full) note_full();
  take_back(end);
  if (!full && !broken_) broken_ = written.error();
  return Receipt{.error = full ? disk_is_full() : written.error(), .full = full};
}

void StreamThread::take_back(std::uint64_t end) {
  if (state_ == nullptr) return;
  if (Status cut = state_->log().cut(end); !cut && !broken_) broken_ = cut.error();
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
  const bool judged = source.judged();
  const std::size_t txns = judged ? batch.history->txn_count() : 0;
  const std::uint64_t end = state_ == nullptr ? 0 : state_->log().end();
  using Kind = LogRecord::Kind;
  const auto problem =
      write({.kind = source.number == 0 ? Kind::Batch : Kind::SourceBatch,
             .time = at.count(),
             .txns = source.given + txns,
             .source = source.number,
             .id = batch.id,
             .position = batch.position,
             .history = judged ? std::string_view(batch.binary) : std::string_view()});
  if (problem) return *problem;
  if (judged) {
    const Status taken = source.stream.append(batch.history, at);
    if (!taken && given_to(source.stream) == source.given) {
      take_back(end);
      return {.error = taken.error()};
    }
    // It was taken, but something else could not be moved out of memory.
    if (!taken && options_.note) options_.note(taken.error().to_string());
    if (!taken) note_full();
    source.changed = true;
    source.fed = at;
    source.given += txns;
    progress_.given += txns;
  }
  remember(batch);
  return {.error = {}, .unjudged = !judged};
}

Result<SourceStream*> StreamThread::source_of(const std::string& name, StreamTime at) {
  if (SourceStream* const known = sources_.find(name)) return known;
  const auto added = sources_.add(name);
  if (!added.ok()) return added.error();
  LogRecord record{.kind = LogRecord::Kind::Source, .time = at.count(), .source = (*added)->number};
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
  Doubt doubt = *batch.doubt;
  doubt.number = source.doubt.number + 1;
  doubt.at = at;
  LogRecord record = record_of(source, doubt);
  record.position = batch.position;
  if (const auto problem = write(record)) return *problem;
  remember(batch);
  SourceEvents told{source.number, source.name, source.poll()};
  source.add(doubt);
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

// The records of batches are in the file already. If there is no room for the others, events wait:
// they are told only when all that they follow from is on disk.
Status StreamThread::pass_on(Committer::Group group) {
  for (SourceEvents& events : group.events) held_.push_back(std::move(events));
  group.events.clear();
  if (logged_) {
    const Status flushed = state_->log().flush();
    if (flushed) {
      logged_ = false;
      flushed_ = true;
    } else if (state_->log().full()) {
      note_full();
    } else if (!broken_) {
      broken_ = flushed.error();
    }
  }
  if (broken_) {
    for (auto& [done, receipt] : group.answers) {
      if (done) done({.error = *broken_});
    }
    return *broken_;
  }
  if (!logged_) group.events = std::exchange(held_, {});
  group.durable = flushed_;
  if (!group.answers.empty() || !group.events.empty()) flushed_ = false;
  committer_->add(std::move(group));
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
  if (auto drained = committer_->drain(); !drained) return drained.error();
  if (state_ == nullptr) {
    if (auto told = hub_.drain(); !told.ok()) return told.error();
    return summary;
  }
  // What is known is told all the same. After a restart it is judged once more.
  if (logged_ || hub_.full()) {
    if (options_.note) options_.note(disk_is_full().to_string() + "; the end is not saved");
    return summary;
  }
  if (auto saved = checkpoint(); !saved) return saved.error();
  return summary;
}

bool StreamThread::checkpoint_is_due() const {
  if (state_ == nullptr || !changed_ || full_ || hub_.full()) return false;
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
  const auto settled = settle();
  if (!settled.ok()) return settled.error();
  Status saved = *settled ? Status() : Status(disk_is_full());
  for (auto& [number, source] : sources_.all()) {
    if (!source.changed || !saved) continue;
    saved = source.stream.save(sources_.checkpoint_file(number));
    source.saving = false;
    if (!saved) continue;
    source.changed = false;
    source.saved = source.given;
  }
  if (saved) {
    if (auto begun = begin_log(); !begun) return begun;
  }
  end_checkpoint(saved);
  return {};
}

Status StreamThread::begin_checkpoint() {
  const auto settled = settle();
  if (!settled.ok()) return settled.error();
  if (!*settled) return {};
  for (auto& [number, source] : sources_.all()) {
    if (!source.changed) continue;
    if (auto begun = source.stream.begin_save(sources_.checkpoint_file(number)); !begun) {
      end_checkpoint(begun);
      return {};
    }
    source.saving = true;
    source.saving_given = source.given;
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
    if (*saved) {
      source.saved = source.saving_given;
      continue;
    }
    source.changed = true;
    save_problem_ = saved->error();
  }
  if (all) end_checkpoint(save_problem_ ? Status(*save_problem_) : Status());
}

Result<bool> StreamThread::settle() {
  if (auto drained = committer_->drain(); !drained) return drained.error();
  checkpointed_ = Clock::now();
  const auto drained = hub_.drain();
  if (!drained.ok() || !*drained) return drained;
  // If this fails, the old counters are still right: later events are counted anew at a restart.
  static_cast<void>(hub_.save_counters());
  return true;
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
  const Status ended = saved ? state_->remove_old_logs(sources_) : saved;
  // Without a checkpoint nothing is lost: the old logs are kept and have everything.
  if (!ended && options_.note && !std::exchange(told_trouble_, true)) {
    options_.note("no checkpoint: " + ended.error().to_string());
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
