// The folder of a service that survives crashes: a checkpoint of the stream, and the input since.
//
//   settings        the options that must not change while the folder is used
//   checkpoint      made by Stream::save(), replaced in one step
//   input-N.log     the calls of the stream; a larger N is later
//   events.ndjson   the events; older ones are in events.old.ndjson
//   webhook         the number of the last event that the webhook delivered
//   counters        how many events there were when the last log was begun (event_hub.h)
//   spill/          what the stream moves out of memory
//   sources/        the same, checkpoint and spill, of each further source (sources.h)
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
#include "serve/sources.h"

namespace ouro::serving {

// What a service must remember besides the stream.
struct Progress {
  SeenBatches seen;
  std::map<std::string, FilePosition> positions;  // By path.
  std::uint64_t given = 0;                        // How many transactions all streams were given.
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

  // Restores the streams and `progress`. Events of the replay are passed to `told`; those may have
  // been published before the crash. Call it once.
  [[nodiscard]] Status recover(Sources& sources, Progress& progress,
                               const std::function<void(SourceEvents)>& told);
  // recover() leaves out what is damaged of the logs.
  void repair() { repairs_ = true; }
  // What it left out, in words.
  [[nodiscard]] const std::vector<std::string>& lost() const { return lost_; }
  // Whether there was anything to recover.
  [[nodiscard]] bool found() const { return found_; }

  // The log to append to. REQUIRES: recover() was called.
  [[nodiscard]] LogWriter& log() { return log_; }
  // Begins a new log. REQUIRES: the streams that were changed are saved or being saved as they are
  // now; before that, everything that was logged was synced, and all events were on disk.
  [[nodiscard]] Status begin_log(const Progress& progress, const Sources& sources);
  // Removes all logs but the last. REQUIRES: the checkpoints with which the last was begun are
  // saved.
  void remove_old_logs();

  [[nodiscard]] std::string events_file() const { return path_ + "/events.ndjson"; }
  [[nodiscard]] std::string webhook_file() const { return path_ + "/webhook"; }
  [[nodiscard]] std::string counters_file() const { return path_ + "/counters"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] std::string checkpoint_file() const { return path_ + "/checkpoint"; }
  [[nodiscard]] std::string log_file(std::uint64_t number) const;
  [[nodiscard]] Status check_settings(const std::string& wanted) const;

  std::string path_;
  int lock_ = -1;  // The descriptor of the locked file.
  bool found_ = false;
  bool repairs_ = false;
  std::vector<std::string> lost_;
  std::vector<std::uint64_t> logs_;  // The numbers of the logs that exist, in order.
  LogWriter log_;
};

// The record of a doubt that `source` has.
[[nodiscard]] LogRecord record_of(const SourceStream& source, const Doubt& doubt);

// Replaces the content of `path` in one step: a crash leaves the old content or the new. Once it
// has returned, the new content survives a crash of the machine.
[[nodiscard]] Status replace_file(const std::string& path, const std::string& content);

}  // namespace ouro::serving
