#include "check/observed/given_orders.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "history/columns.h"
#include "history/input_error.h"

namespace ouro {
namespace {

constexpr std::size_t kFewWrites = 10'000;  // Fewer are not worth another thread.
// Keys between looks at the budget: a key may have many versions.
constexpr std::uint32_t kAFewKeys = 64;

}  // namespace

// Finds the writes of the values that version orders list. One Reader per thread.
class GivenOrders::Reader {
 public:
  Reader(const Observed& observed, const Budget& budget)
      : o_(observed), h_(observed.history()), ticker_(budget, kAFewKeys) {}

  // Fills in, for each version of `order`, its write and the position of that among the items of
  // the key. Returns what is wrong with the order, if anything. REQUIRES: both spans are as long as
  // the order.
  std::optional<Error> read(const VersionOrder& order, std::span<ItemId> writes,
                            std::span<std::uint32_t> positions) {
    if (ticker_.tick()) return std::nullopt;
    if (order.key != key_) note_writes(order.key);
    const auto items = o_.items_of(order.key);
    const auto versions = h_.versions(order);
    const auto writers = h_.version_writers(order);
    std::optional<Value> twice;
    ++order_;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      if (!writers.empty() && writers[i].valid()) {
        positions[i] = last_write(order.key, writers[i]);
      } else {
        const auto write = writes_.find(versions[i]);
        if (write == writes_.end()) return unknown(order.key, versions[i]);
        positions[i] = write->second.position;
        if (write->second.writers > 1) {
          const auto only = only_one(order, versions[i]);
          if (!only) return ambiguous(order.key, versions[i]);
          positions[i] = *only;
        }
      }
      writes[i] = items[positions[i]];
      if (std::exchange(listed_in_[positions[i]], order_) == order_ && !twice) twice = versions[i];
    }
    if (twice) return error(order.key, *twice, "is listed twice; list every version once");
    return std::nullopt;
  }

  // For histories without version orders: a complete order of each key, by commit timestamps. The
  // error is a write whose transaction committed without a timestamp, or with that of another
  // writer.
  Result<GivenOrders> by_timestamps() {
    GivenOrders out;
    // Final writes of a key, with their positions.
    std::vector<std::pair<Timestamp, std::uint32_t>> placed;
    for (std::size_t k = 0; k < h_.key_count() && !ticker_.tick(); ++k) {
      placed.clear();
      const auto items = o_.items_of(KeyId{k});
      const auto links = o_.links_of(KeyId{k});
      for (std::uint32_t i = 0; i < links.size(); ++i) {
        if (links[i].source != KeyLink::kFinalWrite) continue;
        const TxnStatus status = h_.status(links[i].txn);
        const auto at = h_.commit_ts(links[i].txn);
        if (status == TxnStatus::Committed && !at) return without_place(items[i]);
        if (status != TxnStatus::Aborted && at) placed.emplace_back(*at, i);
      }
      std::sort(placed.begin(), placed.end());
      const std::size_t first = out.writes_.size();
      for (std::size_t i = 0; i < placed.size(); ++i) {
        const ItemId item = items[placed[i].second];
        if (i > 0 && placed[i - 1].first == placed[i].first) return without_place(item);
        out.list(item, placed[i].second);
      }
      out.parts_.push_back({KeyId{k}, true, first, placed.size()});
    }
    return out;
  }

 private:
  // What is known of the writes of one value.
  struct Write {
    std::uint32_t position = 0;  // Of the last such write, among the items of the key.
    TxnId txn;
    // How many transactions wrote it; aborted ones count only if no other did.
    std::uint32_t writers = 0;
    bool aborted = false;
  };

  // Copies the values of the key's writes. They are scattered in memory; fetching them in a loop
  // that does nothing else lets the processor wait for many at once.
  void fetch_values() {
    const auto items = o_.items_of(key_);
    const auto links = o_.links_of(key_);
    positions_.resize(links.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
      positions_[count] = static_cast<std::uint32_t>(i);
      count += links[i].is_write() ? 1 : 0;
    }
    positions_.resize(count);
    values_.resize(count);
    for (std::size_t i = 0; i < count; ++i) values_[i] = o_.items().value(items[positions_[i]]);
  }

