#include "check/timeline/replay.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/parallel.h"
#include "check/timeline/list_replay.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/input_error.h"
#include "history/undone.h"

namespace ouro {

namespace {

// Whether any operation shows that a key is a list. Without branches: the processor would guess
// wrong at every other operation.
bool any_list(const HistoryColumns& c, unsigned threads) {
  constexpr std::size_t kBlock = 4096;
  const std::size_t count = c.op_kind.size();
  const std::size_t parts = count < 50'000 ? 1 : thread_count(threads);
  std::atomic<bool> found = false;
  for_each_part(parts, [&](std::size_t part) {
    const std::size_t end = count * (part + 1) / parts;
    for (std::size_t i = count * part / parts; i < end && !found;) {
      unsigned here = 0;
      for (const std::size_t stop = std::min(end, i + kBlock); i < stop; ++i) {
        here |= static_cast<unsigned>(is_append(c.op_kind[i]));
        here |= static_cast<unsigned>(c.op_value[i].is_list());
      }
      if (here != 0) found = true;
    }
  });
  return found;
}

}  // namespace

Result<ListKeys> ListKeys::of(const History& history, unsigned threads) {
  ListKeys lists;
  const HistoryColumns& c = columns_of(history);
  if (!any_list(c, threads)) return lists;
  lists.number_.assign(history.key_count(), kRegister);
  for (std::size_t i = 0; i < c.op_kind.size(); ++i) {
    if (!shows_list(c.op_kind[i], c.op_value[i])) continue;
    std::uint32_t& number = lists.number_[c.op_key[i].index()];
    if (number == kRegister) number = static_cast<std::uint32_t>(lists.count_++);
  }
  for (std::size_t i = 0; i < c.op_kind.size(); ++i) {
    if (!shows_register(c.op_kind[i], c.op_value[i])) continue;
    if (lists.number(c.op_key[i]) == kRegister) continue;
    return error_at(history, OpId{i}, no_list_text(history, c.op_key[i], c.op_kind[i]));
  }
  return lists;
}

namespace {

// What is known of one key while the timeline goes on. Half a cache line.
struct KeyState {
  Value committed;     // What a transaction that begins now should read.
  Value own;           // What the transaction at hand last read or wrote here.
  TxnId committed_by;  // Who wrote `committed`; invalid: it is initial.
  OpId own_op;         // The operation that `own` is from.
  TxnId touched;       // The transaction that `own` is from.
  // Twice the number of those that write the key, have begun and have not committed; plus one if
  // `touched` is a writer.
  std::uint32_t writers;
};
static_assert(sizeof(KeyState) == 32);

// Replays the keys whose number is `part` modulo 2^bits, on one thread.
class Shard {
 public:
  Shard(const History& history, const Timeline& timeline, const ListKeys& lists, unsigned bits,
        std::size_t part, Violations& violations)
      : h_(history),
        kinds_(columns_of(history).op_kind),
        keys_(columns_of(history).op_key),
        values_(columns_of(history).op_value),
        timeline_(timeline),
        numbers_(lists),
        bits_(bits),
        mask_((1u << bits) - 1),
        part_(static_cast<std::uint32_t>(part)),
        violations_(violations),
        lists_(lists.count()),
        agreement_(history) {
    states_.reserve((history.key_count() >> bits) + 1);
    for (std::size_t k = part; k < history.key_count(); k += std::size_t{1} << bits) {
      states_.push_back({history.initial(KeyId{k}), {}, {}, {}, {}, 0});
    }
  }

  void run(const Budget& budget) {
    BudgetTicker ticker(budget);
    for (std::size_t i = 0; i < timeline_.size() && !ticker.tick(); ++i) {
      const Timeline::Step step = timeline_.step(i);
      now_ = static_cast<std::uint32_t>(i);
      if (!step.commit) {
        begin(step.txn);
      } else if (timeline_.writes(step.txn)) {
        commit(step.txn);
      }
    }
  }

