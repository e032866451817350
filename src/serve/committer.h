// Holds back the answers to clients, and events, until the input they stem from is on disk.
//
// A thread of its own syncs the input log. All groups that are added while one sync is under way
// share the next, so a thousand clients cost no more syncs than one.
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
  // What one step of the stream thread produced.
  struct Group {
    std::vector<std::pair<std::function<void(const Receipt&)>, Receipt>> answers;
    std::vector<SourceEvents> events;
    bool durable = true;  // Whether something was logged for the group, which must be synced first.
  };

  explicit Committer(EventHub& hub);
  ~Committer();

  // The log to sync; null: none. REQUIRES: nothing was added since the last drain().
  void use(const LogWriter* log);
  // Takes a group. REQUIRES: what was logged for it was flushed.
  void add(Group group);
  // Waits until all groups were answered. The error says why a group could not be stored.
  [[nodiscard]] Status drain();
  // Whether a group could not be stored; drain() returns the error.
  [[nodiscard]] bool failed() const;

 private:
  void commit_all();  // What the thread does.
  // Calls the answers and publishes the events of `groups`.
  void settle(std::vector<Group>& groups, const Status& stored);

  EventHub& hub_;
  mutable std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::vector<Group> waiting_;
  const LogWriter* log_ = nullptr;
  bool busy_ = false;  // The thread works on groups that are no longer in waiting_.
  bool stop_ = false;
  std::optional<Error> problem_;  // The first one; from then on every batch is refused.
  std::thread thread_;
};

}  // namespace ouro::serving
