// One client of a fixed interleaving: runs one transaction on a connection, step by step, on a
// thread of its own, and records it.
//
// The rules by which a transaction is recorded are those of Player (player.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "db/database.h"
#include "run/script.h"
#include "run/transcript.h"

namespace ouro::running {

// Where the keys and numbers of a script lie in the table, so that each script has its own rows.
struct ScriptPlace {
  db::Model model = db::Model::Registers;
  db::Key first_key = 0;        // The key x.
  db::Number first_number = 0;  // Added to the numbers of rows, in column c1.
};

// How a step was answered.
struct StepAnswer {
  db::Answer answer;
  std::string text;  // "10", "2 rows", "committed"; if it went wrong, why.
};

class StepClient {
 public:
  // `name` is that of its session in the history. `now` is the clients' clock. REQUIRES:
  // `connection` outlives this object, and nobody else uses it.
  StepClient(std::string name, db::Connection& connection, const ScriptPlace& place,
             std::function<std::int64_t()> now);
  // Waits for the step under way.
  ~StepClient();
  StepClient(const StepClient&) = delete;
  StepClient& operator=(const StepClient&) = delete;

  // These return at once; wait() says when it is done. After an answer other than Ok the
  // transaction is over. REQUIRES: no step is under way, and the transaction is not over.
  void take(const ScriptStep& step);

  // Waits until no step is under way, but not longer than `limit`. Whether none is.
  bool wait(std::chrono::milliseconds limit);

  // REQUIRES, for all below: no step is under way.
  [[nodiscard]] const StepAnswer& last() const { return last_; }
  [[nodiscard]] bool over() const { return over_; }
  // A step answered Failed or Lost, or the commit was not answered.
  [[nodiscard]] bool unclear() const { return unclear_; }
  [[nodiscard]] TxnStatus status() const { return status_; }
  // The line of the history, with a line break; empty if nothing was done.
  [[nodiscard]] std::string line() const;

  // What Database::waits() knows the connection by.
  [[nodiscard]] std::uint64_t handle() const { return handle_; }
  // Whether the thread that runs the steps sleeps now, so neither computes nor wants to.
  [[nodiscard]] bool asleep() const;

 private:
  using Work = std::function<StepAnswer()>;
  void work();
  void give(Work work);
  StepAnswer do_begin();
  StepAnswer do_step(const ScriptStep& step);
  StepAnswer do_read(db::Key key);
  StepAnswer do_write(db::Key key, db::Number number);
  StepAnswer do_delete(db::Key key);
  StepAnswer do_find(const ScriptStep& step);
  StepAnswer do_commit();
  StepAnswer do_abort();
  // Rolls back after an answer that was not Ok.
  void give_up(const db::Answer& answer);

  const std::string name_;
  db::Connection& connection_;
  const ScriptPlace place_;
  const std::function<std::int64_t()> now_;
  const std::uint64_t handle_;

  // Written by the thread while a step is under way, else read by others.
  Transcript transcript_;
  StepAnswer last_;
  TxnStatus status_ = TxnStatus::Aborted;
  bool over_ = false;
  bool unclear_ = false;
  std::int64_t invoked_ = kNoClock;
  std::int64_t completed_ = kNoClock;

  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  Work given_;  // Not empty: a step is under way.
  bool ending_ = false;
  std::atomic<pid_t> thread_id_{0};
  std::thread thread_;  // Last, since it uses the others.
};

}  // namespace ouro::running
