// Inputs that arrive as lines of native text: standard input, and files that grow.
//
// Whole lines are gathered into batches. There is no client that could be sent an error, so if a
// batch cannot be read or is refused, its lines are tried one by one, and the bad ones are left out
// and noted. What they said is missing, so what was read can no longer be judged (doubt.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "serve/batch_queue.h"
#include "serve/monitor.h"
#include "serve/parse_batch.h"

namespace ouro::serving {

struct LineOptions {
  std::string name;  // For messages.
  BatchRules rules;
  std::size_t line_limit = 0;                    // In bytes; longer lines are left out.
  const std::atomic<bool>* stop = nullptr;       // Reading ends when it turns true.
  std::function<void(const std::string&)> note;  // Messages for the user; may be empty.
};

// Turns bytes into batches.
class LineFeed {
 public:
  LineFeed(const LineOptions& options, BatchQueue& queue, Monitor& monitor)
      : options_(options), queue_(queue), monitor_(monitor) {}

  // Takes the next bytes and submits the lines that they complete. `position` is the place in the
  // file after `bytes`. Waits for the answer. False: the queue is closed.
  bool add(std::string_view bytes, const FilePosition& position = {});
  // The input ended: submits a last line that has no line break. False: the queue is closed.
  bool end();
  // Takes content that does not consist of lines, as one batch. False: the queue is closed.
  bool add_whole(std::string_view bytes, Format format);
  // Forgets an incomplete line.
  void restart() { rest_.clear(); }
  // Says that a part of the input is missing. False: the queue is closed.
  bool miss(const std::string& what, const FilePosition& position = {});

 private:
  bool submit(std::string_view lines, const FilePosition& position);
  // Submits what `lines` were parsed to, and waits for the answer. `alone`: it is a single line.
  bool submit_parsed(const ParsedBatch& parsed, std::string_view lines,
                     const FilePosition& position, bool alone);
  // Submits a batch that holds `bytes`, and waits for the answer, also for room on a full disk.
  // Nothing: the queue is closed, or reading shall end.
  [[nodiscard]] std::optional<Receipt> ask(const std::function<Batch()>& batch, std::size_t bytes);
  bool submit_each(std::string_view lines, const FilePosition& position);
  // Notes that something is left out. False: the queue is closed.
  bool complain(std::string_view what, const FilePosition& position);

  const LineOptions options_;
  BatchQueue& queue_;
  Monitor& monitor_;
  std::string rest_;       // The beginning of a line whose end has not come yet.
  bool skipping_ = false;  // That line is too long: the rest of it is skipped, too.
  std::uint64_t complaints_ = 0;
};

// Reads `file` to its end, or until told to stop. Native text is submitted line by line as it
// comes; other formats are read to the end and submitted as one batch.
void read_input(int file, const LineOptions& options, BatchQueue& queue, Monitor& monitor);

// Reads `path` as it grows, until told to stop. If another file takes its name, reads the old one
// to its end, then those that had the name meanwhile, if the old one is still in its folder, and
// then the new one. If the old one is gone, so may be others: unless it was replaced just now, and
// no file with a similar name was written since, a gap is counted. If the file is cut, or cut and
// written anew, a copy of what it was is looked for in its folder, and read from the same place on;
// then the file is read from its beginning. Without a copy a gap is counted.
//
// `begin` is how far it was read before. If another file has taken its name since, the old one is
// looked for in its folder, under names that begin with the same name (as after a rotation), is
// read to its end, and so are the files between the two, in the order in which they were last
// written. If it is not there, transactions are missing: a gap is counted, and what was read can no
// longer be judged.
void follow_file(const std::string& path, const std::optional<FilePosition>& begin,
                 const LineOptions& options, BatchQueue& queue, Monitor& monitor);

}  // namespace ouro::serving
