// Histories that arrive as lines: standard input, and files that grow.
//
// Whole lines are gathered into batches. There is nobody to send a bad batch back to, so of one
// that cannot be read only the bad lines are left out, and noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "serve/batch_queue.h"
#include "serve/monitor.h"
#include "serve/parse_batch.h"

namespace ouro::serving {

struct LineOptions {
  std::string name;  // For messages.
  BatchRules rules;
  std::size_t line_limit = 0;  // Bytes; longer lines are left out.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> note;
};

// Turns bytes into batches.
class LineFeed {
 public:
  LineFeed(const LineOptions& options, BatchQueue& queue, Monitor& monitor)
      : options_(options), queue_(queue), monitor_(monitor) {}

  // Takes more bytes; `position` is where the file is behind them. False: nothing more is accepted.
  bool add(std::string_view bytes, const FilePosition& position = {});
  // The last line has no line break.
  bool end();
  // Forgets what is left of a line.
  void restart() { rest_.clear(); }

 private:
  bool submit(std::string_view lines, const FilePosition& position);
  bool submit_parsed(ParsedBatch parsed, std::string_view lines, const FilePosition& position,
                     bool alone);
  bool submit_each(std::string_view lines, const FilePosition& position);
  void complain(std::string_view what);

  const LineOptions options_;
  BatchQueue& queue_;
  Monitor& monitor_;
  std::string rest_;       // A line whose end is still to come.
  bool skipping_ = false;  // The rest of a line that is too long.
  std::uint64_t complaints_ = 0;
};

// Reads `file` to its end, or until told to stop. Lines as they come; other formats as a whole.
void read_input(int file, const LineOptions& options, BatchQueue& queue, Monitor& monitor);

// Reads `path` as it grows, until told to stop, from `begin` on if that is still the same file. If
// the file is replaced, it is read to its end and then the new one; if it is cut, from its
// beginning.
void follow_file(const std::string& path, const std::optional<FilePosition>& begin,
                 const LineOptions& options, BatchQueue& queue, Monitor& monitor);

}  // namespace ouro::serving
