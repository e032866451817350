#include "check/timeline/predicates.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "check/aggregate.h"
#include "history/value_order.h"

namespace ouro {
namespace {

// The rows as they are at one point of the timeline. Keys are numbered by the order of their names,
// so that a scan is a range of them.
class Rows {
 public:
  Rows(const History& history, const ListKeys& lists) : h_(history) {
    for (std::size_t k = 0; k < history.key_count(); ++k) {
      if (lists.number(KeyId{k}) == ListKeys::kRegister) keys_.push_back(KeyId{k});
    }
    std::sort(keys_.begin(), keys_.end(),
              [&](KeyId a, KeyId b) { return less(h_.key_name(a), h_.key_name(b)); });
    place_.assign(history.key_count(), kNone);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Value initial = history.initial(keys_[i]);
      place_[keys_[i].index()] = static_cast<std::uint32_t>(i);
      rows_.push_back({initial, !initial.is_null()});
    }
  }

  struct Row {
    Value value;
    bool alive = false;  // False: deleted, or never there.
  };
  [[nodiscard]] bool has(KeyId key) const { return place_[key.index()] != kNone; }
  // REQUIRES: has(key).
  [[nodiscard]] Row& row(KeyId key) { return rows_[place_[key.index()]]; }

  // The rows that the predicate read should return.
  [[nodiscard]] std::vector<KeyVersion> selected(OpKind kind, const PredicateRead& read) const {
    std::vector<KeyVersion> out;
    auto [first, end] =
        kind == OpKind::Scan ? range(read) : std::pair(std::size_t{0}, keys_.size());
    for (std::size_t i = first; i < end; ++i) {
      if (!rows_[i].alive) continue;
      if (kind != OpKind::Scan &&
          evaluate(h_, read.predicate, keys_[i], rows_[i].value) != Truth::True) {
        continue;
      }
      out.push_back({keys_[i], rows_[i].value});
    }
    return out;
  }

  // The rows that came back, in the order of selected(). A tombstone that the read met and listed
  // is no row.
  [[nodiscard]] std::vector<KeyVersion> returned(const PredicateRead& read) const {
    std::vector<KeyVersion> out;
    for (const KeyVersion& version : h_.rows(read)) {
      const std::uint32_t place = place_[version.key.index()];
      if (place == kNone) continue;
      const Row& row = rows_[place];
      if (!row.alive && row.value == version.value) continue;
      out.push_back(version);
    }
    const auto place_of = [&](const KeyVersion& v) { return place_[v.key.index()]; };
    std::sort(out.begin(), out.end(), [&](const KeyVersion& a, const KeyVersion& b) {
      return std::pair(place_of(a), a.value) < std::pair(place_of(b), b.value);
    });
    return out;
  }

 private:
  [[nodiscard]] bool less(Value a, Value b) const { return compare_values(h_, a, b) < 0; }
  [[nodiscard]] std::pair<std::size_t, std::size_t> range(const PredicateRead& read) const {
    const auto first = std::partition_point(keys_.begin(), keys_.end(), [&](KeyId key) {
      return !read.lower.is_null() && less(h_.key_name(key), read.lower);
    });
    const auto end = std::partition_point(first, keys_.end(), [&](KeyId key) {
      return read.upper.is_null() || !less(read.upper, h_.key_name(key));
    });
    return {static_cast<std::size_t>(first - keys_.begin()),
            static_cast<std::size_t>(end - keys_.begin())};
  }

  static constexpr std::uint32_t kNone = 0xffffffff;
  const History& h_;
  std::vector<KeyId> keys_;           // By name.
  std::vector<Row> rows_;             // Beside them.
  std::vector<std::uint32_t> place_;  // Of a key in keys_; kNone: a list.
};

// Keeps all rows, and judges every `parts`-th predicate read.
class PredicateReplay {
 public:
  PredicateReplay(const History& history, const ListKeys& lists, std::size_t part,
                  std::size_t parts, Violations& violations)
      : h_(history), rows_(history, lists), part_(part), parts_(parts), violations_(violations) {}

  void run(const Timeline& timeline, const std::vector<bool>& has_predicates,
           const Budget& budget) {
    BudgetTicker ticker(budget);
    for (std::size_t i = 0; i < timeline.size() && !ticker.tick(); ++i) {
      const auto [txn, commit] = timeline.step(i);
      if (commit) {
        if (timeline.writes(txn)) write_all(txn);
      } else if (has_predicates[txn.index()]) {
        if (budget.exhausted()) return;
        begin(txn, static_cast<std::uint32_t>(i));
      }
    }
  }

 private:
  void write(const Op& op) {
    if (!rows_.has(op.key)) return;
    rows_.row(op.key) = {op.value, op.kind != OpKind::Delete && !op.value.is_null()};
  }
  void write_all(TxnId txn) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (is_write(op.kind)) write(op);
    }
  }

  // Its own writes are visible to itself only: they are made, and taken back at the end.
  void begin(TxnId txn, std::uint32_t now) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (is_predicate_read(op.kind)) {
        if (id.index() % parts_ == part_) judge(txn, op, now);
      } else if (is_write(op.kind) && rows_.has(op.key)) {
        undo_.push_back({op.key, rows_.row(op.key)});
        write(op);
      }
    }
    for (; !undo_.empty(); undo_.pop_back()) rows_.row(undo_.back().first) = undo_.back().second;
  }

  void judge(TxnId txn, const Op& op, std::uint32_t now) {
    const PredicateRead& read = h_.predicate_read(op.id);
    const std::vector<KeyVersion> expected = rows_.selected(op.kind, read);
    std::string result;
    if (op.kind == OpKind::Aggregate) {
      result = aggregate(h_, read, expected);
      if (read.result.is_unobserved() || result == h_.text(read.result)) return;
    } else if (expected == rows_.returned(read)) {
      return;
    }
    if (!violations_.add(AnomalyKind::ResultSetMismatch)) return;
    violations_.keep({.kind = AnomalyKind::ResultSetMismatch,
                      .at = now,
                      .txn = txn,
                      .op = op.id,
                      .expected = op.kind == OpKind::Aggregate ? result : text(expected)});
  }

  [[nodiscard]] std::string text(const std::vector<KeyVersion>& rows) const {
    std::string out = "[";
    for (const KeyVersion& row : rows) {
      if (out.size() > 1) out += ',';
      out += '[' + h_.text(h_.key_name(row.key)) + ',' + h_.text(row.value) + ']';
    }
    return out + ']';
  }

  const History& h_;
  Rows rows_;
  const std::size_t part_;
  const std::size_t parts_;
  Violations& violations_;
  std::vector<std::pair<KeyId, Rows::Row>> undo_;
};

}  // namespace

void replay_predicates(const History& history, const Timeline& timeline, const ListKeys& lists,
                       unsigned threads, const Budget& budget, Violations& violations) {
  if (history.columns().predicate_reads.empty()) return;
  std::vector<bool> has_predicates(history.txn_count(), false);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      if (is_predicate_read(history.op(id).kind)) has_predicates[t] = true;
    }
  }
  const std::size_t parts =
      history.columns().predicate_reads.size() < 100 ? 1 : thread_count(threads);
  std::vector<Violations> found(parts, violations.empty_copy());
  for_each_part(parts, [&](std::size_t part) {
    PredicateReplay(history, lists, part, parts, found[part]).run(timeline, has_predicates, budget);
  });
  for (Violations& part : found) violations.merge(std::move(part));
}

}  // namespace ouro
