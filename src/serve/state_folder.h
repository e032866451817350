// The folder of a service that survives crashes: a checkpoint of the stream, and the input since.
//
//   manifest        which of these files there are, and the options that must not change
//   checkpoint      made by Stream::save(), replaced in one step
//   input-N.log     the calls of the stream; a larger N is later
//   events.ndjson   the events; older ones are in events.old.ndjson
//   webhook         the number of the last event that the webhook delivered
//   counters        how many events there were when the last log was begun (event_hub.h)
//   spill/          what the stream moves out of memory
//   sources/        the same, checkpoint and spill, of each further source (sources.h)
//   lock            held by the process that uses the folder
//
// Whatever is needed after a crash has a checksum: each record of a log, each event, and the other
// files as a whole. A file that is missing, older than it was, or damaged is refused; with
// OnDamage::Keep what is left is used, and lost() says what is not.
//
// A new log is begun together with a checkpoint; once the checkpoint is saved, older logs are
// removed. A crash at any point is safe: all logs that exist, replayed in order, continue the
// checkpoint that exists. Each record has the number of transactions that the stream had been
// given, so records that the checkpoint includes are recognised and skipped.
//
// The version before had no manifest: it had a file `settings` and a file `sources/forgotten`, and
// events and small files without checksums. open() converts such a folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ouro/result.h"
#include "ouro/stream.h"
#include "serve/input_log.h"
#include "serve/manifest.h"
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
  enum class OnDamage : std::uint8_t { Refuse, Keep };

  StateFolder() = default;
  ~StateFolder();
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&& other) noexcept;

  // Makes or opens the folder. Fails if another process uses it, or if it was made with other
  // `settings`: lines of text, compared as a whole.
  [[nodiscard]] static Result<StateFolder> open(const std::string& path,
                                                const std::string& settings,
                                                OnDamage on_damage = OnDamage::Refuse);

  struct Hub {
    // Takes events of the replay, which may have been published before the crash.
    std::function<void(SourceEvents)> told;
    // The number of the last event of a source that was published. Once something is lost, further
    // events get greater numbers, so that none is taken for one that was published.
    std::function<std::uint64_t(std::uint32_t source)> published;
  };
  // Restores the streams and `progress`. Call it once. `sources` must outlive the folder.
  [[nodiscard]] Status recover(Sources& sources, Progress& progress, const Hub& hub);
  [[nodiscard]] bool repairs() const { return on_damage_ == OnDamage::Keep; }
  // What could not be used, in words.
  [[nodiscard]] const std::vector<std::string>& lost() const { return lost_; }
  // What of the sources cannot be judged for that reason.
  [[nodiscard]] Doubt::Scope lost_scope() const { return lost_scope_; }
  // Whether there was anything to recover.
  [[nodiscard]] bool found() const { return found_; }

  // The log to append to. REQUIRES: recover() was called.
  [[nodiscard]] LogWriter& log() { return log_; }
  // Begins a new log. REQUIRES: the streams that were changed are saved or being saved as they are
  // now; before that, everything that was logged was synced, and all events were on disk.
  [[nodiscard]] Status begin_log(const Progress& progress, const Sources& sources);
  // Removes all logs but the last. REQUIRES: the checkpoints with which the last was begun are
  // saved.
  [[nodiscard]] Status remove_old_logs(const Sources& sources);
  // Whether there must be a file of counters.
  [[nodiscard]] bool has_counters() const { return manifest_.counters; }

  [[nodiscard]] std::string events_file() const { return path_ + "/events.ndjson"; }
  [[nodiscard]] std::string webhook_file() const { return path_ + "/webhook"; }
  [[nodiscard]] std::string counters_file() const { return path_ + "/counters"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] std::string checkpoint_file() const { return path_ + "/checkpoint"; }
  [[nodiscard]] std::string log_file(std::uint64_t number) const;
  [[nodiscard]] std::string manifest_file() const { return path_ + "/manifest"; }
  [[nodiscard]] Status read_manifest(const std::string& settings);
  // Whether nothing was ever stored here.
  [[nodiscard]] bool is_new() const;
  [[nodiscard]] Status convert();
  [[nodiscard]] Status write_manifest(const Sources& sources);
  // Refuses what is lost, or notes it.
  [[nodiscard]] Status lose(const Error& error);
  [[nodiscard]] Status replay(Sources& sources, Progress& progress, const Hub& hub,
                              std::uint64_t& whole);

  std::string path_;
  int lock_ = -1;  // The descriptor of the locked file.
  bool found_ = false;
  OnDamage on_damage_ = OnDamage::Refuse;
  Manifest manifest_;
  std::vector<std::string> lost_;
  Doubt::Scope lost_scope_ = Doubt::Scope::Reads;
  std::vector<std::uint64_t> logs_;  // The numbers of the logs that exist, in order.
  LogWriter log_;
};

// The record of a doubt that `source` has.
[[nodiscard]] LogRecord record_of(const SourceStream& source, const Doubt& doubt);

}  // namespace ouro::serving
