// Makes input durable, and only then answers for it.
//
// Answers and events wait here until the log records behind them are on disk. While one sync is
// under way the next group gathers, so that a thousand clients cost no more syncs than one.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "ouro/result.h"
#include "ouro/stream.h"
#include "serve/batch_queue.h"
#include "serve/event_hub.h"
#include "serve/input_log.h"

namespace ouro::serving {

class Committer {
 public:
  struct Group {
    std::vector<std::pair<std::function<void(const Receipt&)>, Receipt>> answers;
    std::vector<StreamEvent> events;
    bool durable = true;  // Something of the group was logged, so it must be synced first.
  };

  explicit Committer(EventHub& hub);
  ~Committer();

  // What to sync; null: nothing. REQUIRES: drained, or nothing was added yet.
  void use(const LogWriter* log);
  // REQUIRES: what was logged for the group was flushed.
  void add(Group group);
  // Waits until all groups were answered; the error is what kept one from being stored.
  [[nodiscard]] Status drain();
  // Whether something could not be stored; drain() tells what.
  [[nodiscard]] bool failed() const;

 private:
  void commit_all();
  void settle(std::vector<Group>& groups, const Status& stored);

  EventHub& hub_;
  mutable std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::vector<Group> waiting_;
  const LogWriter* log_ = nullptr;
  bool busy_ = false;
  bool stop_ = false;
  std::optional<Error> problem_;
  std::thread thread_;
};

}  // namespace ouro::serving