 private:
  // The operations of `txn` on keys of this shard, or only the writes, by number. Found without
  // branches: the processor would guess wrong every other time.
  std::span<const std::uint32_t> ops_of(TxnId txn, bool only_writes) {
    const std::uint32_t first = h_.first_op(txn).value;
    const std::uint32_t end = h_.end_op(txn).value;
    if (ops_.size() < end - first) ops_.resize(end - first);
    constexpr std::uint32_t kWrites = op_kinds_with(&OpInfo::writes);
    constexpr std::uint32_t kReads =
        op_kinds_with(&OpInfo::reads) | op_kinds_with(&OpInfo::open) | op_kinds_with(&OpInfo::back);
    const std::uint32_t wanted = only_writes ? kWrites : kWrites | kReads;
    std::size_t count = 0;
    for (std::uint32_t i = first; i < end; ++i) {
      ops_[count] = i;
      const auto mine = static_cast<unsigned>((keys_[i].value & mask_) == part_);
      const auto kind = static_cast<unsigned>(is_among(kinds_[i], wanted));
      count += mine & kind;
    }
    return std::span(ops_).first(count);
  }

  // Judges all reads of a transaction that begins now.
  void begin(TxnId txn) {
    for (const std::uint32_t i : ops_of(txn, false)) {
      const KeyId key = keys_[i];
      const bool write = is_write(kinds_[i]);
      const Value value = values_[i];
      if (!write && value.is_unobserved()) continue;
      if (info(kinds_[i]).back) {
        judge_read_back(txn, OpId{i});
        continue;
      }
      KeyState& state = states_[key.value >> bits_];
      const bool first = state.touched != txn;
      if (is_open_read(kinds_[i])) {
        if (!read_fits(kinds_[i], value, first ? state.committed : state.own)) {
          wrong_read(state, first, txn, OpId{i});
        }
        continue;  // What it returned is unknown, so later reads cannot be compared with it.
      }
      if (first) {
        state.touched = txn;
        state.writers &= ~1u;
      }
      if (write && (state.writers & 1) == 0) state.writers += 3;
      const std::uint32_t list = numbers_.number(key);
      if (list != ListKeys::kRegister) {
        begin_list(lists_[list], state, first, txn, OpId{i});
      } else if (!write && value != (first ? state.committed : state.own)) {
        wrong_read(state, first, txn, OpId{i});
      }
      state.own = value;
      state.own_op = OpId{i};
    }
  }

  // A read of what the transaction wrote and undid later says nothing about others.
  void judge_read_back(TxnId txn, OpId op) {
    const OpId write = contradicted_undone_write(h_, txn, op);
    if (!write.valid() || !violations_.add(AnomalyKind::Internal)) return;
    violations_.keep({.kind = AnomalyKind::Internal,
                      .at = now_,
                      .txn = txn,
                      .op = op,
                      .other_op = write,
                      .expected = h_.text(h_.op(write).value)});
  }

  void wrong_read(const KeyState& state, bool first, TxnId txn, OpId op) {
    const AnomalyKind kind = first ? AnomalyKind::SnapshotMismatch
                             : is_write(kinds_[state.own_op.index()])
                                 ? AnomalyKind::Internal
                                 : AnomalyKind::NonRepeatableRead;
    if (!violations_.add(kind)) return;
    violations_.keep(
        {.kind = kind,
         .at = now_,
         .txn = txn,
         .op = op,
         .other_op = first ? last_write(state.committed_by, keys_[op.index()]) : state.own_op,
         .expected = h_.text(first ? state.committed : state.own)});
  }

  void begin_list(ListReplay& list, const KeyState& state, bool first, TxnId txn, OpId op) {
    if (first) list.enter();
    const Value value = values_[op.index()];
    if (is_append(kinds_[op.index()])) return list.append(value);
    const ListReplay::Finding finding = list.judge(h_, keys_[op.index()], value, agreement_);
    if (finding != ListReplay::Finding::Right) wrong_list(list, finding, state, txn, op);
    list.read(value);
  }