  // The position of the last write of `key` by `txn` among the items of the key.
  [[nodiscard]] std::uint32_t last_write(KeyId key, TxnId txn) const {
    const auto links = o_.links_of(key);
    auto at = std::partition_point(links.begin(), links.end(),
                                   [&](const KeyLink& link) { return link.txn <= txn; });
    while (!(--at)->is_write()) continue;
    return static_cast<std::uint32_t>(at - links.begin());
  }

  // Makes `key` the key at hand.
  void note_writes(KeyId key) {
    key_ = key;
    writes_.clear();
    fetch_values();
    const auto links = o_.links_of(key);
    listed_in_.assign(links.size(), 0);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const TxnId txn = links[positions_[i]].txn;
      const bool aborted = h_.status(txn) == TxnStatus::Aborted;
      Write& write = writes_[values_[i]];
      if (write.writers > 0 && aborted && !write.aborted) continue;
      if (write.writers > 0 && write.aborted && !aborted) write.writers = 0;
      if (write.writers == 0 || write.txn != txn) ++write.writers;
      write.position = positions_[i];
      write.txn = txn;
      write.aborted = aborted;
    }
  }

  // A value that several transactions wrote and that the order at hand lists without naming one.
  struct Repeated {
    std::uint32_t listed = 0;
    // The last such write of each transaction that did not abort and is not named for it.
    std::vector<std::uint32_t> writes;
  };

  // The write of `version` that the order can only mean, as its position, if there is just one: all
  // others are named in it; or it is complete and lists the value once, and one transaction that
  // must be in it left that value.
  std::optional<std::uint32_t> only_one(const VersionOrder& order, Value version) {
    if (repeated_in_ != order_) note_repeated(order);
    const Repeated& repeated = repeated_[version];
    if (repeated.listed != 1) return std::nullopt;
    if (repeated.writes.size() == 1) return repeated.writes.front();
    const auto links = o_.links_of(order.key);
    std::optional<std::uint32_t> only;
    for (const std::uint32_t position : repeated.writes) {
      const bool must = links[position].source == KeyLink::kFinalWrite &&
                        h_.status(links[position].txn) == TxnStatus::Committed;
      if (!must) continue;
      if (!order.complete || only) return std::nullopt;
      only = position;
    }
    return only;
  }

  // Fills repeated_ for the order at hand.
  void note_repeated(const VersionOrder& order) {
    repeated_in_ = order_;
    repeated_.clear();
    const auto versions = h_.versions(order);
    const auto writers = h_.version_writers(order);
    absl::flat_hash_set<std::uint32_t> named;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool by_name = !writers.empty() && writers[i].valid();
      if (by_name) named.insert(last_write(order.key, writers[i]));
      if (!by_name) ++repeated_[versions[i]].listed;
    }
    const auto links = o_.links_of(order.key);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto found = repeated_.find(values_[i]);
      const TxnId txn = links[positions_[i]].txn;
      if (found == repeated_.end() || h_.status(txn) == TxnStatus::Aborted) continue;
      auto& writes = found->second.writes;
      if (!writes.empty() && links[writes.back()].txn == txn) writes.pop_back();
      writes.push_back(positions_[i]);
    }
    for (auto& [value, repeated] : repeated_) {
      std::erase_if(repeated.writes, [&](std::uint32_t at) { return named.contains(at); });
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
  // REQUIRES: note_repeated() was called for the order.
  [[nodiscard]] Error ambiguous(KeyId key, Value version) {
    constexpr std::size_t kShown = 3;
    const auto& writes = repeated_[version].writes;
    const auto links = o_.links_of(key);
    std::string where;
    for (std::size_t i = 0; i < writes.size() && i < kShown; ++i) {
      where += (i > 0 ? ", " : "") + h_.place(links[writes[i]].txn).to_string();
    }
    if (writes.size() > kShown) where += ", …";
    const Value name = writes.empty() ? Value::null() : h_.txn_name(links[writes[0]].txn);
    const bool text = name.kind() == ValueKind::Text || name.is_null();
    const std::string label = name.is_null() ? "t7" : h_.label(name);
    return error(key, version,
                 fmt::format("was written by several transactions ({}); name the one that is meant "
                             "by its \"id\", like [{}]",
                             where, text ? '"' + label + '"' : label));
  }

  const Observed& o_;
  const History& h_;
  BudgetTicker ticker_;
  KeyId key_;                                 // The key at hand.
  absl::flat_hash_map<Value, Write> writes_;  // Its writes, by value.
  std::vector<std::uint32_t> positions_;      // Of its writes among its items.
  std::vector<Value> values_;                 // What they wrote, one per position.
  // By position: the number of the last order that lists the item; and that of the order at hand.
  std::vector<std::uint32_t> listed_in_;
  std::uint32_t order_ = 0;
  absl::flat_hash_map<Value, Repeated> repeated_;  // Of the order with the number repeated_in_.
  std::uint32_t repeated_in_ = 0;
};

