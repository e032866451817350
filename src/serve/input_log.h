// The input log: all calls that changed the stream since its last checkpoint.
//
// Records are only appended. A record is a mark, the length of its content, the CRC-32 of that
// length and the content (four bytes each, little endian), and the content. A crash can leave an
// incomplete record at the end; it was never acknowledged, and is cut off. The mark is there to
// find a record behind one whose length is damaged, which is no end then. The stream is
// deterministic, so replaying the log gives the same state and the same events with the same
// numbers.
//
// The version before had no marks, and checksums of the content only. It is read, too, also if
// newer records follow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/result.h"
#include "serve/batch_queue.h"

namespace ouro::serving {

struct LogRecord {
  enum class Kind : std::uint8_t {
    // Calls of the stream:
    Batch = 1,    // append() of `history`. Has `id` and `position`, too.
    Advance = 2,  // advance()
    Finish = 3,   // finish()
    // What was known when this log was begun:
    Seen = 4,      // The batch `id` was applied.
    Floor = 5,     // All batches of the client up to the number of `id` were applied.
    Position = 6,  // A file was read up to `position`.
    // What has to do with a source other than number 0; see sources.h.
    SourceBatch = 7,  // Like Batch, of the stream of `source`.
    Source = 8,       // There is a source with this number, and the client of `id` as its name.
    Doubt = 9,        // A doubt of the source, with the number and the client of `id` as its number
                      // and its reason, and `scope`.
  };
  Kind kind = Kind::Advance;
  std::int64_t time = 0;  // The time passed to the stream, in nanoseconds since 1970.
  // How many transactions the stream was given, this batch included; for calls that concern all
  // streams: how many all were given.
  std::uint64_t txns = 0;
  std::uint32_t source = 0;
  BatchId id = {};
  FilePosition position = {};
  std::string_view history = {};  // Native binary.
  Doubt::Scope scope = Doubt::Scope::None;
};

class LogWriter {
 public:
  LogWriter() = default;
  ~LogWriter();
  LogWriter(LogWriter&& other) noexcept;
  LogWriter& operator=(LogWriter&& other) noexcept;

  // Continues `path` after its first `bytes`, cutting off the rest, or makes it.
  [[nodiscard]] static Result<LogWriter> open(const std::string& path, std::uint64_t bytes);

  // Adds a record to the buffer in memory.
  void append(const LogRecord& record);
  // Writes the buffer to the file. What was flushed survives a crash of this process. After an
  // error it may be called again, and goes on where it stopped.
  [[nodiscard]] Status flush();
  // Whether the last flush() failed because there is no room.
  [[nodiscard]] bool full() const { return full_; }
  // Waits until what was flushed is on disk; it then survives a crash of the machine, too. May be
  // called while another thread appends and flushes.
  [[nodiscard]] Status sync() const;
  // Where the next record will begin.
  [[nodiscard]] std::uint64_t end() const { return bytes_ + buffer_.size(); }
  // Takes back all from `end` on, flushed or not. REQUIRES: `end` is what end() was before.
  [[nodiscard]] Status cut(std::uint64_t end);
  // The size of the file without what is not flushed.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;
  std::string buffer_;
  bool full_ = false;
};

// Says that a log is damaged, and what to do.
[[nodiscard]] Error damaged_log(const std::string& path, std::uint64_t at);

// A part of a log that cannot be read, in bytes.
struct LostPart {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// Calls `visit` with each complete record of `path`, in order, up to the first that a crash left
// incomplete: it ends too early and no record follows, or a sector of it is zero. Returns how many
// bytes that is. The error is one that `visit` returned, or damage: what was there may have been
// acknowledged. With `lost`, damaged parts are left out and added to it instead.
[[nodiscard]] Result<std::uint64_t> read_log(const std::string& path,
                                             const std::function<Status(const LogRecord&)>& visit,
                                             std::vector<LostPart>* lost = nullptr);

}  // namespace ouro::serving
