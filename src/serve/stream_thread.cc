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
    : options_(options), state_(state), queue_(queue), hub_(hub), monitor_(monitor) {}

Status StreamThread::open() {
  auto stream = state_ == nullptr ? Stream::open(options_.stream)
                                  : state_->recover(options_.stream, progress_,
                                                    [&](std::vector<StreamEvent> events) {
                                                      hub_.publish(std::move(events));
                                                    });
  if (!stream.ok()) return stream.error();
  stream_.emplace(*std::move(stream));
  if (state_ != nullptr && state_->found()) patient_until_ = Clock::now() + options_.stream.timeout;
  committer_.emplace(hub_);
  if (state_ != nullptr) committer_->use(&state_->log());
  tell_monitor();
  return {};
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
  if (!batches.empty() || vitals_.stream.window_txns > 0) advance(at);
  group.events = stream_->poll();
  if (auto passed = pass_on(std::move(group)); !passed) return passed;
  if (Clock::now() - told_monitor_ >= kMonitorPause) tell_monitor();
  if (!saving_) return checkpoint_is_due() ? begin_checkpoint() : Status();
  if (const auto saved = stream_->saved()) end_checkpoint(*saved);
  return {};
}

void StreamThread::take(Batch& batch, StreamTime at, Committer::Group& group) {
  const Clock::time_point begun = Clock::now();
  Receipt receipt = apply(batch, at);
  const Clock::time_point ended = Clock::now();
  if (receipt.error) {
    monitor_.count_rejected();
  } else if (receipt.repeated) {
    ++vitals_.repeated;
  } else {
    ++vitals_.batches;
    for (const TxnStatus status : columns_of(*batch.history).txn_status) {
      ++vitals_.txns[static_cast<std::size_t>(status)];
    }
    vitals_.checks.add(std::chrono::duration<double>(ended - begun).count());
    vitals_.lag_seconds = std::chrono::duration<double>(ended - batch.arrived).count();
    // The summary is refreshed only now and then; step() must know now that transactions can time
    // out.
    vitals_.stream.window_txns += batch.history->txn_count();
  }
  group.answers.emplace_back(std::move(batch.done), std::move(receipt));
}

Receipt StreamThread::apply(const Batch& batch, StreamTime at) {
  if (!batch.id.client.empty() && progress_.seen.contains(batch.id.client, batch.id.number)) {
    return {.error = {}, .repeated = true};
  }
  if (auto taken = stream_->append(batch.history, at); !taken) return {.error = taken.error()};
  progress_.given += batch.history->txn_count();
  if (!batch.id.client.empty()) progress_.seen.add(batch.id.client, batch.id.number);
  if (!batch.position.path.empty()) progress_.positions[batch.position.path] = batch.position;
  log({.kind = LogRecord::Kind::Batch,
       .time = at.count(),
       .txns = progress_.given,
       .id = batch.id,
       .position = batch.position,
       .history = batch.binary});
  return {};
}

void StreamThread::advance(StreamTime at) {
  if (Clock::now() < patient_until_) return;
  stream_->advance(at);
  log({.kind = LogRecord::Kind::Advance, .time = at.count(), .txns = progress_.given});
}

void StreamThread::log(const LogRecord& record) {
  if (state_ == nullptr) return;
  state_->log().append(record);
  logged_ = true;
  changed_ = true;
}

Status StreamThread::pass_on(Committer::Group group) {
  group.durable = logged_;
  if (std::exchange(logged_, false)) {
    if (auto flushed = state_->log().flush(); !flushed) {
      for (auto& [done, receipt] : group.answers) {
        if (!receipt.error) receipt.error = flushed.error();
        if (done) done(receipt);
      }
      return flushed;
    }
  }
  committer_->add(std::move(group));
  return committer_->failed() ? committer_->drain() : Status();
}

Result<StreamSummary> StreamThread::finish() {
  const StreamTime at = now();
  const StreamSummary summary = stream_->finish();
  log({.kind = LogRecord::Kind::Finish, .time = at.count(), .txns = progress_.given});
  Committer::Group group;
  group.events = stream_->poll();
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
  if (state_ == nullptr || !changed_) return false;
  const auto pause = Clock::now() - checkpointed_;
  // A checkpoint waits for the end of a sweep of the stream, but at most one more interval.
  if (stream_->sweeping() && pause < 2 * options_.checkpoint) return false;
  return pause >= options_.checkpoint ||
         (pause >= kLeastPause && state_->log().bytes() >= options_.checkpoint_bytes);
}

Status StreamThread::checkpoint() {
  if (auto settled = settle(); !settled) return settled;
  const Status saved = state_->save(*stream_);
  if (saved) {
    if (auto begun = begin_log(); !begun) return begun;
  }
  end_checkpoint(saved);
  return {};
}

Status StreamThread::begin_checkpoint() {
  if (auto settled = settle(); !settled) return settled;
  if (auto begun = state_->begin_save(*stream_); !begun) {
    end_checkpoint(begun);
    return {};
  }
  saving_ = true;
  return begin_log();
}

Status StreamThread::settle() {
  if (auto drained = committer_->drain(); !drained) return drained;
  checkpointed_ = Clock::now();
  return hub_.drain();
}

Status StreamThread::begin_log() {
  changed_ = false;
  const Status begun = state_->begin_log(progress_);
  committer_->use(&state_->log());
  return begun;
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
  vitals_.stream = stream_->summary();
  monitor_.update(vitals_);
  told_monitor_ = Clock::now();
}

}  // namespace ouro::serving
