#include "check/untold_keys.h"

#include <algorithm>
#include <utility>

#include "history/access.h"
#include "history/commuting.h"

namespace ouro {

WrittenRows written_rows(const Observed& o, const std::vector<bool>& lists) {
  const History& h = o.history();
  std::vector<WrittenRows::Row> rows;
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    const KeyId key{k};
    if (lists[k]) continue;
    if (const Value initial = h.initial(key); !initial.is_null()) {
      rows.push_back({{key, initial}, true});
    }
    for (const ItemId item : o.items_of(key)) {
      const Value value = o.items().value(item);
      const bool row = o.items().is_write(item) && leaves_row(o.items().kind(item), value);
      if (row) rows.push_back({{key, value}, false});
    }
  }
  return {h, std::move(rows)};
}

void add_all_keys(const Observed& o, WrittenRows& rows, OpId id, std::vector<ReadKey>& out) {
  const History& h = o.history();
  const PredicateRead& read = h.predicate_read(id);
  std::vector<KeyId> keys;
  rows.for_each_that_counts(
      read, [&](const WrittenRows::Row& row) { keys.push_back(row.version.key); });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const auto own = written_before(h, id);
  const auto told = h.rows(read);
  for (const KeyId key : keys) {
    const bool known = std::any_of(told.begin(), told.end(),
                                   [&](const KeyVersion& row) { return row.key == key; });
    if (!known && !has_key(own, key)) out.push_back({id, key});
  }
}

void Impossible::add(const Observed& whole, const std::vector<bool>& lists, OpId id,
                     std::vector<ReadKey>& out) {
  const History& h = whole.history();
  if (whole.counted(h.txn_of(id))) {
    if (!read.valid()) read = id;
    return;
  }
  const auto own = written_before(h, id);
  const auto row = std::find(lists.begin(), lists.end(), false);
  if (!own.empty()) {
    out.push_back({id, own[0].first});
  } else if (row != lists.end()) {
    out.push_back({id, KeyId{static_cast<std::size_t>(row - lists.begin())}});
  }
}

AllUntold all_untold(const Observed& o, const Scans& scans, std::size_t most,
                     const Budget& budget) {
  const History& h = o.history();
  const std::vector<bool> lists = list_keys(h);
  AllUntold out;
  constexpr std::uint64_t kStepsPerRow = 3;
  WrittenRows rows = written_rows(o, lists);
  std::uint64_t looked_at = 0;
  BudgetTicker ticker(budget, 64);
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const OpId id{i};
    if (!has_untold_keys(h, id) || h.status(h.txn_of(id)) == TxnStatus::Aborted) continue;
    out.too_many = out.keys.size() > most;
    if (ticker.tick() || out.too_many) return out;
    if (!has_condition(h.op(id).kind)) {
      scans.add_keys(id, out.keys);
      continue;
    }
    const std::size_t before = out.keys.size();
    add_all_keys(o, rows, id, out.keys);
    budget.charge(kStepsPerRow * (rows.looked_at() - std::exchange(looked_at, rows.looked_at())));
    PossibleResult mine(h, id);
    add_own(h, id, written_before(h, id), mine);
    const bool select = h.op(id).kind == OpKind::Select;
    const bool alone = select || out.keys.size() == before;
    const bool known = select || !h.predicate_read(id).result.is_unobserved();
    if (alone && known && !mine.has_result()) out.impossible.add(o, lists, id, out.keys);
  }
  return out;
}

std::vector<PredicateFlaw> impossible_results(const Observed& o, const Budget& budget) {
  std::vector<PredicateFlaw> out;
  BudgetTicker ticker(budget, 1024, 4);  // A tick is a version of a row, or a transaction.
  const History& h = o.history();
  const Items& items = o.items();
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (ticker.tick()) return out;
    if (!o.counted(TxnId{t})) continue;
    for (ItemId i = items.first(TxnId{t}); i < items.end(TxnId{t});) {
      const OpId op = items.op(i);
      if (!items.is_untold(i) || h.op(op).kind == OpKind::Scan) {
        ++i.value;
        continue;
      }
      const PredicateRead& read = h.predicate_read(op);
      const bool select = h.op(op).kind == OpKind::Select;
      const auto own = written_before(h, op);
      PossibleResult result(h, op);
      add_own(h, op, own, result);
      for (; i < items.end(TxnId{t}) && items.op(i) == op; ++i.value) {
        if (select || has_key(own, items.key(i))) continue;
        std::vector<RowPart> parts;
        if (o.external(i)) {
          parts.push_back(part_of(o, read, items.key(i), o.write(i)));
        } else {
          for (const ItemId write : o.candidates(i)) {
            parts.push_back(part_of(o, read, items.key(i), write));
          }
        }
        ticker.tick(static_cast<std::uint32_t>(parts.size()));
        result.add(parts, items.key(i));
      }
      if ((!select && read.result.is_unobserved()) || result.has_result()) continue;
      out.push_back({AnomalyKind::ResultSetMismatch, op, {}, {}});
    }
  }
  return out;
}

}  // namespace ouro
