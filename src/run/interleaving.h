// Plays a script (script.h) on a database: one step after the other, each begun only once the step
// before it was answered, or is seen to wait for another transaction.
//
// A client whose step waits is left alone and the others go on, as people do who try such things by
// hand in several windows. Its next steps come once that step was answered. Whether a step waits or
// is merely slow should not depend on the speed of the machine, so we ask who knows:
//
//   a server that tells    Database::waits(): PostgreSQL's and MariaDB's lists of locks.
//   a database in here     whether the thread sleeps, many times in a row. On a busy machine a
//                          thread that has something to do wants to run, and does not sleep.
//   any other              nobody knows; what takes many times longer than any step before waits.
//
// If that is wrong, steps come in another order than in the script. The history is still what
// happened.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/database.h"
#include "ouro/hermitage.h"
#include "run/script.h"
#include "run/step_client.h"

namespace ouro::running {

// What happened to a script.
struct PlayedScript {
  std::vector<HermitageStep> steps;  // In the order in which they were begun.
  std::string history;               // In native text.
  bool waited = false;               // A step waited for another transaction.
  bool refused = false;              // The database aborted a transaction.
  std::string unclear;               // Why it is not clear what happened; empty if it is.
};

class Interleaving {
 public:
  // REQUIRES: `database` outlives this object, and its prepare() was called.
  explicit Interleaving(db::Database& database);
  ~Interleaving();

  // Writes the keys that a script starts with, plays it, and reads all its keys in the end. The
  // error says why it could not be begun.
  Result<PlayedScript> play(const std::vector<ScriptStep>& script, const ScriptPlace& place);

 private:
  struct Seat;  // A client, and what it has yet to do.

  Status connect(std::size_t clients);
  Status prepare(const ScriptPlace& place, PlayedScript& played);
  void look_back(const std::vector<ScriptStep>& script, const ScriptPlace& place,
                 PlayedScript& played);
  // Runs a transaction alone on the first connection; false: it did not commit.
  bool run_alone(const std::string& name, const std::vector<ScriptStep>& steps,
                 const ScriptPlace& place, PlayedScript& played);

  // Begins a step of the client, and waits until it was answered (true) or waits (false).
  bool begin_step(Seat& seat, const ScriptStep& step, PlayedScript& played);
  bool settle(Seat& seat);
  [[nodiscard]] bool seems_to_wait(const Seat& seat, std::chrono::milliseconds so_far,
                                   unsigned& asleep);
  // Notes the answer of a step that was waited for, and takes up what the client has yet to do.
  void answered(Seat& seat, PlayedScript& played);
  // Looks whether clients that wait have been answered meanwhile.
  void look_after(std::vector<std::unique_ptr<Seat>>& seats, PlayedScript& played);
  void finish(std::vector<std::unique_ptr<Seat>>& seats, PlayedScript& played);

  [[nodiscard]] std::int64_t now() const;

  using Clock = std::chrono::steady_clock;
  db::Database& database_;
  std::vector<std::unique_ptr<db::Connection>> connections_;  // Client i has the i-th.
  Clock::time_point made_ = Clock::now();
  std::chrono::milliseconds slowest_{0};  // Of the steps that did not wait.
};

}  // namespace ouro::running
