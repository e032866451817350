#include "tests/replay.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tests/engine_levels.h"
#include "tests/observed.h"

namespace ouro::oracle {
namespace {

enum class Phase { Waiting, Running, Done };

class Store {
 public:
  Store(const History& history, const Observed& seen, Level level, const OracleOptions& options)
      : history_(history),
        seen_(seen),
        level_(level),
        options_(options),
        phase_(seen.txns.size(), Phase::Waiting),
        snapshot_(seen.txns.size()) {
    phase_[0] = Phase::Done;
  }

  // Whether what is left can be run, depth first; leaves the store as it was.
  bool run();

 private:
  using Versions = std::map<KeyId, std::vector<std::size_t>>;  // Who wrote, oldest first.

  [[nodiscard]] bool precedes_in_session(std::size_t a, std::size_t b) const {
    const TxnId first = seen_.txns[a].id;
    const TxnId second = seen_.txns[b].id;
    return first < second && history_.session(first) == history_.session(second);
  }
  [[nodiscard]] bool precedes_in_time(std::size_t a, std::size_t b) const {
    return oracle::precedes_in_time(history_, seen_.txns[a].id, seen_.txns[b].id,
                                    options_.clock_drift);
  }
  [[nodiscard]] bool is_serial() const { return is_serial_level(level_); }
  [[nodiscard]] bool may_begin(std::size_t txn) const;
  [[nodiscard]] bool may_commit(std::size_t txn) const;
  [[nodiscard]] bool reads_fit(std::size_t txn) const;
  [[nodiscard]] bool list_reads_fit(std::size_t txn, bool after_own) const;
  [[nodiscard]] std::vector<Value> contents(KeyId list) const;

  const History& history_;
  const Observed& seen_;
  const Level level_;
  const OracleOptions& options_;
  std::vector<Phase> phase_;
  std::vector<Versions> snapshot_;
  Versions versions_;
};

bool Store::may_begin(std::size_t txn) const {
  const bool keeps_sessions = level_ == Level::Prefix || has_sessions(level_);
  const bool keeps_time = has_real_time(level_) && !orders_commits_by_time(level_);
  for (std::size_t other = 1; other < phase_.size(); ++other) {
    if (other == txn) continue;
    if (is_serial() && phase_[other] == Phase::Running) return false;
    if (phase_[other] == Phase::Done) continue;
    if (keeps_sessions && precedes_in_session(other, txn)) return false;
    if (keeps_time && precedes_in_time(other, txn)) return false;
  }
  return reads_fit(txn);
}

std::vector<Value> Store::contents(KeyId list) const {
  std::vector<Value> out;
  if (const auto found = versions_.find(list); found != versions_.end()) {
    for (const std::size_t writer : found->second) {
      const auto& appended = seen_.txns[writer].writes.at(list);
      out.insert(out.end(), appended.begin(), appended.end());
    }
  }
  return out;
}

// Whether the lists as they are now explain the list reads of `txn`: those before its own appends,
// or those after.
bool Store::list_reads_fit(std::size_t txn, bool after_own) const {
  for (const ListRead& read : seen_.list_reads) {
    if (read.reader != txn || (read.own > 0) != after_own) continue;
    const std::vector<Value> others(read.elements.begin(),
                                    read.elements.end() - static_cast<std::ptrdiff_t>(read.own));
    if (contents(read.key) != others) return false;
  }
  return true;
}

// Whether a snapshot taken now explains the reads of `txn`.
bool Store::reads_fit(std::size_t txn) const {
  for (const ExternalRead& read : seen_.txns[txn].reads) {
    const auto found = versions_.find(read.key);
    if (read.from != (found == versions_.end() ? 0 : found->second.back())) return false;
  }
  return list_reads_fit(txn, /*after_own=*/false);
}

bool Store::may_commit(std::size_t txn) const {
  // A reader that saw its own append saw the version it now installs.
  if (!list_reads_fit(txn, /*after_own=*/true)) return false;
  for (const auto& [key, values] : seen_.txns[txn].writes) {
    if (level_ == Level::Prefix) break;  // Else the first committer wins.
    const auto before = snapshot_[txn].find(key);
    const auto now = versions_.find(key);
    const std::size_t seen_count = before == snapshot_[txn].end() ? 0 : before->second.size();
    if (now != versions_.end() && now->second.size() != seen_count) return false;
  }
  if (!has_real_time(level_) || is_serial()) return true;
  for (std::size_t other = 1; other < phase_.size(); ++other) {
    if (other == txn || phase_[other] == Phase::Done) continue;
    const TxnId first = seen_.txns[other].id;
    const TxnId second = seen_.txns[txn].id;
    const std::int64_t drift = options_.clock_drift;
    if (commits_first_in_time(history_, first, second, drift)) return false;
    if (phase_[other] == Phase::Waiting && begins_first_in_time(history_, first, second, drift)) {
      return false;
    }
  }
  return true;
}

bool Store::run() {
  bool all_done = true;
  for (std::size_t txn = 1; txn < phase_.size(); ++txn) {
    if (phase_[txn] == Phase::Done) continue;
    all_done = false;
    if (phase_[txn] == Phase::Waiting && may_begin(txn)) {
      phase_[txn] = Phase::Running;
      snapshot_[txn] = versions_;
      if (run()) return true;
      phase_[txn] = Phase::Waiting;
    } else if (phase_[txn] == Phase::Running && may_commit(txn)) {
      const Versions before = versions_;
      phase_[txn] = Phase::Done;
      for (const auto& [key, values] : seen_.txns[txn].writes) versions_[key].push_back(txn);
      if (run()) return true;
      versions_ = before;
      phase_[txn] = Phase::Running;
    }
  }
  return all_done;
}

}  // namespace

bool is_replayable(Level level) {
  return level == Level::Prefix || is_snapshot_level(level) || is_serial_level(level);
}

bool replays(const History& history, Level level, const OracleOptions& options) {
  return any_sources(history, Evidence::Observed, [&](const Sources& sources) {
    const Observed seen = observe(history, Evidence::Observed, sources);
    return !seen.always_wrong() && Store(history, seen, level, options).run();
  });
}

}  // namespace ouro::oracle
