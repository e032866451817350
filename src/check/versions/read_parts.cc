#include "check/versions/read_parts.h"

#include <algorithm>

#include "history/access.h"
#include "history/undone.h"

namespace ouro {

OwnWrites written_before(const History& h, OpId op) {
  OwnWrites out;
  const OpId first = h.first_op(h.txn_of(op));
  for (OpId id = op; id > first;) {
    const Op own = h.op(OpId{--id.value});
    if (is_own_row(h, own, op)) out.emplace_back(own.key, own.id);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto end = std::unique(out.begin(), out.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  out.erase(end, out.end());
  return out;
}

RowPart part_of(const Observed& o, const PredicateRead& read, KeyId key, ItemId write) {
  const History& h = o.history();
  const Value value = write.valid() ? o.items().value(write) : h.initial(key);
  const bool row = write.valid() ? leaves_row(o.items().kind(write), value) : !value.is_null();
  return row ? row_part(h, read, {key, value}) : RowPart{};
}

std::vector<KeyPart> own_parts(const History& h, OpId op, const OwnWrites& own) {
  std::vector<KeyPart> out;
  const PredicateRead& read = h.predicate_read(op);
  const auto rows = h.rows(read);
  for (const auto& [key, write] : own) {
    const Op last = h.op(write);
    const bool returned = std::any_of(rows.begin(), rows.end(),
                                      [&](const KeyVersion& row) { return row.key == last.key; });
    if (returned || !leaves_own_row(last)) continue;
    out.push_back({key, row_part(h, read, {last.key, last.value})});
  }
  return out;
}

void add_own(const History& h, OpId op, const OwnWrites& own, PossibleResult& result) {
  for (const KeyPart& mine : own_parts(h, op, own)) result.add({&mine.part, 1}, mine.key);
}

bool has_key(const OwnWrites& sorted, KeyId key) {
  const auto at = std::partition_point(sorted.begin(), sorted.end(),
                                       [&](const auto& entry) { return entry.first < key; });
  return at != sorted.end() && at->first == key;
}

Verdict impossible_read(const Observed& observed, Level level, OpId read) {
  Verdict verdict{.level = level, .outcome = Outcome::Violated};
  verdict.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)] = 1;
  verdict.anomalies.push_back({.kind = AnomalyKind::ResultSetMismatch,
                               .txns = {observed.history().txn_of(read)},
                               .ops = {read},
                               .edges = {}});
  return verdict;
}

}  // namespace ouro
