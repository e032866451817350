#include "tests/z3_states.h"

#include <z3++.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine_levels.h"
#include "tests/value_oracle.h"

namespace ouro::oracle {
namespace {

constexpr std::size_t kAtFirst = ~std::size_t{0};

// What a transaction left in a key; or, if `txn` is kAtFirst, what was there at first.
struct Left {
  std::size_t txn = kAtFirst;
  Value value;
  bool row = false;
};

// Only the results of aggregates take more than differences of moments.
const char* logic_of(const History& history) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    if (history.op(OpId{i}).kind == OpKind::Aggregate) return "QF_LIA";
  }
  return "QF_IDL";
}

class StateQuestion {
 public:
  StateQuestion(const History& history, Level level)
      : h_(history), level_(level), solver_(z3_, logic_of(history)) {
    add_txns();
    find_tombstones();
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      const Value initial = h_.initial(KeyId{k});
      left_[KeyId{k}].push_back({kAtFirst, initial, !initial.is_null()});
    }
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      std::map<KeyId, Left> own;
      for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) note(t, id, own);
      if (h_.status(TxnId{t}) == TxnStatus::Aborted) continue;
      for (const auto& [key, last] : own) left_[key].push_back(last);
    }
  }

  bool allowed() {
    for (const auto& [key, all] : left_) {
      for (std::size_t i = 1; i < all.size(); ++i) {
        for (std::size_t j = 1; j < i; ++j) write_one_after_the_other(all[i].txn, all[j].txn);
      }
    }
    for (std::size_t s = 0; s < h_.session_count() && has_sessions(level_); ++s) {
      const auto txns = h_.session_txns(SessionId{s});
      for (std::size_t i = 0; i < txns.size(); ++i) {
        for (std::size_t j = i + 1; j < txns.size(); ++j) {
          const std::size_t a = txns[i].index();
          const std::size_t b = txns[j].index();
          solver_.add(z3::implies(counts_[a] && counts_[b], commit_[a] < begin_[b]));
        }
      }
    }
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(TxnId{t}) != TxnStatus::Aborted) ask(t);
    }
    switch (solver_.check()) {
      case z3::sat:
        return true;
      case z3::unsat:
        return false;
      default:
        throw std::runtime_error("z3: " + solver_.reason_unknown());
    }
  }

 private:
  void add_txns() {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      const std::string number = std::to_string(t);
      begin_.push_back(z3_.int_const(("b" + number).c_str()));
      commit_.push_back(is_snapshot_level(level_) ? z3_.int_const(("c" + number).c_str())
                                                  : begin_.back());
      counts_.push_back(z3_.bool_const(("k" + number).c_str()));
      if (is_snapshot_level(level_)) solver_.add(begin_[t] < commit_[t]);
      const TxnStatus status = h_.status(TxnId{t});
      if (status == TxnStatus::Committed) solver_.add(counts_[t]);
      if (status == TxnStatus::Aborted) solver_.add(!counts_[t]);
    }
  }

  // Whether scans list what deletes left.
  void find_tombstones() {
    std::set<std::pair<KeyId, Value>> tombstones;
    for (std::size_t i = 0; i < h_.op_count(); ++i) {
      const Op op = h_.op(OpId{i});
      if (op.kind == OpKind::Delete && !op.value.is_null()) tombstones.insert({op.key, op.value});
    }
    for (std::size_t i = 0; i < h_.op_count(); ++i) {
      if (h_.op(OpId{i}).kind != OpKind::Scan) continue;
      for (const KeyVersion& row : h_.rows(h_.predicate_read(OpId{i}))) {
        lists_tombstones_ |= tombstones.contains({row.key, row.value});
      }
    }
  }

  // Applies a write of `txn` to what it left so far.
  void note(std::size_t txn, OpId id, std::map<KeyId, Left>& own) const {
    const Op op = h_.op(id);
    if (!is_write(op.kind)) return;
    own[op.key] = {txn, op.value, op.kind != OpKind::Delete && !op.value.is_null()};
  }

  void write_one_after_the_other(std::size_t a, std::size_t b) {
    solver_.add(z3::implies(counts_[a] && counts_[b],
                            commit_[a] < begin_[b] || commit_[b] < begin_[a]));
  }

  // For each entry of left_[key]: whether that is what `reader` sees.
  const std::vector<z3::expr>& seen(std::size_t reader, KeyId key) {
    const auto [at, added] = seen_.try_emplace({reader, key});
    if (!added) return at->second;
    z3::expr some = z3_.bool_val(false);
    for (const Left& left : left_.at(key)) {
      const std::string name = "s" + std::to_string(reader) + "_" + std::to_string(key.index()) +
                               "_" + std::to_string(at->second.size());
      z3::expr here = left.txn == reader ? z3_.bool_val(false) : z3_.bool_const(name.c_str());
      at->second.push_back(here);
      some = some || here;
      if (left.txn != reader) see(reader, key, left.txn, here);
    }
    solver_.add(z3::implies(counts_[reader], some));
    return at->second;
  }

  // If `here`, `reader` sees what `writer` left in `key`.
  void see(std::size_t reader, KeyId key, std::size_t writer, const z3::expr& here) {
    if (writer != kAtFirst) {
      solver_.add(z3::implies(here, counts_[writer] && commit_[writer] < begin_[reader]));
    }
    for (const Left& other : left_.at(key)) {
      if (other.txn == kAtFirst || other.txn == writer || other.txn == reader) continue;
      z3::expr hidden = !counts_[other.txn] || begin_[reader] < commit_[other.txn];
      if (writer != kAtFirst) hidden = hidden || commit_[other.txn] < commit_[writer];
      solver_.add(z3::implies(here, hidden));
    }
  }

  void ask(std::size_t txn) {
    std::map<KeyId, Left> own;
    for (OpId id = h_.first_op(TxnId{txn}); id < h_.end_op(TxnId{txn}); ++id.value) {
      const Op op = h_.op(id);
      if (op.kind == OpKind::Read) {
        require(txn, one_of(txn, op.key, own, [&](const Left& left, bool) {
                  return left.value == op.value;
                }));
      } else if (op.kind == OpKind::Scan || op.kind == OpKind::Select) {
        ask_rows(txn, id, own);
      } else if (op.kind == OpKind::Aggregate) {
        ask_aggregate(txn, id, own);
      } else if (!is_write(op.kind)) {
        throw std::logic_error("z3_states does not know this operation");
      }
      note(txn, id, own);
    }
  }
  void require(std::size_t txn, const z3::expr& what) {
    solver_.add(z3::implies(counts_[txn], what));
  }

  // That what the transaction sees of the key fits: fits(left, whether it is its own).
  template <class Fits>
  z3::expr one_of(std::size_t txn, KeyId key, const std::map<KeyId, Left>& own, const Fits& fits) {
    if (const auto mine = own.find(key); mine != own.end()) {
      return z3_.bool_val(fits(mine->second, true));
    }
    z3::expr out = z3_.bool_val(false);
    const auto& all = left_.at(key);
    const auto& here = seen(txn, key);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (fits(all[i], false)) out = out || here[i];
    }
    return out;
  }

  void ask_rows(std::size_t txn, OpId id, const std::map<KeyId, Left>& own) {
    const PredicateRead& read = h_.predicate_read(id);
    const bool scan = h_.op(id).kind == OpKind::Scan;
    std::map<KeyId, Value> rows;
    for (const KeyVersion& row : h_.rows(read)) {
      const bool twice = !rows.emplace(row.key, row.value).second;
      if (twice || (scan && !in_range(h_, read, row.key))) require(txn, z3_.bool_val(false));
    }
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      const KeyId key{k};
      if (scan && !in_range(h_, read, key)) continue;
      const auto row = rows.find(key);
      require(txn, one_of(txn, key, own, [&](const Left& left, bool mine) {
                const bool tombstone = scan && !left.row && !left.value.is_null();
                const bool asked = left.row && asks_for(id, key, left);
                const bool may = tombstone ? lists_tombstones_ : asked;
                const bool must = may && !(tombstone && mine);
                return row == rows.end() ? !must : may && left.value == row->second;
              }));
    }
  }
  [[nodiscard]] bool asks_for(OpId id, KeyId key, const Left& left) const {
    return h_.op(id).kind == OpKind::Scan ||
           truth_of(h_, h_.predicate_read(id).predicate, key, left.value) == true;
  }

  // Says for each row that may be seen what it adds, and compares.
  void ask_aggregate(std::size_t txn, OpId id, const std::map<KeyId, Left>& own) {
    const PredicateRead& read = h_.predicate_read(id);
    const bool least = read.aggregate == AggregateKind::Min;
    const bool extreme = least || read.aggregate == AggregateKind::Max;
    const std::int64_t result = read.result.is_null() ? 0 : read.result.number();
    z3::expr total = z3_.int_val(0);
    z3::expr any = z3_.bool_val(false);
    z3::expr reached = z3_.bool_val(false);
    const auto add = [&](KeyId key, const Left& left, const z3::expr& here) {
      if (!left.row || !asks_for(id, key, left)) return;
      std::int64_t cell = 1;
      if (read.column.valid()) {
        const Value held = h_.cell(left.value, read.column);
        if (held.is_null()) return;
        if (read.aggregate != AggregateKind::Count) cell = held.number();
      }
      any = any || here;
      total = total + z3::ite(here, z3_.int_val(cell), z3_.int_val(0));
      if (cell == result) reached = reached || here;
      const bool beyond = least ? cell < result : cell > result;
      if (extreme && beyond) require(txn, !here);
    };
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      const KeyId key{k};
      if (const auto mine = own.find(key); mine != own.end()) {
        add(key, mine->second, z3_.bool_val(true));
        continue;
      }
      const auto& all = left_.at(key);
      const auto here = seen(txn, key);
      for (std::size_t i = 0; i < all.size(); ++i) add(key, all[i], here[i]);
    }
    if (read.result.is_null()) {
      require(txn, !any);
    } else if (extreme) {
      require(txn, reached);
    } else {
      const bool counts = read.aggregate == AggregateKind::Count;
      require(txn, total == z3_.int_val(result) && (z3_.bool_val(counts) || any));
    }
  }

  const History& h_;
  const Level level_;
  z3::context z3_;
  z3::solver solver_;
  bool lists_tombstones_ = false;
  std::vector<z3::expr> begin_;   // By transaction, as the next two.
  std::vector<z3::expr> commit_;  // At the serializable levels the same.
  std::vector<z3::expr> counts_;
  std::map<KeyId, std::vector<Left>> left_;  // What was there at first, and what each one left.
  std::map<std::pair<std::size_t, KeyId>, std::vector<z3::expr>> seen_;
};

}  // namespace

bool z3_states_allow(const History& history, Level level) {
  return StateQuestion(history, level).allowed();
}

}  // namespace ouro::oracle
