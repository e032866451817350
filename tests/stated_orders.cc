#include "tests/stated_orders.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ouro::oracle {
namespace {

bool has_commit_timestamps(const History& history) {
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.commit_ts(TxnId{t})) return true;
  }
  return false;
}

std::vector<Stated> orders_by_timestamps(const History& history, const Observed& seen) {
  std::map<KeyId, Order> writers;
  for (std::size_t t = 1; t < seen.txns.size(); ++t) {
    for (const auto& [key, values] : seen.txns[t].writes) writers[key].push_back(t);
  }
  std::vector<Stated> out;
  for (auto& [key, order] : writers) {
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return *history.commit_ts(seen.txns[a].id) < *history.commit_ts(seen.txns[b].id);
    });
    out.push_back({key, order});
  }
  return out;
}

}  // namespace

std::optional<std::vector<Stated>> stated_orders(const History& history, const Observed& seen) {
  std::vector<Stated> out;
  if (history.version_orders().empty() && has_commit_timestamps(history)) {
    return orders_by_timestamps(history, seen);
  }
  for (const VersionOrder& order : history.version_orders()) {
    Stated stated{order.key, {}};
    const auto versions = history.versions(order);
    const auto named = history.version_writers(order);
    std::set<std::size_t> complete;  // Those whose last write is listed.
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool by_name = !named.empty() && named[i].valid();
      const auto writer = std::find_if(seen.txns.begin(), seen.txns.end(), [&](const auto& txn) {
        const auto written = txn.writes.find(order.key);
        if (by_name) return txn.id == named[i];
        return written != txn.writes.end() &&
               std::find(written->second.begin(), written->second.end(), versions[i]) !=
                   written->second.end();
      });
      if (writer == seen.txns.end()) return std::nullopt;
      stated.writers.push_back(static_cast<std::size_t>(writer - seen.txns.begin()));
      if (by_name || writer->writes.at(order.key).back() == versions[i]) {
        complete.insert(stated.writers.back());
      }
    }
    for (std::size_t t = 1; t < seen.txns.size() && order.complete; ++t) {
      if (seen.txns[t].writes.contains(order.key) && !complete.contains(t)) return std::nullopt;
    }
    out.push_back(std::move(stated));
  }
  return out;
}

}  // namespace ouro::oracle
