// The thread that checks: takes batches from the queue, does to the stream what has to be done,
// logs that, and passes answers and events on.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ouro/result.h"
#include "ouro/serve.h"
#include "ouro/stream.h"
#include "serve/batch_queue.h"
#include "serve/committer.h"
#include "serve/event_hub.h"
#include "serve/monitor.h"
#include "serve/state_folder.h"

namespace ouro::serving {

class StreamThread {
 public:
  // All must outlive it; `state` null: nothing is kept.
  StreamThread(const ServeOptions& options, StateFolder* state, BatchQueue& queue, EventHub& hub,
               Monitor& monitor);

  // Opens the stream, or recovers it. REQUIRES: the hub is open.
  [[nodiscard]] Status open();
  // How far a file was read; nothing if it is new.
  [[nodiscard]] std::optional<FilePosition> position_of(const std::string& path) const;

  // Checks until the queue is closed and empty, and then finishes the stream. The error is a state
  // that cannot be written; from then on failed() is true, and the queue should be closed.
  [[nodiscard]] Result<StreamSummary> run();
  [[nodiscard]] bool failed() const { return failed_; }
  // Instead of run(): closes the queue and answers what waits there, so that nobody waits for
  // ever.
  void refuse(const Error& why);

 private:
  [[nodiscard]] StreamTime now();
  void take(Batch& batch, StreamTime at, Committer::Group& group);
  [[nodiscard]] Receipt apply(const Batch& batch, StreamTime at);
  void advance(StreamTime at);
  void log(const LogRecord& record);
  [[nodiscard]] Status pass_on(Committer::Group group);
  [[nodiscard]] Status step();
  [[nodiscard]] Result<StreamSummary> finish();
  [[nodiscard]] bool checkpoint_is_due() const;
  // Saves a checkpoint at once; or begins one, while the stream goes on.
  [[nodiscard]] Status checkpoint();
  [[nodiscard]] Status begin_checkpoint();
  // What saving needs: all that was done so far is on disk.
  [[nodiscard]] Status settle();
  [[nodiscard]] Status begin_log();
  void end_checkpoint(const Status& saved);
  void tell_monitor();

  using Clock = std::chrono::steady_clock;

  const ServeOptions& options_;
  StateFolder* state_;
  BatchQueue& queue_;
  EventHub& hub_;
  Monitor& monitor_;
  std::optional<Stream> stream_;
  Progress progress_;
  Vitals vitals_;
  std::optional<Committer> committer_;
  std::atomic<bool> failed_{false};
  bool logged_ = false;   // Something was logged since the last flush.
  bool changed_ = false;  // Something was done since the last checkpoint began.
  bool saving_ = false;   // A checkpoint is being saved.
  bool told_trouble_ = false;
  Clock::time_point told_monitor_{};
  Clock::time_point checkpointed_ = Clock::now();
  Clock::time_point patient_until_{};  // No time-outs before: senders come back after a restart.
};

}  // namespace ouro::serving
