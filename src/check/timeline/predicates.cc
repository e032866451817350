#include "check/timeline/predicates.h"

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "check/predicates/aggregate.h"
#include "check/timeline/rows.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/undone.h"

namespace ouro {
namespace {

// Keeps all rows while it goes along the timeline, and judges the predicate reads of one thread:
// those whose operation number is `part` modulo `parts`.
class PredicateReplay {
 public:
  PredicateReplay(const History& history, const ListKeys& lists, std::size_t part,
                  std::size_t parts, Violations& violations)
      : h_(history), rows_(history, lists), part_(part), parts_(parts), violations_(violations) {}

  // Returns how many rows were looked at.
  std::uint64_t run(const Timeline& timeline, const std::vector<bool>& has_predicates,
                    const Budget& budget) {
    BudgetTicker ticker(budget);
    for (std::size_t i = 0; i < timeline.size() && !ticker.tick(); ++i) {
      const auto [txn, commit] = timeline.step(i);
      if (commit) {
        if (timeline.writes(txn)) write_all(txn);
      } else if (has_predicates[txn.index()]) {
        if (budget.exhausted()) break;
        begin(txn, static_cast<std::uint32_t>(i));
      }
    }
    return rows_.looked_at();
  }

 private:
  void write(const Op& op) {
    if (!rows_.has(op.key)) return;
    rows_.set(op.key, {op.value, leaves_own_row(op)});
  }
  void write_all(TxnId txn) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (is_write(op.kind)) write(op);
    }
  }

  // Judges the predicate reads of a transaction that begins now. Its own writes are visible to
  // itself only, so they are made on the way and undone at the end.
  void begin(TxnId txn, std::uint32_t now) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (is_predicate_read(op.kind)) {
        if (id.index() % parts_ == part_) judge_in_part(txn, op, now);
      } else if (is_write(op.kind)) {
        write_for_now(op);
      }
    }
    take_back(0);
  }

  void write_for_now(const Op& op) {
    if (!rows_.has(op.key)) return;
    undo_.push_back({op.key, rows_.row(op.key)});
    write(op);
  }
  // Undoes own writes, until only the first `left` are left.
  void take_back(std::size_t left) {
    for (; undo_.size() > left; undo_.pop_back()) {
      rows_.set(undo_.back().first, undo_.back().second);
    }
  }

  // Judges a read with what its part of the transaction wrote before it, if that was undone later.
  void judge_in_part(TxnId txn, const Op& op, std::uint32_t now) {
    const std::size_t kept = undo_.size();
    for (OpId id = h_.first_op(txn); h_.undone_part(op.id) != 0 && id < op.id; ++id.value) {
      const Op own = h_.op(id);
      if (is_undone(own.kind) && is_own_row(h_, own, op.id)) write_for_now(own);
    }
    judge(txn, op, now);
    take_back(kept);
  }

  void judge(TxnId txn, const Op& op, std::uint32_t now) {
    const PredicateRead& read = h_.predicate_read(op.id);
    const std::vector<KeyVersion> expected = rows_.selected(op.kind, read);
    std::string result;
    if (op.kind == OpKind::Aggregate) {
      if (read.result.is_unobserved()) return;
      if (aggregate_fits(h_, read, expected, h_.text(read.result))) return;
      result = aggregate(h_, read, expected);
    } else if (expected == rows_.returned(read)) {
      return;
    }
    if (!violations_.add(AnomalyKind::ResultSetMismatch)) return;
    violations_.keep({.kind = AnomalyKind::ResultSetMismatch,
                      .at = now,
                      .txn = txn,
                      .op = op.id,
                      .expected = op.kind == OpKind::Aggregate ? result : rows_text(h_, expected)});
  }

  const History& h_;
  Rows rows_;
  const std::size_t part_;
  const std::size_t parts_;
  Violations& violations_;
  // The rows that own writes replaced, in order.
  std::vector<std::pair<KeyId, Rows::Row>> undo_;
};

}  // namespace

void replay_predicates(const History& history, const Timeline& timeline, const ListKeys& lists,
                       unsigned threads, const Budget& budget, Violations& violations) {
  if (!history.has_predicate_reads()) return;
  std::vector<bool> has_predicates(history.txn_count(), false);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      if (is_predicate_read(history.op(id).kind)) has_predicates[t] = true;
    }
  }
  const std::size_t parts =
      columns_of(history).predicate_reads.size() < 100 ? 1 : thread_count(threads);
  std::vector<Violations> found(parts, violations.empty_copy());
  std::vector<std::uint64_t> looked_at(parts);
  for_each_part(parts, [&](std::size_t part) {
    PredicateReplay replay(history, lists, part, parts, found[part]);
    looked_at[part] = replay.run(timeline, has_predicates, budget);
  });
  constexpr std::uint64_t kStepsPerRow = 2;
  for (const std::uint64_t rows : looked_at) budget.charge(kStepsPerRow * rows);
  for (Violations& part : found) violations.merge(std::move(part));
}

}  // namespace ouro
