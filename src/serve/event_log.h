// The latest events on disk, one line each, found by number.
//
// There are two files: the current one, which grows, and the older one. When the current file has
// reached half of the limit, it replaces the older one in one step and a new one is begun. So the
// latest events are kept, between a half and all of the limit. Each line has the number of its
// event in it; numbers have no gaps, neither within a file nor between the two.
//
// Thread safety: none, but one thread may write() while others read() lines that were added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ouro/result.h"

namespace ouro::serving {

// Gives each line of the files that has no checksum one. What a crash cut off is left out.
[[nodiscard]] Status seal_events(const std::string& path);

class EventLog {
 public:
  enum class OnDamage : std::uint8_t { Refuse, Keep };

  EventLog() = default;
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Opens or makes the files; `limit` is in bytes. The error is a file that cannot be read or
  // written, or does not hold the events that it should.
  [[nodiscard]] Status open(const std::string& path, std::uint64_t limit,
                            OnDamage on_damage = OnDamage::Refuse);
  // What was damaged, in words; with OnDamage::Keep. In the place of a lost event is one that says
  // so.
  [[nodiscard]] const std::vector<std::string>& lost() const { return lost_; }
  [[nodiscard]] bool is_open() const { return current_.fd >= 0; }

  // Writes the next line to the file. It counts only once add() was called with it, too: so write()
  // needs no lock against readers. `line` ends with a line break.
  // After an error it may be called again with the same line.
  [[nodiscard]] Status write(const std::string& line);
  // Whether the last write() failed because there is no room.
  [[nodiscard]] bool full() const { return full_; }
  void add(const std::string& line);
  [[nodiscard]] Status sync() const;

  // Whether it is time to drop the older file.
  [[nodiscard]] bool is_full() const { return current_.bytes() > limit_ / 2; }
  // The number of the last event in the older file; zero if there is none.
  [[nodiscard]] std::uint64_t last_of_older() const {
    return older_.ends.empty() ? 0 : current_.first - 1;
  }
  // Drops the older file; the current one takes its place. REQUIRES: every line written was added.
  [[nodiscard]] Status drop_older();

  // The numbers of the first and the last event that are kept; if there are none, last() is
  // first() - 1.
  [[nodiscard]] std::uint64_t first() const {
    return older_.ends.empty() ? current_.first : older_.first;
  }
  [[nodiscard]] std::uint64_t last() const { return current_.first + current_.ends.size() - 1; }
  // The line of an event, without its checksum; empty if it cannot be read, or is damaged.
  // REQUIRES: first() <= number <= last().
  [[nodiscard]] std::string read(std::uint64_t number) const;

 private:
  struct Part {
    int fd = -1;
    std::uint64_t first = 1;          // The number of its first line.
    std::vector<std::uint64_t> ends;  // Where each of its lines ends, in bytes.
    [[nodiscard]] std::uint64_t bytes() const { return ends.empty() ? 0 : ends.back(); }
  };
  [[nodiscard]] std::string older_path() const;
  // Finds the lines of an open file, of which the first has that number; zero: any.
  [[nodiscard]] Status load(const std::string& path, std::uint64_t first, Part& part);
  [[nodiscard]] static std::string read(const Part& part, std::uint64_t number);
  [[nodiscard]] Status begin_current();

  std::string path_;
  std::uint64_t limit_ = 0;
  Part older_;
  Part current_;
  bool full_ = false;
  OnDamage on_damage_ = OnDamage::Refuse;
  std::vector<std::string> lost_;
};

// An event in the place of one that is lost.
[[nodiscard]] std::string lost_event(std::uint64_t number);

}  // namespace ouro::serving