  void wrong_list(const ListReplay& list, ListReplay::Finding finding, const KeyState& state,
                  TxnId txn, OpId op) {
    AnomalyKind kind = AnomalyKind::SnapshotMismatch;
    if (finding == ListReplay::Finding::OwnAppends) kind = AnomalyKind::Internal;
    if (finding == ListReplay::Finding::Repeated) kind = AnomalyKind::NonRepeatableRead;
    if (!violations_.add(kind)) return;
    const bool snapshot = kind == AnomalyKind::SnapshotMismatch;
    violations_.keep(
        {.kind = kind,
         .at = now_,
         .txn = txn,
         .op = op,
         .other_op = snapshot ? last_write(state.committed_by, keys_[op.index()]) : state.own_op,
         .expected = list.expected(h_)});
  }

  void commit(TxnId txn) {
    const bool tied = timeline_.tied(txn);
    for (const std::uint32_t i : ops_of(txn, true)) {
      const KeyId key = keys_[i];
      KeyState& state = states_[key.value >> bits_];
      if (state.committed_by != txn) {
        leave(state, txn, OpId{i});
        if (tied) check_tie(state, txn, OpId{i});
      }
      state.committed = values_[i];
      state.committed_by = txn;
      const std::uint32_t list = numbers_.number(key);
      if (list != ListKeys::kRegister) lists_[list].commit(values_[i]);
    }
  }

  // `txn` commits, and is no longer a writer of the key at work. If others are, they conflict with
  // it.
  void leave(KeyState& state, TxnId txn, OpId op) {
    state.writers -= 2;
    const std::uint32_t others = state.writers >> 1;
    if (others == 0 || !violations_.add(AnomalyKind::WriteConflict, others)) return;
    violations_.keep(
        {.kind = AnomalyKind::WriteConflict, .at = now_, .txn = txn, .op = op, .expected = {}});
  }

  // Reports two versions with the same timestamp, as their order cannot be told.
  void check_tie(const KeyState& state, TxnId txn, OpId op) {
    const TxnId before = state.committed_by;
    if (!before.valid() || h_.commit_ts(before) != h_.commit_ts(txn)) return;
    if (!violations_.add(AnomalyKind::DuplicateTimestamp)) return;
    violations_.keep({.kind = AnomalyKind::DuplicateTimestamp,
                      .at = now_,
                      .txn = txn,
                      .op = op,
                      .other_op = last_write(before, keys_[op.index()]),
                      .expected = {}});
  }

  // The last write of `key` by `txn`; invalid for the initial transaction.
  [[nodiscard]] OpId last_write(TxnId txn, KeyId key) const {
    OpId last;
    if (!txn.valid()) return last;
    for (OpId op = h_.first_op(txn); op < h_.end_op(txn); ++op.value) {
      if (keys_[op.index()] == key && is_write(kinds_[op.index()])) last = op;
    }
    return last;
  }

  const History& h_;
  const std::span<const OpKind> kinds_;
  const std::span<const KeyId> keys_;
  const std::span<const Value> values_;
  const Timeline& timeline_;
  const ListKeys& numbers_;
  const unsigned bits_;
  const std::uint32_t mask_;
  const std::uint32_t part_;
  Violations& violations_;
  std::vector<KeyState> states_;
  std::vector<std::uint32_t> ops_;  // Room for ops_of().
  std::vector<ListReplay> lists_;
  TrunkAgreement agreement_;
  // The position on the timeline.
  std::uint32_t now_ = 0;
};

}  // namespace

void replay(const History& history, const Timeline& timeline, const ListKeys& lists,
            unsigned threads, const Budget& budget, Violations& violations) {
  const unsigned wanted = history.op_count() < 50'000 ? 1 : thread_count(threads);
  const auto bits = static_cast<unsigned>(std::bit_width(wanted) - 1);
  const std::size_t parts = std::size_t{1} << bits;
  std::vector<Violations> found(parts, violations.empty_copy());
  constexpr std::uint64_t kStepsPerOp = 4;
  budget.charge(kStepsPerOp * history.op_count());
  for_each_part(parts, [&](std::size_t part) {
    Shard(history, timeline, lists, bits, part, found[part]).run(budget);
  });
  for (Violations& part : found) violations.merge(std::move(part));
}

}  // namespace ouro