Result<GivenOrders> GivenOrders::read(const Observed& observed, unsigned threads,
                                      const Budget& budget) {
  const History& h = observed.history();
  if (h.version_orders().empty() && !columns_of(h).commit_ts.empty()) {
    return Reader(observed, budget).by_timestamps();
  }
  std::vector<VersionOrder> orders(h.version_orders().begin(), h.version_orders().end());
  std::stable_sort(orders.begin(), orders.end(),
                   [](const VersionOrder& a, const VersionOrder& b) { return a.key < b.key; });
  GivenOrders out;
  std::size_t all = 0;
  for (const VersionOrder& order : orders) {
    out.parts_.push_back({order.key, order.complete, all, order.count});
    all += order.count;
  }
  out.writes_.resize(all);
  out.positions_.resize(all);
  const std::size_t shares = all < kFewWrites ? 1 : thread_count(threads);
  std::vector<std::optional<Error>> errors(shares);
  for_each_part(shares, [&](std::size_t share) {
    Reader reader(observed, budget);
    for (std::size_t i = 0; i < orders.size() && !errors[share]; ++i) {
      const Part& part = out.parts_[i];
      if (part.first * shares / (all + 1) != share) continue;
      errors[share] = reader.read(orders[i], std::span(out.writes_).subspan(part.first, part.count),
                                  std::span(out.positions_).subspan(part.first, part.count));
    }
  });
  for (auto& error : errors) {
    if (error) return *std::move(error);
  }
  return out;
}

void GivenOrders::add_to(const Observed& observed, std::vector<WrongRead>& wrong,
                         std::vector<VersionStep>& steps, const Budget& budget) const {
  const auto before = static_cast<std::ptrdiff_t>(steps.size());
  steps.reserve(steps.size() + writes_.size());
  BudgetTicker ticker(budget, kAFewKeys);
  for (const Part& part : parts_) {
    if (ticker.tick()) return;
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
  const auto links = observed.links_of(part.key);
  ItemId last;
  TxnId last_txn;
  for (std::size_t i = part.first; i < part.first + part.count; ++i) {
    const TxnId txn = links[positions_[i]].txn;
    if (!observed.counted(txn)) continue;
    if (last_txn != txn && (last.valid() || part.complete)) {
      steps.push_back({.from = last, .to = writes_[i], .read = {}, .adjacent = part.complete});
    }
    last = writes_[i];
    last_txn = txn;
  }
}

void GivenOrders::find_missing(const Observed& observed, const Part& part,
                               std::vector<WrongRead>& wrong) const {
  const auto items = observed.items_of(part.key);
  const auto links = observed.links_of(part.key);
  std::size_t final_ones = 0;
  for (std::size_t i = part.first; i < part.first + part.count; ++i) {
    const KeyLink& link = links[positions_[i]];
    const bool counted = observed.counted(link.txn);
    if (!counted) wrong.push_back({AnomalyKind::VersionOrderMismatch, writes_[i], {}});
    final_ones += counted && link.source == KeyLink::kFinalWrite ? 1 : 0;
  }
  if (!part.complete) return;
  const auto belongs = [&](const KeyLink& link) {
    return link.source == KeyLink::kFinalWrite && observed.counted(link.txn);
  };
  const auto all = std::count_if(links.begin(), links.end(), belongs);
  if (static_cast<std::size_t>(all) == final_ones) return;
  const auto listed = std::span(writes_).subspan(part.first, part.count);
  const absl::flat_hash_set<ItemId> known(listed.begin(), listed.end());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (belongs(links[i]) && !known.contains(items[i])) {
      wrong.push_back({AnomalyKind::VersionOrderMismatch, items[i], {}});
    }
  }
}

}  // namespace ouro
