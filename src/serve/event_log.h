// Events on disk: lines by their numbers, and not more of them than wanted.
//
// Two files: the one that grows, and the one before it. When the first has reached half of the
// limit it replaces the second, in one step, and a new one is begun; so between a half and all of
// the limit is kept, and always the latest. The numbers are those of the lines themselves; the
// files have no gaps within or between them.
//
// Thread safety: none, but write() may run while others read what was added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ouro/result.h"

namespace ouro::serving {

class EventLog {
 public:
  EventLog() = default;
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // `limit`: bytes. The error is a file that cannot be used, or is none of ours.
  [[nodiscard]] Status open(const std::string& path, std::uint64_t limit);
  [[nodiscard]] bool is_open() const { return current_.fd >= 0; }

  // Writes the line after the last one; add() makes it known.
  [[nodiscard]] Status write(const std::string& line) const;
  void add(const std::string& line);
  [[nodiscard]] Status sync() const;

  // Whether it is time to drop the older file, which has the events up to this number (zero: none).
  [[nodiscard]] bool is_full() const { return current_.bytes() > limit_ / 2; }
  [[nodiscard]] std::uint64_t last_of_older() const {
    return older_.ends.empty() ? 0 : current_.first - 1;
  }
  // REQUIRES: nothing was written that was not added.
  [[nodiscard]] Status drop_older();

  // The first and the last that are kept; if none is, the last is the one before the first.
  [[nodiscard]] std::uint64_t first() const {
    return older_.ends.empty() ? current_.first : older_.first;
  }
  [[nodiscard]] std::uint64_t last() const { return current_.first + current_.ends.size() - 1; }
  // Empty if it cannot be read. REQUIRES: first() <= number <= last().
  [[nodiscard]] std::string read(std::uint64_t number) const;

 private:
  struct Part {
    int fd = -1;
    std::uint64_t first = 1;          // The number of its first line.
    std::vector<std::uint64_t> ends;  // Where each of its lines ends, in bytes.
    [[nodiscard]] std::uint64_t bytes() const { return ends.empty() ? 0 : ends.back(); }
  };
  [[nodiscard]] std::string older_path() const;
  [[nodiscard]] static Status load(const std::string& path, Part& part);
  [[nodiscard]] static std::string read(const Part& part, std::uint64_t number);
  [[nodiscard]] Status begin_current();

  std::string path_;
  std::uint64_t limit_ = 0;
  Part older_;
  Part current_;
};

}  // namespace ouro::serving
