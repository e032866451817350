#include "check/observed/likely_order.h"

#include <algorithm>
#include <numeric>

#include "base/sort_within.h"
#include "history/columns.h"

namespace ouro {
namespace {

template <class T>
std::vector<Node> sorted_by(std::span<const T> column, const Budget& budget) {
  std::vector<Node> order(column.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](Node a, Node b) { return column[a] < column[b]; };
  static_cast<void>(sort_within(budget, order, less));  // If it stops early, any order will do.
  return order;
}

template <class T>
bool full(std::span<const T> column, const T& missing) {
  return !column.empty() && std::find(column.begin(), column.end(), missing) == column.end();
}

// Whether the order of the source may be that in which transactions ended. A recorder that writes
// them as they end changes the session almost every time.
bool interleaved(const HistoryColumns& c) {
  std::size_t changes = 0;
  for (std::size_t t = 1; t < c.txn_session.size(); ++t) {
    changes += c.txn_session[t] != c.txn_session[t - 1] ? 1 : 0;
  }
  return c.session_name.size() < 2 || changes >= c.txn_session.size() / 4;
}

}  // namespace

bool order_is_vague(const History& history) {
  const HistoryColumns& c = columns_of(history);
  return !full(c.commit_ts, kNoTimestamp) && !full(c.completed, kNoClock) && !interleaved(c);
}

std::vector<Node> likely_commit_order(const History& history, const Budget& budget) {
  const HistoryColumns& c = columns_of(history);
  if (full(c.commit_ts, kNoTimestamp)) return sorted_by(c.commit_ts, budget);
  if (full(c.completed, kNoClock)) return sorted_by(c.completed, budget);
  std::vector<double> progress(history.txn_count());
  if (interleaved(c)) {
    std::iota(progress.begin(), progress.end(), 0.0);
  } else {
    for (std::size_t s = 0; s < history.session_count(); ++s) {
      const auto txns = history.session_txns(SessionId{s});
      for (std::size_t i = 0; i < txns.size(); ++i) {
        progress[txns[i].index()] = static_cast<double>(i) / static_cast<double>(txns.size());
      }
    }
  }
  return sorted_by(std::span<const double>(progress), budget);
}

}  // namespace ouro
