#include "db/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace ouro::db {
namespace {

// The most rows in all version sets together; with more, they would need more memory than the
// history.
constexpr std::size_t kMostVersions = 5'000'000;

struct Installed {
  Key key = 0;
  Timestamp commit;
  std::size_t place = 0;  // The index among the writes of its transaction.
  const Journal::Write* write = nullptr;
};

// Adds the versions that `txn` installed to `all`: for a register or row only its last write of the
// key, for a list every append. Cost: quadratic in the writes of `txn`.
void add_installed(const Journal::Txn& txn, Model model, std::vector<Installed>& all) {
  for (std::size_t i = 0; i < txn.writes.size(); ++i) {
    const Key key = txn.writes[i].key;
    const bool overwritten =
        model != Model::Lists &&
        std::any_of(txn.writes.begin() + static_cast<std::ptrdiff_t>(i) + 1, txn.writes.end(),
                    [&](const Journal::Write& later) { return later.key == key; });
    if (!overwritten) all.push_back({key, txn.commit, i, &txn.writes[i]});
  }
}

bool known_to_have_committed(const Journal::Txn& txn) {
  return txn.end == Journal::End::Committed && txn.commit != kNoTimestamp;
}

}  // namespace

Journal& Journals::add() {
  const std::lock_guard lock(mutex_);
  journals_.push_back(std::make_unique<Journal>());
  journals_.back()->number_ = static_cast<std::uint32_t>(journals_.size() - 1);
  return *journals_.back();
}

Journal::Txn& Journals::find(std::uint64_t token) {
  const std::uint64_t index = token & ((std::uint64_t{1} << Journal::kShift) - 1);
  return journals_[(token >> Journal::kShift) - 1]->txns_[index];
}

Recovered Journals::recover(std::span<const std::uint64_t> tokens, Model model) {
  Recovered recovered;
  for (const std::uint64_t token : tokens) {
    const Journal::Txn& txn = find(token);
    recovered.times.push_back({token, txn.start, txn.commit});
  }
  recover_orders(tokens, model, recovered);
  if (model == Model::Rows) recover_version_sets(tokens, recovered);
  return recovered;
}

void Journals::recover_orders(std::span<const std::uint64_t> tokens, Model model,
                              Recovered& recovered) {
  std::vector<Installed> all;
  std::size_t doubtful = 0;
  for (const std::uint64_t token : tokens) {
    const Journal::Txn& txn = find(token);
    if (known_to_have_committed(txn)) {
      add_installed(txn, model, all);
    } else if (!txn.writes.empty() && txn.end != Journal::End::Aborted) {
      ++doubtful;
    }
  }
  std::sort(all.begin(), all.end(), [](const Installed& a, const Installed& b) {
    return std::tie(a.key, a.commit, a.place) < std::tie(b.key, b.commit, b.place);
  });
  for (const Installed& version : all) {
    if (recovered.orders.empty() || recovered.orders.back().key != version.key) {
      recovered.orders.push_back({version.key, doubtful == 0, {}});
    }
    Recovered::Order& order = recovered.orders.back();
    if (version.write->removed) {
      order.complete = false;
      continue;
    }
    order.numbers.push_back(version.write->row[0]);
    if (model == Model::Rows) order.rows.push_back(version.write->row);
  }
  if (doubtful > 0) {
    recovered.notes.push_back(fmt::format(
        "version orders are incomplete: nobody knows the place of {} transactions", doubtful));
  }
}

// Replays the commits in order, so that `table` is what each predicate read found when its
// transaction started; the transaction's own earlier writes are added on top.
void Journals::recover_version_sets(std::span<const std::uint64_t> tokens, Recovered& recovered) {
  struct Ask {
    Timestamp start;
    std::uint64_t token = 0;
    std::uint32_t read = 0;
  };
  std::vector<Ask> asks;
  std::vector<Installed> all;
  for (const std::uint64_t token : tokens) {
    const Journal::Txn& txn = find(token);
    if (known_to_have_committed(txn)) add_installed(txn, Model::Rows, all);
    if (txn.start == kNoTimestamp || txn.end == Journal::End::Aborted) continue;
    for (std::uint32_t read = 0; read < txn.asked.size(); ++read) {
      const bool own_time = read < txn.asked_at.size() && txn.asked_at[read] != kNoTimestamp;
      asks.push_back({own_time ? txn.asked_at[read] : txn.start, token, read});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Installed& a, const Installed& b) { return a.commit < b.commit; });
  std::stable_sort(asks.begin(), asks.end(),
                   [](const Ask& a, const Ask& b) { return a.start < b.start; });
  std::map<Key, Row> table;
  const auto apply = [](std::map<Key, Row>& rows, const Journal::Write& write) {
    if (write.removed) {
      rows.erase(write.key);
    } else {
      rows[write.key] = write.row;
    }
  };
  std::size_t next = 0;
  std::size_t versions = 0;
  for (const Ask& ask : asks) {
    for (; next < all.size() && all[next].commit < ask.start; ++next)
      apply(table, *all[next].write);
    const Journal::Txn& txn = find(ask.token);
    std::map<Key, Row> with_own;
    const bool own = txn.asked[ask.read] > 0;
    if (own) {
      with_own = table;
      for (std::uint32_t i = 0; i < txn.asked[ask.read]; ++i) apply(with_own, txn.writes[i]);
    }
    const std::map<Key, Row>& seen = own ? with_own : table;
    versions += seen.size();
    if (versions > kMostVersions) {
      recovered.notes.push_back(
          "version sets are given for the first predicate reads only: "
          "those of all would take too much memory");
      return;
    }
    Recovered::VersionSet& set = recovered.version_sets.emplace_back();
    set.token = ask.token;
    set.read = ask.read;
    for (const auto& [key, row] : seen) set.versions.push_back({key, row});
  }
}

}  // namespace ouro::db
