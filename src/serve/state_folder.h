// What survives a crash, in a folder: a checkpoint of the stream, and the input since then.
//
//   settings        the options that a stream must keep
//   checkpoint      Stream::save(), replaced in one step
//   input-N.log     what was done to the stream, in the order of N
//   events.ndjson   what was found; before that, what is in events.old.ndjson
//   spill/          what the stream moves out of memory
//   lock            held by the process that uses the folder
//
// A new log is begun when a checkpoint is; when that is saved, the older ones are removed. Wherever
// that is interrupted, all logs there are, replayed in order, continue the checkpoint there is:
// records carry the number of transactions that the stream was given, so those that it has are
// skipped.
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

// What the service knows besides the stream.
struct Progress {
  SeenBatches seen;
  std::map<std::string, FilePosition> positions;  // By path.
  std::uint64_t given = 0;                        // Transactions given to the stream.
  std::int64_t time = 0;                          // The last that the stream was told.
};

class StateFolder {
 public:
  StateFolder() = default;
  ~StateFolder();
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&& other) noexcept;

  // Makes or opens the folder. The error is one that others use, or that has other `settings`:
  // lines that name what must stay the same.
  [[nodiscard]] static Result<StateFolder> open(const std::string& path,
                                                const std::string& settings);

  // The stream as it was; whatever it tells on the way goes to `told`. REQUIRES: once.
  [[nodiscard]] Result<Stream> recover(const StreamOptions& options, Progress& progress,
                                       const std::function<void(std::vector<StreamEvent>)>& told);
  // Whether there was anything to recover.
  [[nodiscard]] bool found() const { return found_; }

  // The log in use. REQUIRES: recovered.
  [[nodiscard]] LogWriter& log() { return log_; }
  // Saves the stream, at once or by begin_save(). REQUIRES: all that was logged is synced, all
  // events are told and on disk.
  [[nodiscard]] Status save(Stream& stream) const { return stream.save(checkpoint_file()); }
  [[nodiscard]] Status begin_save(Stream& stream) const {
    return stream.begin_save(checkpoint_file());
  }
  // Begins a new log. REQUIRES: it was saved or that was begun, and nothing was done since.
  [[nodiscard]] Status begin_log(const Progress& progress);
  // Removes all logs but the last. REQUIRES: what was begun to be saved before it is saved.
  void remove_old_logs();

  [[nodiscard]] std::string events_file() const { return path_ + "/events.ndjson"; }
  [[nodiscard]] std::string webhook_file() const { return path_ + "/webhook"; }

 private:
  [[nodiscard]] std::string checkpoint_file() const { return path_ + "/checkpoint"; }
  [[nodiscard]] std::string log_file(std::uint64_t number) const;
  [[nodiscard]] Status check_settings(const std::string& wanted) const;
  [[nodiscard]] Status sync_folder() const;

  std::string path_;
  int lock_ = -1;
  bool found_ = false;
  std::vector<std::uint64_t> logs_;  // Numbers of those that are there, in order.
  LogWriter log_;
};

// Replaces `path` by `content` in one step.
[[nodiscard]] Status replace_file(const std::string& path, const std::string& content);

}  // namespace ouro::serving
