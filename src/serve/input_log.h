// The input log: everything that was done to the stream since its last checkpoint.
//
// Appended to only. A record is its length and CRC-32 (four bytes each, little endian) and its
// content. A crash can leave a record at the end that is not whole; it was never acknowledged, and
// is cut off. The same calls give the same events, so whoever replays the log gets the same state,
// and the same numbers of events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ouro/result.h"
#include "serve/batch_queue.h"

namespace ouro::serving {

struct LogRecord {
  enum class Kind : std::uint8_t {
    Batch = 1,     // append(): `history`, `id`, `position`.
    Advance = 2,   // advance()
    Finish = 3,    // finish()
    Seen = 4,      // Known from before this log: the batch `id` was applied.
    Floor = 5,     // Known from before: all batches of the client up to this number were applied.
    Position = 6,  // Known from before: a file was read up to `position`.
  };
  Kind kind = Kind::Advance;
  std::int64_t time = 0;   // What the stream was told; Batch, Advance, Finish.
  std::uint64_t txns = 0;  // Transactions given to the stream so far, this batch included.
  BatchId id = {};
  FilePosition position = {};
  std::string_view history = {};  // Native binary.
};

class LogWriter {
 public:
  LogWriter() = default;
  ~LogWriter();
  LogWriter(LogWriter&& other) noexcept;
  LogWriter& operator=(LogWriter&& other) noexcept;

  // Continues `path` behind its first `bytes`, or makes it.
  [[nodiscard]] static Result<LogWriter> open(const std::string& path, std::uint64_t bytes);

  void append(const LogRecord& record);
  // Passes what was appended to the system: from here on only the machine can lose it.
  [[nodiscard]] Status flush();
  // What was flushed is on disk. May be called while others append and flush.
  [[nodiscard]] Status sync() const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;
  std::string buffer_;
};

// Calls `visit` with each whole record of `path`, in order; an error of it ends the reading.
// Returns how many bytes are whole.
[[nodiscard]] Result<std::uint64_t> read_log(const std::string& path,
                                             const std::function<Status(const LogRecord&)>& visit);

}  // namespace ouro::serving
