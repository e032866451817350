#include "check/versions/given_orders.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ouro {

// Looks the listed values up among the writes of their key.
class GivenOrders::Reader {
 public:
  explicit Reader(const Observed& observed) : o_(observed), h_(observed.history()) {}

  Result<GivenOrders> run() {
    if (h_.version_orders().empty() && !h_.columns().commit_ts.empty()) return by_timestamps();
    std::vector<VersionOrder> orders(h_.version_orders().begin(), h_.version_orders().end());
    std::stable_sort(orders.begin(), orders.end(),
                     [](const VersionOrder& a, const VersionOrder& b) { return a.key < b.key; });
    GivenOrders out;
    KeyId at;
    for (const VersionOrder& order : orders) {
      if (order.key != at) note_writes(at = order.key);
      out.parts_.push_back({order.key, order.complete, out.writes_.size(), order.count});
      std::optional<Value> twice;
      for (const Value version : h_.versions(order)) {
        const auto write = writes_.find(version);
        if (write == writes_.end()) return unknown(order.key, version);
        if (write->second.writers > 1) return ambiguous(order.key, version);
        out.writes_.push_back(write->second.item);
        // The place of the order itself serves as its name.
        if (std::exchange(write->second.listed_in, &order) == &order && !twice) twice = version;
      }
      if (twice) return error(order.key, *twice, "is listed twice; list every version once");
    }
    return out;
  }

 private:
  struct Write {
    ItemId item;  // The last one of the value.
    TxnId txn;
    std::uint32_t writers = 0;  // Aborted ones count only if there are no others.
    bool aborted = false;
    const VersionOrder* listed_in = nullptr;  // The last order that has it.
  };

  // Complete orders by commit timestamps.
  Result<GivenOrders> by_timestamps() {
    GivenOrders out;
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      const std::size_t first = out.writes_.size();
      for (const ItemId item : o_.items_of(KeyId{k})) {
        if (!o_.items().is_write(item) || !o_.final(item)) continue;
        const TxnStatus status = h_.status(o_.txn(item));
        const bool placed = h_.commit_ts(o_.txn(item)).has_value();
        if (status == TxnStatus::Committed && !placed) return without_place(item);
        if (status != TxnStatus::Aborted && placed) out.writes_.push_back(item);
      }
      const auto begin = out.writes_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto ts = [&](ItemId item) { return *h_.commit_ts(o_.txn(item)); };
      std::sort(begin, out.writes_.end(), [&](ItemId a, ItemId b) { return ts(a) < ts(b); });
      const auto tie = std::adjacent_find(begin, out.writes_.end(),
                                          [&](ItemId a, ItemId b) { return ts(a) == ts(b); });
      if (tie != out.writes_.end()) return without_place(*(tie + 1));
      out.parts_.push_back({KeyId{k}, true, first, out.writes_.size() - first});
    }
    return out;
  }

  void note_writes(KeyId key) {
    writes_.clear();
    const auto items = o_.items_of(key);
    const auto links = o_.links_of(key);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!links[i].is_write()) continue;
      const ItemId item = items[i];
      const bool aborted = h_.status(links[i].txn) == TxnStatus::Aborted;
      Write& write = writes_[o_.items().value(item)];
      if (write.writers > 0 && aborted && !write.aborted) continue;
      if (write.writers > 0 && write.aborted && !aborted) write.writers = 0;
      if (write.writers == 0 || write.txn != links[i].txn) ++write.writers;
      write.item = item;
      write.txn = links[i].txn;
      write.aborted = aborted;
    }
  }

  [[nodiscard]] Error error(KeyId key, Value version, std::string_view what) const {
    Error error;
    error.file = std::string(h_.file());
    error.what = fmt::format("version {} in the version order of {} {}", h_.text(version),
                             h_.key_label(key), what);
    return error;
  }
  [[nodiscard]] Error without_place(ItemId write) const {
    return error_at(
        h_, o_.items().op(write),
        fmt::format("the history has no version orders, and no commit_ts of its own that orders "
                    "this write of {}; give both, or check with --evidence timestamps or observed",
                    h_.key_label(o_.items().key(write))));
  }
  [[nodiscard]] Error unknown(KeyId key, Value version) const {
    if (version == h_.initial(key)) {
      return error(key, version, "is the initial one, which always comes first; leave it out");
    }
    return error(key, version,
                 "was written by no transaction; add the transaction or leave the version out");
  }
  [[nodiscard]] Error ambiguous(KeyId key, Value version) const {
    return error(key, version,
                 "was written by several transactions; give every delete a value of its own");
  }

  const Observed& o_;
  const History& h_;
  absl::flat_hash_map<Value, Write> writes_;  // Of the key at hand.
};

Result<GivenOrders> GivenOrders::read(const Observed& observed) { return Reader(observed).run(); }

void GivenOrders::add_to(const Observed& observed, std::vector<WrongRead>& wrong,
                         std::vector<VersionStep>& steps) const {
  const auto before = static_cast<std::ptrdiff_t>(steps.size());
  for (const Part& part : parts_) {
    add_steps(observed, part, steps);
    find_missing(observed, part, wrong);
  }
  if (before == 0) return;
  std::inplace_merge(steps.begin(), steps.begin() + before, steps.end(),
                     [&](const VersionStep& a, const VersionStep& b) {
                       return observed.items().key(a.to) < observed.items().key(b.to);
                     });
}

void GivenOrders::add_steps(const Observed& observed, const Part& part,
                            std::vector<VersionStep>& steps) const {
  ItemId last;
  for (const ItemId write : std::span(writes_).subspan(part.first, part.count)) {
    const TxnId txn = observed.txn(write);
    if (!observed.counted(txn)) continue;
    const bool other = !last.valid() || observed.txn(last) != txn;
    if (other && (last.valid() || part.complete)) {
      steps.push_back({.from = last, .to = write, .read = {}, .adjacent = part.complete});
    }
    last = write;
  }
}

void GivenOrders::find_missing(const Observed& observed, const Part& part,
                               std::vector<WrongRead>& wrong) const {
  const auto listed = std::span(writes_).subspan(part.first, part.count);
  std::size_t final_ones = 0;
  for (const ItemId write : listed) {
    const bool counted = observed.counted(observed.txn(write));
    if (!counted) wrong.push_back({AnomalyKind::VersionOrderMismatch, write, {}});
    final_ones += counted && observed.final(write) ? 1 : 0;
  }
  if (!part.complete) return;
  const auto items = observed.items_of(part.key);
  const auto links = observed.links_of(part.key);
  const auto belongs = [&](const KeyLink& link) {
    return link.source == KeyLink::kFinalWrite && observed.counted(link.txn);
  };
  const auto all = std::count_if(links.begin(), links.end(), belongs);
  if (static_cast<std::size_t>(all) == final_ones) return;
  const absl::flat_hash_set<ItemId> known(listed.begin(), listed.end());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (belongs(links[i]) && !known.contains(items[i])) {
      wrong.push_back({AnomalyKind::VersionOrderMismatch, items[i], {}});
    }
  }
}

}  // namespace ouro
