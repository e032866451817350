#include "check/counter_sums.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/level_rules.h"
#include "history/real_time.h"

namespace ouro {

ItemId row_write(const Observed& observed, ItemId item) {
  const KeyId row = observed.items().key(item);
  return final_write(observed, observed.items().row_writer(row), row);
}

OpId impossible_sum(const Observed& observed) {
  if (observed.stopped()) return {};
  const Items& items = observed.items();
  for (const CounterSum& sum : items.sums()) {
    if (!observed.counted(sum.txn)) continue;
    WideInt least = 0;
    WideInt most = 0;
    for (ItemId item = sum.first; item < sum.end; ++item.value) {
      const std::int64_t delta = items.delta(items.key(item));
      if (observed.external(item)) {
        const WideInt seen = observed.write(item).valid() ? delta : 0;
        least += seen;
        most += seen;
      } else {
        (delta < 0 ? least : most) += delta;
      }
    }
    if (sum.target < least || sum.target > most) return sum.op;
  }
  return {};
}

Anomaly anomaly_of_sum(const Observed& observed, OpId read) {
  return {.kind = AnomalyKind::ResultSetMismatch,
          .txns = {observed.history().txn_of(read)},
          .ops = {read},
          .edges = {}};
}

namespace {

// A row that is open, with the commit of who wrote it.
struct OpenRow {
  std::uint32_t commit = 0;
  TxnId txn;
  ItemId item;
  std::int64_t delta = 0;
};

// The row to ask about first, if the rows before `cut` give `excess` too much: the nearest one
// that would change that.
ItemId nearest_row(const std::vector<OpenRow>& rows, std::size_t cut, WideInt excess) {
  const bool too_much = excess > 0;
  for (std::size_t away = 0; away < rows.size(); ++away) {
    if (away < cut) {
      const OpenRow& seen = rows[cut - 1 - away];
      if (seen.delta != 0 && (seen.delta > 0) == too_much) return seen.item;
    }
    if (cut + away < rows.size()) {
      const OpenRow& unseen = rows[cut + away];
      if (unseen.delta != 0 && (unseen.delta < 0) == too_much) return unseen.item;
    }
  }
  return rows.empty() ? ItemId{} : rows[0].item;
}

}  // namespace

std::vector<ForcedRow> forced_rows(const Observed& observed, const CounterSum& sum, Level level,
                                   std::int64_t clock_drift) {
  const LevelRules& rule = rules(level);
  std::vector<ForcedRow> out;
  if (!rule.is(LevelFamily::Serial) && !rule.is(LevelFamily::Snapshots)) return out;
  const History& h = observed.history();
  const auto precedes = [&](TxnId a, TxnId b) -> std::optional<EdgeKind> {
    if (rule.sessions && h.session(a) == h.session(b) && a < b) return EdgeKind::Session;
    const auto completed = h.completed(a);
    const auto invoked = h.invoked(b);
    const bool in_time = rule.real_time == RealTimeRule::SeesIt && completed && invoked &&
                         completed_before(*completed, *invoked, clock_drift);
    return in_time ? std::optional(EdgeKind::RealTime) : std::nullopt;
  };
  for (ItemId item = sum.first; item < sum.end; ++item.value) {
    if (observed.external(item)) continue;
    const ItemId write = row_write(observed, item);
    const TxnId writer = observed.txn(write);
    const KeyId key = observed.items().key(item);
    const OpId write_op = observed.items().op(write);
    const auto add = [&](TxnId first, TxnId second, EdgeKind kind, bool seen) {
      Edge order{.from = first, .to = second, .kind = kind};
      Edge back{.from = second, .to = first};
      back.kind = seen ? EdgeKind::ReadWrite : EdgeKind::WriteRead;
      back.key = key;
      back.from_op = seen ? sum.op : write_op;
      back.to_op = seen ? write_op : sum.op;
      out.push_back({item,
                     seen,
                     {.kind = AnomalyKind::ForbiddenCycle,
                      .txns = {first, second},
                      .ops = {},
                      .edges = {order, back}}});
    };
    if (const auto kind = precedes(writer, sum.txn); kind && observed.counted(writer)) {
      add(writer, sum.txn, *kind, true);
    } else if (const auto later = precedes(sum.txn, writer)) {
      add(sum.txn, writer, *later, false);
    }
  }
  return out;
}

std::vector<ForcedRow> contradiction_of_sum(const Observed& observed, const CounterSum& sum,
                                            Level level, std::int64_t clock_drift) {
  const Items& items = observed.items();
  std::vector<ForcedRow> forced = forced_rows(observed, sum, level, clock_drift);
  if (forced.empty()) return {};
  WideInt least = 0;
  WideInt most = 0;
  std::size_t next = 0;
  for (ItemId item = sum.first; item < sum.end; ++item.value) {
    const std::int64_t delta = items.delta(items.key(item));
    const bool said = next < forced.size() && forced[next].item == item;
    if (said ? forced[next].seen : delta < 0) least += delta;
    if (said ? forced[next].seen : delta > 0) most += delta;
    next += said ? 1 : 0;
  }
  if (sum.target >= least && sum.target <= most) return {};
  // Of what is forced, only what makes the sum too great matters, or only what makes it too small.
  const bool too_much = sum.target < least;
  std::erase_if(forced, [&](const ForcedRow& row) {
    const std::int64_t delta = items.delta(items.key(row.item));
    return delta == 0 || (row.seen == (delta > 0)) != too_much;
  });
  return forced;
}

SumGuess guess_sum(const Observed& observed, const Positions& positions, const CounterSum& sum) {
  const Items& items = observed.items();
  std::vector<OpenRow> rows;
  WideInt missing = sum.target;
  for (ItemId item = sum.first; item < sum.end; ++item.value) {
    const std::int64_t delta = items.delta(items.key(item));
    if (observed.external(item)) {
      if (observed.write(item).valid()) missing -= delta;
      continue;
    }
    const TxnId writer = observed.txn(row_write(observed, item));
    rows.push_back({positions.commit[writer.index()], writer, item, delta});
  }
  std::sort(rows.begin(), rows.end(), [](const OpenRow& a, const OpenRow& b) {
    return std::tie(a.commit, a.txn, a.item) < std::tie(b.commit, b.txn, b.item);
  });
  const std::uint32_t now = positions.begin[sum.txn.index()];
  const auto natural = static_cast<std::size_t>(
      std::partition_point(rows.begin(), rows.end(),
                           [&](const OpenRow& row) { return row.commit < now; }) -
      rows.begin());
  // The cut between transactions that gives the sum and is nearest to the natural one.
  WideInt before = 0;
  WideInt at_natural = 0;
  std::optional<std::size_t> best;
  for (std::size_t cut = 0; cut <= rows.size(); ++cut) {
    if (cut > 0) before += rows[cut - 1].delta;
    if (cut == natural) at_natural = before;
    const bool between = cut == 0 || cut == rows.size() || rows[cut].txn != rows[cut - 1].txn;
    const auto distance = [&](std::size_t c) { return c > natural ? c - natural : natural - c; };
    if (between && before == missing && (!best || distance(cut) < distance(*best))) best = cut;
  }
  SumGuess out{
      .is_found = best.has_value(), .is_natural = best == natural, .rows = {}, .doubtful = {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.rows.emplace_back(rows[i].item, i < best.value_or(natural));
  }
  if (!out.is_natural) out.doubtful = nearest_row(rows, natural, at_natural - missing);
  return out;
}

}  // namespace ouro
