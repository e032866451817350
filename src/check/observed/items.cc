#include "check/observed/items.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "history/columns.h"
#include "history/value_order.h"

namespace ouro {
namespace {

// Keys sorted by name, to find those in a range.
class KeyRange {
 public:
  explicit KeyRange(const History& history) : h_(history), keys_(history.key_count()) {
    for (std::size_t k = 0; k < keys_.size(); ++k) keys_[k] = KeyId{k};
    std::sort(keys_.begin(), keys_.end(),
              [&](KeyId a, KeyId b) { return less(h_.key_name(a), h_.key_name(b)); });
  }

  // The known keys from `lower` to `upper`, both included; null: open.
  [[nodiscard]] std::span<const KeyId> between(Value lower, Value upper) const {
    const auto first = lower.is_null()
                           ? keys_.begin()
                           : std::partition_point(keys_.begin(), keys_.end(), [&](KeyId key) {
                               return less(h_.key_name(key), lower);
                             });
    const auto last =
        upper.is_null() ? keys_.end() : std::partition_point(first, keys_.end(), [&](KeyId key) {
          return !less(upper, h_.key_name(key));
        });
    return {first, last};
  }

 private:
  [[nodiscard]] bool less(Value a, Value b) const { return compare_values(h_, a, b) < 0; }

  const History& h_;
  std::vector<KeyId> keys_;
};

}  // namespace

Items::Items(const History& history, const Budget& budget, std::span<const ReadKey> untold) {
  const HistoryColumns& c = columns_of(history);
  op_kind_ = c.op_kind;
  kind_ = c.op_kind;
  key_ = c.op_key;
  value_ = c.op_value;
  first_ = c.txn_first_op;
  if (!c.predicate_reads.empty()) flatten(history, budget, untold);
}

void Items::flatten(const History& history, const Budget& budget, std::span<const ReadKey> untold) {
  // Greater numbers are codes (Observed::kInitial).
  constexpr std::size_t kMost = 0xfffffff0;
  const KeyRange keys(history);
  const std::vector<bool> lists = list_keys(history);
  std::vector<bool> returned(history.key_count(), false);
  std::vector<Value> listed(history.key_count(), Value::null());  // By the version set at hand.
  has_set_.assign(history.op_count(), false);
  const auto add = [&](OpKind kind, KeyId key, Value value, OpId op) {
    own_kind_.push_back(kind);
    own_key_.push_back(key);
    own_value_.push_back(value);
    own_op_.push_back(op);
  };
  // Operations between looks at the budget: a scan may become many items.
  BudgetTicker ticker(budget, 64);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    own_first_.push_back(static_cast<std::uint32_t>(own_kind_.size()));
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      too_many_ |= own_kind_.size() + 2 * history.key_count() > kMost;
      if (ticker.tick() || too_many_) break;
      const Op op = history.op(id);
      if (!is_predicate_read(op.kind)) {
        add(op.kind, op.key, op.value, id);
        continue;
      }
      const PredicateRead& read = history.predicate_read(id);
      const auto rows = history.rows(read);
      for (const KeyVersion& row : rows) add(OpKind::Read, row.key, row.value, id);
      for (; !untold.empty() && untold.front().read == id; untold = untold.subspan(1)) {
        untold_.emplace_back(own_kind_.size());
        add(OpKind::Read, untold.front().key, Value::null(), id);
      }
      if (op.kind != OpKind::Scan) continue;
      const auto set = history.version_set(read);
      has_set_[id.index()] = read.has_version_set;
      for (const KeyVersion& version : set) listed[version.key.index()] = version.value;
      for (const KeyVersion& row : rows) returned[row.key.index()] = true;
      for (const KeyId key : keys.between(read.lower, read.upper)) {
        if (returned[key.index()] || lists[key.index()]) continue;
        const Value seen = listed[key.index()];
        if (!seen.is_null()) unreturned_.insert(ItemId{own_kind_.size()});
        add(OpKind::Read, key, seen, id);
      }
      for (const KeyVersion& row : rows) returned[row.key.index()] = false;
      for (const KeyVersion& version : set) listed[version.key.index()] = Value::null();
    }
  }
  own_first_.push_back(static_cast<std::uint32_t>(own_kind_.size()));
  kind_ = own_kind_;
  key_ = own_key_;
  value_ = own_value_;
  op_ = own_op_;
  first_ = own_first_;
}

bool scans_list_tombstones(const History& history) {
  if (!history.has_predicate_reads()) return false;
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (info(op.kind).deletes && !op.value.is_null()) tombstones.insert({op.key, op.value});
  }
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    if (history.op(OpId{i}).kind != OpKind::Scan) continue;
    for (const KeyVersion& row : history.rows(history.predicate_read(OpId{i}))) {
      if (tombstones.contains({row.key, row.value})) return true;
    }
  }
  return false;
}

}  // namespace ouro
