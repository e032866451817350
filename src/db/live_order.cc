#include "db/live_order.h"

#include <algorithm>
#include <utility>

namespace ouro::db {

LiveOrder::Ticket LiveOrder::begin() {
  const std::lock_guard lock(mutex_);
  open_.insert(++last_ticket_);
  return last_ticket_;
}

void LiveOrder::drop(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  open_.erase(ticket);
}

void LiveOrder::end(Ticket ticket, Txn txn) {
  // The server's list of transactions in progress lacks the one that takes the snapshot.
  std::vector<std::uint64_t>& open = txn.snapshot.in_progress;
  const auto at = std::lower_bound(open.begin(), open.end(), txn.id);
  const bool listed = at != open.end() && *at == txn.id;
  if (txn.id != 0 && txn.id < txn.snapshot.next && !listed) open.insert(at, txn.id);
  const std::lock_guard lock(mutex_);
  open_.erase(ticket);
  waiting_.push_back(std::move(txn));
}

void LiveOrder::add(Snapshot snapshot) {
  const std::lock_guard lock(mutex_);
  polls_.push_back({std::move(snapshot), last_ticket_});
}

Result<std::vector<Recovered::Times>> LiveOrder::settle(const Committed& committed) {
  const std::lock_guard lock(mutex_);
  auto after = polls_.begin();
  while (after != polls_.end() && (open_.empty() || after->last < *open_.begin())) ++after;
  if (after == polls_.begin()) return std::vector<Recovered::Times>{};
  const Snapshot& horizon = std::prev(after)->snapshot;

  // A transaction that wrote is placed when the horizon sees it; else, with what it read.
  std::vector<Txn> placed, waiting;
  for (Txn& txn : waiting_) {
    const bool known = txn.id != 0 ? horizon.sees(txn.id)
                                   : rank_of(txn.snapshot) <= rank_of(horizon);
    (known ? placed : waiting).push_back(std::move(txn));
  }
  waiting_ = std::move(waiting);
  std::vector<const Snapshot*> chain;
  for (auto poll = polls_.begin(); poll != after; ++poll) chain.push_back(&poll->snapshot);
  for (const std::vector<Txn>* txns : {&placed, &waiting_}) {
    for (const Txn& txn : *txns) {
      if (rank_of(txn.snapshot) <= rank_of(horizon)) chain.push_back(&txn.snapshot);
    }
  }
  Status asked = ask(committed, placed);
  auto times = asked.ok() ? place(placed, chain) : asked.error();
  polls_.erase(polls_.begin(), after);
  return times;
}

Status LiveOrder::ask(const Committed& committed, std::vector<Txn>& placed) const {
  for (Txn& txn : placed) {
    if (txn.certain || txn.id == 0) continue;
    const std::optional<bool> did = committed(txn.id);
    if (!did) {
      return Error{.what = "the answer to a COMMIT was lost, and the server does not know any more "
                           "whether it took effect"};
    }
    if (!*did) txn.id = 0;
  }
  return {};
}

Result<std::vector<Recovered::Times>> LiveOrder::place(
    const std::vector<Txn>& placed, const std::vector<const Snapshot*>& chain) {
  std::vector<const Txn*> writers;
  std::vector<std::uint64_t> ids;
  for (const Txn& txn : placed) {
    if (txn.id != 0) writers.push_back(&txn);
  }
  std::sort(writers.begin(), writers.end(),
            [](const Txn* a, const Txn* b) { return a->id < b->id; });
  for (const Txn* writer : writers) ids.push_back(writer->id);
  const CommitPlaces places = place_commits(chain, ids);
  if (places.breaks) return Error{.what = "snapshots of the server contradict each other"};
  std::vector<Recovered::Times> times;
  for (const auto& [rank, i] : places.ranks) {
    const Txn& txn = *writers[i];
    times.push_back({.token = txn.token,
                     .start = {rank_of(txn.snapshot), 0},
                     .commit = {rank - 1, ++order_}});
  }
  for (const Txn& txn : placed) {
    if (txn.id == 0) times.push_back({.token = txn.token, .start = {rank_of(txn.snapshot), 0}});
  }
  return times;
}

}  // namespace ouro::db
