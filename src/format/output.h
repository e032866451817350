// Where a writer's bytes go.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ouro/result.h"

namespace ouro {

// A writer appends to buffer() and calls drain() now and then; memory stays bounded.
class Output {
 public:
  virtual ~Output() = default;
  [[nodiscard]] std::string& buffer() { return buffer_; }
  // Passes the buffer on if it is large.
  Status drain() { return buffer_.size() < kDrainBytes ? Status{} : flush(); }
  // Passes the rest on and makes the result visible under its name.
  virtual Status finish() = 0;

 protected:
  static constexpr std::size_t kDrainBytes = 1 << 20;
  virtual Status flush() = 0;
  std::string buffer_;
};

// Keeps everything in buffer().
class MemoryOutput : public Output {
 public:
  Status finish() override { return {}; }

 private:
  Status flush() override { return {}; }
};

// Writes `path` ("-": standard output), compressed if its name ends in .gz or .zst. A regular file
// appears when finish() succeeds, complete; until then it has the name `path`.part. If `path` is a
// symbolic link, that is about the file it names. Devices and pipes are written as we go.
[[nodiscard]] Result<std::unique_ptr<Output>> open_output(const std::string& path);

}  // namespace ouro
