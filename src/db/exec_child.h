// A driver in another process: we write requests, one line of JSON each, to its standard input, and
// read answers from its standard output. docs/drivers.md is the protocol.
//
// Whatever the process does, ask() returns by its deadline: the process may end, be killed, never
// answer, stop reading, or write half a line, an endless one, or nonsense. After an end or nonsense
// nothing more can be asked; after a time-out the others may go on, and the late answer is dropped.
//
// Thread safety: ask() may be called from several threads; answers find their question by its id.
// Whoever waits first reads for all.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "db/process.h"
#include "format/json_tree.h"
#include "ouro/result.h"

namespace ouro::db {

class ExecChild {
 public:
  using Clock = std::chrono::steady_clock;

  // How a question was answered.
  enum class Heard : std::uint8_t {
    Answer,    // By a line with its id.
    Late,      // Not until the deadline.
    Ended,     // The process ended, or closed its output.
    Nonsense,  // The process wrote something that is no answer to any question.
  };
  struct [[nodiscard]] Outcome {
    Heard heard = Heard::Answer;
    std::string what = {};  // Says what went wrong, for people.
    [[nodiscard]] bool ok() const { return heard == Heard::Answer; }
  };

  // Starts `command` by /bin/sh, in our folder and with our environment. What it prints to its
  // standard error is appended to `log`.
  static Result<std::shared_ptr<ExecChild>> start(const std::string& command,
                                                  const std::filesystem::path& log);
  // Kills the process if it is broken; otherwise ends its input and lets it end by itself.
  ~ExecChild();
  ExecChild(const ExecChild&) = delete;
  ExecChild& operator=(const ExecChild&) = delete;

  // Sends a request and waits for its answer, which replaces `answer`. `members` are those of the
  // request without its id: R"("do":"begin")". If `stop` is not null and turns true, the answer is
  // late at once.
  Outcome ask(std::string_view members, Clock::time_point deadline, JsonTree& answer,
              const std::atomic<bool>* stop = nullptr);
  // Whether the process ended or wrote nonsense.
  [[nodiscard]] bool broken() const;
  // Ends the input of the process and waits for its end; kills it after `patience`. Nothing can be
  // asked after this.
  void stop(std::chrono::milliseconds patience);

  // A longer line is nonsense.
  static constexpr std::size_t kLongestLine = std::size_t{16} << 20;

 private:
  struct Question {
    std::uint64_t id = 0;
    JsonTree* answer = nullptr;
    bool answered = false;
  };

  ExecChild() = default;
  // False: not everything could be written until the deadline.
  bool write(std::string_view line, Clock::time_point deadline);
  // Waits for bytes and takes them in. REQUIRES: reading_ is set, `lock` is that of mutex_.
  void read(std::unique_lock<std::mutex>& lock, Clock::time_point deadline);
  // Takes the lines that are complete off input_. REQUIRES: the lock is held.
  void take_lines();
  void take_line(std::string_view line);
  void fail(Heard heard, std::string what);
  // What became of the process whose output ended.
  std::string last_words();

  Process process_;
  std::filesystem::path log_;
  int to_ = -1;       // Our end of its standard input.
  int to_kept_ = -1;  // Its end, which we keep open so that writing never raises SIGPIPE.
  int from_ = -1;     // Our end of its standard output.

  std::mutex writing_;  // Guards writing to `to_`.

  mutable std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::uint64_t last_id_ = 0;
  std::vector<Question*> open_;      // Not answered yet.
  std::vector<std::uint64_t> late_;  // Given up; their answers may still come.
  bool reading_ = false;             // Somebody waits for bytes.
  std::string input_;                // Bytes of a line that is not complete.
  JsonTree tree_;
  Outcome broken_;  // Answer: it is not.
};

}  // namespace ouro::db
