// The folder of a service that survives crashes: a checkpoint of the stream, and the input since.
//
//   settings        the options that must not change while the folder is used
//   checkpoint      made by Stream::save(), replaced in one step
//   input-N.log     the calls of the stream; a larger N is later
//   events.ndjson   the events; older ones are in events.old.ndjson
//   webhook         the number of the last event that the webhook delivered
//   spill/          what the stream moves out of memory
//   lock            held by the process that uses the folder
//
// A new log is begun together with a checkpoint; once the checkpoint is saved, older logs are
// removed. A crash at any point is safe: all logs that exist, replayed in order, continue the
// checkpoint that exists. Each record has the number of transactions that the stream had been
// given, so records that the checkpoint includes are recognised and skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ouro/result.h"
#include "ouro/stream.h"
#include "serve/input_log.h"
#include "serve/seen_batches.h"

namespace ouro::serving {

// What a service must remember besides the stream.
struct Progress {
  SeenBatches seen;
  std::map<std::string, FilePosition> positions;  // By path.
  std::uint64_t given = 0;                        // How many transactions the stream was given.
  // The latest time passed to the stream, in nanoseconds since 1970.
  std::int64_t time = 0;
};

class StateFolder {
 public:
  StateFolder() = default;
  ~StateFolder();
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&& other) noexcept;

  // Makes or opens the folder. Fails if another process uses it, or if it was made with other
  // `settings`: lines of text, compared as a whole.
  [[nodiscard]] static Result<StateFolder> open(const std::string& path,
                                                const std::string& settings);

  // Restores the stream and `progress`. Events of the replay are passed to `told`; those may have
  // been published before the crash. Call it once.
  [[nodiscard]] Result<Stream> recover(const StreamOptions& options, Progress& progress,
                                       const std::function<void(std::vector<StreamEvent>)>& told);
  // Whether there was anything to recover.
  [[nodiscard]] bool found() const { return found_; }

  // The log to append to. REQUIRES: recover() was called.
  [[nodiscard]] LogWriter& log() { return log_; }
  // Saves a checkpoint, now or in the background (Stream::begin_save()). REQUIRES: everything that
  // was logged is synced, and all events are on disk.
  [[nodiscard]] Status save(Stream& stream) const { return stream.save(checkpoint_file()); }
  [[nodiscard]] Status begin_save(Stream& stream) const {
    return stream.begin_save(checkpoint_file());
  }
  // Begins a new log. REQUIRES: save() or begin_save() was called, and the stream was not changed
  // since.
  [[nodiscard]] Status begin_log(const Progress& progress);
  // Removes all logs but the last. REQUIRES: the checkpoint with which the last was begun is saved.
  void remove_old_logs();

  [[nodiscard]] std::string events_file() const { return path_ + "/events.ndjson"; }
  [[nodiscard]] std::string webhook_file() const { return path_ + "/webhook"; }

 private:
  [[nodiscard]] std::string checkpoint_file() const { return path_ + "/checkpoint"; }
  [[nodiscard]] std::string log_file(std::uint64_t number) const;
  [[nodiscard]] Status check_settings(const std::string& wanted) const;

  std::string path_;
  int lock_ = -1;  // The descriptor of the locked file.
  bool found_ = false;
  std::vector<std::uint64_t> logs_;  // The numbers of the logs that exist, in order.
  LogWriter log_;
};

// Replaces the content of `path` in one step: a crash leaves the old content or the new. Once it
// has returned, the new content survives a crash of the machine.
[[nodiscard]] Status replace_file(const std::string& path, const std::string& content);

}  // namespace ouro::serving
