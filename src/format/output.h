// Where a writer's bytes go: a file, standard output or memory, compressed if needed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro {

// A writer appends to buffer() and calls drain() now and then, which keeps the buffer small.
class Output {
 public:
  virtual ~Output() = default;
  [[nodiscard]] std::string& buffer() { return buffer_; }
  // Writes the buffer and empties it if it is large.
  Status drain() { return buffer_.size() < kDrainBytes ? Status{} : flush(); }
  // Writes the rest and makes the file visible under its name. Call it once, last.
  virtual Status finish() = 0;

 protected:
  static constexpr std::size_t kDrainBytes = 1 << 20;
  virtual Status flush() = 0;
  std::string buffer_;
};

// Keeps everything in buffer(); nothing is written anywhere.
class MemoryOutput : public Output {
 public:
  Status finish() override { return {}; }

 private:
  Status flush() override { return {}; }
};

// Writes `path` ("-": standard output), compressed if its name ends in .gz or .zst. A regular file
// is written as `path`.part and gets its name when finish() succeeds, so it is never incomplete;
// without finish() it is removed, and so it is by remove_half_written(). If `path` is a symbolic
// link, all this happens to the file that it names. Devices and pipes are written directly.
[[nodiscard]] Result<std::unique_ptr<Output>> open_output(const std::string& path);

}  // namespace ouro
