#include "check/observed/observed.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "base/slice.h"
#include "check/observed/given_orders.h"
#include "check/observed/join.h"
#include "check/observed/key_ranges.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/input_error.h"
#include "history/value_order.h"

namespace ouro {

Result<Observed> Observed::observe(const History& history, const Budget& budget, unsigned threads,
                                   Evidence evidence, Tombstones tombstones,
                                   std::span<const ReadSource> sources,
                                   std::span<const ReadKey> untold, RowChoice rows) {
  Observed o(history, budget, evidence, untold, std::move(rows));
  o.tombstones_ = tombstones;
  o.sources_.assign(sources.begin(), sources.end());
  std::sort(o.sources_.begin(), o.sources_.end());
  for (const ReadSource& said : sources) {
    if (said.element != 0) o.said_elements_[{said.key, said.element - 1}] = said.writer;
  }
  if (o.items_.too_many()) {
    Error error;
    error.what =
        "scans found or missed more than 4 billion keys; check a part of the history, or "
        "narrower scans";
    return error;
  }
  constexpr std::uint64_t kStepsPerItem = 8;
  budget.charge(kStepsPerItem * o.items_.size() + columns_of(history).elements.size());
  o.source_.assign(o.items_.size(), kNone);
  o.element_item_.resize(columns_of(history).elements.size());

  const std::size_t parts = o.items_.size() < 50'000 ? 1 : thread_count(threads);
  std::vector<Join> joins;
  joins.reserve(parts);
  for (std::size_t part = 0; part < parts; ++part) joins.emplace_back(o, tombstones, budget);
  o.join_keys(joins, threads, budget);
  if (budget.exhausted()) {
    o.stopped_ = true;
    return o;
  }

  const Join::Fault* first = nullptr;
  std::vector<KeyId> lists;
  for (Join& join : joins) {
    if (join.fault() && (first == nullptr || join.fault()->item < first->item)) {
      first = &*join.fault();
    }
    o.wrong_reads_.insert(o.wrong_reads_.end(), join.wrong_reads().begin(),
                          join.wrong_reads().end());
    lists.insert(lists.end(), join.list_keys().begin(), join.list_keys().end());
    o.open_reads_.insert(o.open_reads_.end(), join.open_reads().begin(), join.open_reads().end());
  }
  if (first != nullptr) {
    return error_at(history, o.items_.op(first->item), first->what);
  }
  std::sort(lists.begin(), lists.end());  // Which thread joined which keys is left to chance.
  std::sort(o.open_reads_.begin(), o.open_reads_.end());
  GivenOrders given;
  if (evidence == Evidence::Versions) {
    auto read = GivenOrders::read(o, threads, budget);
    if (!read.ok()) return std::move(read).error();
    given = *std::move(read);
  }
  o.stopped_ = budget.exhausted();
  if (o.stopped_) return o;
  o.resolve_unknown(given.installed());
  o.find_searched_reads();
  o.order_lists(lists, budget);
  given.add_to(o, o.wrong_reads_, o.version_steps_, budget);
  o.keep_counted_wrong_reads();
  o.stopped_ = budget.exhausted();
  return o;
}

// Each thread takes the next range of keys.
void Observed::join_keys(std::span<Join> joins, unsigned threads, const Budget& budget) {
  const KeyRanges ranges(*history_, items_, threads, budget, item_txn_);
  if (budget.exhausted()) return;
  key_first_ = ranges.key_first();
  key_items_.extend(key_first_.back());
  key_links_.extend(key_first_.back());
  std::atomic<std::size_t> next{0};
  for_each_part(joins.size(), [&](std::size_t part) {
    std::vector<Access> accesses;
    for (std::size_t r = next++; r < ranges.count(); r = next++) {
      if (!ranges.sort(r, accesses)) return;
      join_range(ranges.first(r), accesses, joins[part]);
    }
  });
}

// Joins the keys of a range. `first` is the position of its first access among those of all ranges.
void Observed::join_range(std::size_t first, std::span<const Access> accesses, Join& join) {
  for (std::size_t begin = 0; begin < accesses.size();) {
    std::size_t end = begin;
    for (; end < accesses.size() && accesses[end].key == accesses[begin].key; ++end) {
      key_items_[first + end] = accesses[end].item;
    }
    join.key(accesses.subspan(begin, end - begin),
             std::span(key_links_.data() + first + begin, end - begin));
    begin = end;
  }
}

// Finds which transactions take part; see counted(). `installed` are the writes in version orders.
void Observed::resolve_unknown(std::span<const ItemId> installed) {
  const std::size_t txns = history_->txn_count();
  counted_.assign(txns, false);
  std::vector<TxnId> seen;  // Unknown transactions whose reads are still to be followed.
  // By trunk: how many of its elements were followed.
  std::vector<std::uint32_t> shown(columns_of(*history_).trunk_end.size(), 0);
  const auto count_in = [&](ItemId write) {
    if (!write.valid() || !items_.is_write(write)) return;
    const TxnId writer = txn(write);
    if (counted_[writer.index()] || history_->status(writer) != TxnStatus::Unknown) return;
    counted_[writer.index()] = true;
    seen.push_back(writer);
  };
  const auto follow = [&](TxnId txn) {
    for (ItemId i = items_.first(txn); i < items_.end(txn); ++i.value) {
      if (!items_.is_read(i)) continue;
      const Value value = items_.value(i);
      if (!value.is_list()) {
        if (external(i)) count_in(write(i));
        continue;
      }
      if (value.length() == 0) continue;
      std::uint32_t& done = shown[value.trunk()];
      for (; done < value.length(); ++done) count_in(append_of(value, done));
    }
  };
  bool any_unknown = false;
  for (std::size_t t = 0; t < txns; ++t) {
    counted_[t] = history_->status(TxnId{t}) == TxnStatus::Committed;
    any_unknown |= history_->status(TxnId{t}) == TxnStatus::Unknown;
  }
  if (any_unknown) {
    for (const ItemId write : installed) count_in(write);
    for (std::size_t t = 0; t < txns; ++t) {
      if (history_->status(TxnId{t}) == TxnStatus::Committed) follow(TxnId{t});
    }
    while (!seen.empty()) {
      const TxnId txn = seen.back();
      seen.pop_back();
      follow(txn);
    }
  }
  counted_count_ = static_cast<std::size_t>(std::count(counted_.begin(), counted_.end(), true));
}

void Observed::find_searched_reads() {
  if (open_reads_.empty()) return;
  // Keys that a transaction wrote that may still come to take part.
  std::vector<bool> unsettled(history_->key_count(), false);
  for (std::size_t t = 0; t < history_->txn_count(); ++t) {
    if (counted_[t] || history_->status(TxnId{t}) != TxnStatus::Unknown) continue;
    for (ItemId i = items_.first(TxnId{t}); i < items_.end(TxnId{t}); ++i.value) {
      if (items_.is_write(i)) unsettled[items_.key(i).index()] = true;
    }
  }
  for (const ItemId read : open_reads_) {
    if (!counted(txn(read))) continue;
    // What an aggregate saw of one key depends on what it saw of the others.
    if (history_->op(items_.op(read)).kind == OpKind::Aggregate) continue;
    if (unsettled[items_.key(read).index()]) {
      const auto from = candidates(read);
      const bool all = std::all_of(from.begin(), from.end(), [&](ItemId write) {
        return !write.valid() || counted(txn(write));
      });
      if (!all) continue;
    }
    searched_reads_.push_back(read);
  }
}

std::vector<ItemId> Observed::candidates(ItemId open_read) const {
  std::vector<ItemId> out;
  const KeyId key = items_.key(open_read);
  if (fits(open_read, {})) out.emplace_back();
  for (const ItemId item : items_of(key)) {
    if (!items_.is_write(item) || !final(item) || txn(item) == txn(open_read)) continue;
    const bool aborted = history_->status(txn(item)) == TxnStatus::Aborted;
    if (!aborted && fits(open_read, item)) out.push_back(item);
  }
  return out;
}

bool Observed::fits(ItemId open_read, ItemId write) const {
  const KeyId key = items_.key(open_read);
  const Value held = write.valid() ? items_.value(write) : history_->initial(key);
  if (!items_.is_untold(open_read)) {
    return read_fits(items_.kind(open_read), items_.value(open_read), held);
  }
  const OpId op = items_.op(open_read);
  if (history_->op(op).kind == OpKind::Scan) return !is_listed(key, write);
  if (history_->op(op).kind == OpKind::Aggregate) return true;
  const bool row = write.valid() ? leaves_row(items_.kind(write), held) : !held.is_null();
  return !row ||
         evaluate(*history_, history_->predicate_read(op).predicate, key, held) != Truth::True;
}

bool Observed::is_listed(KeyId key, ItemId write) const {
  const Value held = write.valid() ? items_.value(write) : history_->initial(key);
  if (!write.valid() || tombstones_ == Tombstones::Listed) return !held.is_null();
  return leaves_row(items_.kind(write), held);
}

std::span<const VersionStep> Observed::version_steps(KeyId key) const {
  const auto by_key = [&](const VersionStep& step) { return items_.key(step.to); };
  const auto first = std::partition_point(version_steps_.begin(), version_steps_.end(),
                                          [&](const VersionStep& s) { return by_key(s) < key; });
  const auto last = std::partition_point(first, version_steps_.end(),
                                         [&](const VersionStep& s) { return by_key(s) == key; });
  return slice(version_steps_, first, last);
}

// Drops what is wrong with reads of transactions that do not take part, and sorts the rest.
void Observed::keep_counted_wrong_reads() {
  std::erase_if(wrong_reads_, [&](const WrongRead& f) {
    return f.kind != AnomalyKind::VersionOrderMismatch && !counted(txn(f.item));
  });
  std::sort(wrong_reads_.begin(), wrong_reads_.end(), [](const WrongRead& a, const WrongRead& b) {
    return std::tie(a.item, a.kind, a.other) < std::tie(b.item, b.kind, b.other);
  });
}

ItemId final_write(const Observed& observed, TxnId txn, KeyId key) {
  const Items& items = observed.items();
  for (ItemId i = items.end(txn); i > items.first(txn);) {
    --i.value;
    if (items.is_write(i) && items.key(i) == key) return i;
  }
  return {};
}

bool explain_predicate(const Observed& observed, TxnId from, TxnId to, bool overwrites, Edge& out) {
  const auto edges = observed.predicate_edges();
  const TxnId reader = overwrites ? from : to;
  const TxnId writer = overwrites ? to : from;
  auto at = std::partition_point(edges.begin(), edges.end(),
                                 [&](const PredicateEdge& edge) { return edge.reader < reader; });
  for (; at != edges.end() && at->reader == reader; ++at) {
    if (at->overwrites != overwrites || observed.txn(at->write) != writer) continue;
    const OpId write = observed.items().op(at->write);
    out = {.from = from,
           .to = to,
           .kind = overwrites ? EdgeKind::ReadWrite : EdgeKind::WriteRead,
           .key = observed.items().key(at->write),
           .from_op = overwrites ? at->read : write,
           .to_op = overwrites ? write : at->read};
    return true;
  }
  return false;
}

}  // namespace ouro
