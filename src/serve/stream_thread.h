// The thread that checks: takes batches from the queue, applies them to the stream, logs them, and
// passes answers and events on to the committer. No other thread touches the stream.
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
#include "serve/sources.h"
#include "serve/state_folder.h"

namespace ouro::serving {

class StreamThread {
 public:
  // All must outlive this object. `state` may be null: nothing survives the process then.
  StreamThread(const ServeOptions& options, StateFolder* state, BatchQueue& queue, EventHub& hub,
               Monitor& monitor);

  // Opens the stream, or recovers it from the state folder. REQUIRES: the hub is open.
  [[nodiscard]] Status open();
  // How far a file had been read before a restart; nothing if it was not. REQUIRES: open() was
  // called and run() was not.
  [[nodiscard]] std::optional<FilePosition> position_of(const std::string& path) const;

  // Checks until the queue is closed and empty, and then finishes the stream. The error says that
  // the state cannot be written; run() then closes the queue, refuses what is in it, and failed()
  // is true.
  [[nodiscard]] Result<StreamSummary> run();
  [[nodiscard]] bool failed() const { return failed_; }
  // Closes the queue and answers all batches in it with an error, so that no input waits for ever.
  void refuse(const Error& why);

 private:
  // The time of day, but never earlier than the last time, also across restarts.
  [[nodiscard]] StreamTime now();
  [[nodiscard]] Status begin_after_repair();
  // Whether batches are refused because the disk is full.
  [[nodiscard]] bool is_full() const;
  // The disk is full: batches are refused for a moment.
  void note_full();
  // Writes a record to the log before what it says is done, so that nothing is done that is not
  // logged. The error is a disk that is full or fails; the record is taken back then.
  [[nodiscard]] std::optional<Receipt> write(const LogRecord& record);
  // Takes back the last record, of a batch that the stream refused.
  void take_back(std::uint64_t end);
  // Applies a batch, counts it, and adds its answer to `group`.
  void take(Batch& batch, StreamTime at, Committer::Group& group);
  [[nodiscard]] Receipt apply(const Batch& batch, StreamTime at);
  [[nodiscard]] Receipt forget(const std::string& name);
  [[nodiscard]] Receipt doubt(const Batch& batch, StreamTime at);
  // The source with this name; a new one if there is none.
  [[nodiscard]] Result<SourceStream*> source_of(const std::string& name, StreamTime at);
  void remember(const Batch& batch);
  void advance(StreamTime at);
  void log(const LogRecord& record);
  [[nodiscard]] Error disk_is_full() const;
  // Flushes the log and passes `group` on to the committer.
  [[nodiscard]] Status pass_on(Committer::Group group);
  // One round of run(): takes the batches that wait, or waits kTick for one.
  [[nodiscard]] Status step();
  [[nodiscard]] Result<StreamSummary> finish();
  [[nodiscard]] bool checkpoint_is_due() const;
  // Saves a checkpoint, or begins to save one while the stream goes on.
  [[nodiscard]] Status checkpoint();
  [[nodiscard]] Status begin_checkpoint();
  // Waits until everything done so far, input and events, is on disk; a checkpoint requires that.
  // False: the disk is full.
  [[nodiscard]] Result<bool> settle();
  [[nodiscard]] Status begin_log();
  // Looks whether the checkpoint that is being saved is complete.
  void watch_checkpoint();
  // A checkpoint was saved, or could not be.
  void end_checkpoint(const Status& saved);
  void tell_monitor();

  using Clock = std::chrono::steady_clock;

  const ServeOptions& options_;
  StateFolder* state_;
  BatchQueue& queue_;
  EventHub& hub_;
  Monitor& monitor_;
  Sources sources_;
  // Events of before a source was forgotten, or before it got a doubt, and that doubt.
  std::vector<SourceEvents> last_words_;
  Progress progress_;
  Vitals vitals_;
  std::optional<Committer> committer_;
  std::atomic<bool> failed_{false};
  std::vector<SourceEvents> held_;     // What waits until the log is flushed.
  bool full_ = false;                  // The last batch found no room on the disk.
  Clock::time_point try_again_{};      // Until then batches are refused without trying.
  bool logged_ = false;                // Something was logged that is not flushed.
  bool flushed_ = false;               // Something was flushed that is not passed on to be synced.
  std::optional<Error> broken_;        // The log cannot be written.
  bool changed_ = false;               // Something was logged since the last checkpoint began.
  bool saving_ = false;                // A checkpoint is being saved in the background.
  std::optional<Error> save_problem_;  // Of that checkpoint.
  bool backlog_ = false;               // Much waited in the queue, and some of that still does.
  bool told_trouble_ = false;          // The user was told that a checkpoint could not be saved.
  Clock::time_point told_monitor_{};
  Clock::time_point checkpointed_ = Clock::now();  // When the last checkpoint began.
  // After a restart nothing times out before this moment: senders need time to connect again.
  Clock::time_point patient_until_{};
};

}  // namespace ouro::serving
