#include "serve/committer.h"

#include <algorithm>

namespace ouro::serving {

Committer::Committer(EventHub& hub) : hub_(hub), thread_([this] { commit_all(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Committer::use(const LogWriter* log) {
  const std::lock_guard lock(mutex_);
  log_ = log;
}

void Committer::add(Group group) {
  if (group.answers.empty() && group.events.empty()) return;
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(group));
  changed_.notify_all();
}

Status Committer::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
  return problem_ ? Status(*problem_) : Status();
}

bool Committer::failed() const {
  const std::lock_guard lock(mutex_);
  return problem_.has_value();
}

void Committer::commit_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::vector<Group> groups = std::exchange(waiting_, {});
    const LogWriter* log = log_;
    Status stored = problem_ ? Status(*problem_) : Status();
    busy_ = true;
    lock.unlock();
    const bool durable =
        std::any_of(groups.begin(), groups.end(), [](const Group& g) { return g.durable; });
    if (stored && durable && log != nullptr) stored = log->sync();
    settle(groups, stored);
    lock.lock();
    busy_ = false;
    if (!stored && !problem_) problem_ = stored.error();
    changed_.notify_all();
  }
}

void Committer::settle(std::vector<Group>& groups, const Status& stored) {
  for (Group& group : groups) {
    for (auto& [done, receipt] : group.answers) {
      // A batch that could not be stored may be forgotten after a restart, so its client must not
      // believe that it was applied.
      if (!stored && !receipt.error) receipt.error = stored.error();
      if (done) done(receipt);
    }
    if (!stored) continue;
    for (SourceEvents& events : group.events) hub_.publish(std::move(events));
  }
}

}  // namespace ouro::serving
