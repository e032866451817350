// Reads the version orders that a history states, and compares orders of transactions with them.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "certify/orders.h"
#include "certify/predicate_reads.h"
#include "certify/reading.h"
#include "certify/rules.h"
#include "history/columns.h"

namespace ouro::recheck {

Status Reading::read_orders() {
  if (h_->version_orders().empty()) {
    return columns_of(*h_).commit_ts.empty() ? Status{} : order_by_timestamps();
  }
  for (const VersionOrder& stated : h_->version_orders()) {
    if (auto status = read_order(stated); !status) return status;
  }
  return {};
}

// Finds the write of each version that the order lists.
Status Reading::read_order(const VersionOrder& stated) {
  StatedOrder& order = orders_.emplace_back(StatedOrder{stated.key, stated.complete, {}});
  const auto versions = h_->versions(stated);
  const auto writers = h_->version_writers(stated);
  std::optional<Listed> listed;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Value version = versions[i];
    AccessId write = kNoAccess;
    if (!writers.empty() && writers[i].valid()) {
      write = last_write(writers[i], stated.key);
    } else if (repeated_.contains({stated.key, version})) {
      if (!listed) listed = note_listed(stated);
      write = only_write(stated, *listed, version);
    } else if (version.is_null()) {
      const auto found = null_writes_.find(stated.key);
      if (found != null_writes_.end() && found->second.writers < 2) {
        write = found->second.writers == 1 ? found->second.last : found->second.aborted;
      }
    } else if (const auto found = written_.find({stated.key, version}); found != written_.end()) {
      write = found->second;
    }
    if (write == kNoAccess) {
      Error error;
      error.file = std::string(h_->file());
      error.what = fmt::format("it is unclear who wrote version {} in the version order of {}",
                               h_->text(version), h_->key_label(stated.key));
      return error;
    }
    order.writes.push_back(write);
  }
  return {};
}

// Notes what an order names, and how often it lists each other value.
Reading::Listed Reading::note_listed(const VersionOrder& stated) const {
  Listed out;
  const auto versions = h_->versions(stated);
  const auto writers = h_->version_writers(stated);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!writers.empty() && writers[i].valid()) {
      out.named.insert(last_write(writers[i], stated.key));
    } else {
      ++out.values[versions[i]];
    }
  }
  return out;
}

// Which write of a value that several transactions wrote an order means that lists the value once
// without naming one: the only one left, but for those that it names; or, in a complete order, the
// only one that must be in it.
AccessId Reading::only_write(const VersionOrder& stated, const Listed& listed,
                             Value version) const {
  if (listed.values.at(version) != 1) return kNoAccess;
  std::vector<AccessId> left;
  std::vector<AccessId> needed;
  for (const AccessId write : repeated_.at({stated.key, version})) {
    if (listed.named.contains(write)) continue;
    left.push_back(write);
    if (is_last(write) && status(write) == TxnStatus::Committed) needed.push_back(write);
  }
  if (left.size() == 1) return left[0];
  return stated.complete && needed.size() == 1 ? needed[0] : kNoAccess;
}

// Orders all keys by commit timestamps: the last writes of transactions that did not abort and have
// one.
Status Reading::order_by_timestamps() {
  for (std::size_t k = 0; k < h_->key_count(); ++k) orders_.push_back({KeyId{k}, true, {}});
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    if (!is_write(id) || !is_last(id) || status(id) == TxnStatus::Aborted) continue;
    if (h_->commit_ts(accesses_[id].txn)) {
      orders_[accesses_[id].key.index()].writes.push_back(id);
    } else if (status(id) == TxnStatus::Committed) {
      return error_at(id, "the write has no commit timestamp");
    }
  }
  const auto ts = [&](AccessId id) { return *h_->commit_ts(accesses_[id].txn); };
  for (StatedOrder& order : orders_) {
    std::sort(order.writes.begin(), order.writes.end(),
              [&](AccessId a, AccessId b) { return ts(a) < ts(b); });
    for (std::size_t i = 1; i < order.writes.size(); ++i) {
      if (ts(order.writes[i - 1]) == ts(order.writes[i])) {
        return error_at(order.writes[i], "the write shares its commit timestamp with another");
      }
    }
  }
  return {};
}

std::string compare_orders(const Reading& reading, std::span<const TxnId> order) {
  if (reading.orders().empty()) return "";
  std::vector<std::size_t> position(reading.history().txn_count(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = i;
  for (const StatedOrder& stated : reading.orders()) {
    TxnId before;
    for (const AccessId write : stated.writes) {
      const TxnId txn = reading.access(write).txn;
      if (!reading.counts(txn)) continue;
      if (before.valid() && position[before.index()] > position[txn.index()]) {
        return fmt::format("{} and {} write {} in another order than the history says",
                           txn_name(before), txn_name(txn),
                           reading.history().key_label(stated.key));
      }
      before = txn;
    }
  }
  return "";
}

std::string compare_predicates(const Reading& reading, const PredicateReads& predicates,
                               Level level, std::span<const Event> schedule) {
  if (predicates.reads().empty() && predicates.unplaced().empty()) return "";
  const History& h = reading.history();
  PredicateReads::Moments moments;
  moments.begun.resize(h.txn_count());
  moments.committed.resize(h.txn_count());
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    (schedule[i].commit ? moments.committed : moments.begun)[schedule[i].txn.index()] = i;
  }
  const Rules rules = rules_of(level);
  const bool points = rules.family == Family::Snapshot || rules.family == Family::Serial;
  const auto unseen = !points          ? PredicateReads::Unseen::DoNotMatter
                      : rules.phantoms ? PredicateReads::Unseen::MatterInSets
                                       : PredicateReads::Unseen::Matter;
  // Parallel SI has no moments: there what is said about these reads is a part of the order's
  // check.
  const bool parallel = rules.family == Family::Parallel;
  const OpId misplaced = parallel ? OpId{} : predicates.first_misplaced(moments, unseen);
  if (misplaced.valid()) {
    return fmt::format("{} returns what it cannot have seen", h.place(misplaced).to_string());
  }
  const auto broken = predicates.first_broken(moments, unseen);
  if (!broken) return "";
  return fmt::format("{} {} what {} changed of its predicate", txn_name(h.txn_of(broken->read)),
                     broken->link.seen ? "sees too early" : "misses",
                     txn_name(reading.access(broken->link.write).txn));
}

}  // namespace ouro::recheck
