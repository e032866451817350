#include "report/wrong_totals.h"

#include <map>
#include <optional>
#include <set>

#include "history/columns.h"
#include "history/commuting.h"

namespace ouro {
namespace {

struct Total {
  std::set<Value> counters;
  std::set<Value> known;  // Those of which is known what they held at the start.
  std::int64_t held = 0;  // At the start, and so always.
};

// Nothing if some transaction changes the total, or there are no increments.
std::optional<Total> conserved_total(const History& h) {
  Total out;
  for (const KeyVersion& entry : columns_of(h).key_initial) {
    const auto row = counter_row(h, entry.value);
    if (!row || row->delta.kind() != ValueKind::Integer) continue;
    out.counters.insert(row->counter);
    out.known.insert(row->counter);
    out.held += row->delta.number();
  }
  bool increments = false;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(TxnId{t}) == TxnStatus::Aborted) continue;
    std::int64_t sum = 0;
    for (OpId id = h.first_op(TxnId{t}); id < h.end_op(TxnId{t}); ++id.value) {
      if (h.op(id).kind != OpKind::Inc) continue;
      const auto row = counter_row(h, h.op(id).value);
      if (!row || row->delta.kind() != ValueKind::Integer) return std::nullopt;
      out.counters.insert(row->counter);
      const auto added = increment(h, h.op(id));
      if (!added) return std::nullopt;
      sum += *added;
      increments = true;
    }
    if (sum != 0) return std::nullopt;
  }
  return increments ? std::optional(std::move(out)) : std::nullopt;
}

// What a transaction read of each counter before it changed any.
std::map<Value, std::int64_t> counters_read(const History& h, TxnId txn) {
  std::map<Value, std::int64_t> out;
  for (OpId id = h.first_op(txn); id < h.end_op(txn) && h.op(id).kind != OpKind::Inc; ++id.value) {
    const Op op = h.op(id);
    if (op.kind != OpKind::Aggregate) continue;
    const PredicateRead& read = h.predicate_read(id);
    const Value counter = counter_read(h, op.kind, read);
    if (counter.is_null() || read.result.kind() != ValueKind::Integer) continue;
    out.try_emplace(counter, read.result.number());
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> total_of_accounts(const History& history) {
  const auto total = conserved_total(history);
  if (!total || total->known != total->counters) return std::nullopt;
  return total->held;
}

std::vector<WrongTotal> wrong_totals(const History& history, std::span<const TxnId> txns) {
  std::vector<WrongTotal> out;
  if (!history.has_predicate_reads()) return out;
  const auto total = conserved_total(history);
  if (!total) return out;
  for (const TxnId txn : txns) {
    if (!txn.valid()) continue;
    const auto read = counters_read(history, txn);
    std::int64_t counted = 0;
    for (const auto& [counter, number] : read) counted += number;
    if (read.size() != total->counters.size() || counted == total->held) continue;
    out.push_back({txn, counted, total->held});
  }
  return out;
}

std::vector<NegativeBalance> negative_balances(const History& history,
                                               std::span<const TxnId> txns) {
  std::vector<NegativeBalance> out;
  if (!has_balances(history)) return out;
  for (const TxnId txn : txns) {
    if (!txn.valid()) continue;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      if (number_read(history, history.op(id)).value_or(0) >= 0) continue;
      out.push_back({txn, id});
      break;
    }
  }
  return out;
}

}  // namespace ouro
