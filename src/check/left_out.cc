#include "check/left_out.h"

#include <fmt/format.h>

#include <array>

#include "base/level_rules.h"
#include "history/access.h"
#include "history/commuting.h"

namespace ouro {

void Coverage::add(const History& history) {
  const bool bank = has_balances(history);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(TxnId{t}) != TxnStatus::Committed) continue;
    add_txn(history, TxnId{t});
    if (bank) add_balances(history, TxnId{t});
  }
}

void Coverage::add_balances(const History& history, TxnId txn) {
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    const auto balance = number_read(history, history.op(id));
    balances_ += balance ? 1 : 0;
    negative_ += balance && *balance < 0 ? 1 : 0;
  }
}

void Coverage::add_txn(const History& history, TxnId txn) {
  ++txns_;
  if (!history.invoked(txn) || !history.completed(txn)) ++unclocked_;
  if (!history.has_session(txn)) ++sessionless_;
  const LevelRules& own = rules(history.level(txn).value_or(kUnstatedLevel));
  states_clocks_ |= own.clocks();
  states_sessions_ |= own.sessions;
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    const Op op = history.op(id);
    if (has_condition(op.kind)) {
      const bool placed = history.predicate_read(id).has_version_set || history.start_ts(txn);
      ++predicates_;
      unplaced_ += placed ? 0 : 1;
    }
    if (is_read(op.kind)) {
      ++reads_;
      if (op.value.is_unobserved()) ++unrecorded_;
    } else if (op.kind == OpKind::Aggregate) {
      ++reads_;
      if (history.predicate_read(id).result.is_unobserved()) ++unrecorded_;
    }
  }
}

std::vector<LeftOut> Coverage::left_out(Level level, Evidence evidence,
                                        std::uint64_t unclear) const {
  std::vector<LeftOut> out = counted(level, evidence, unclear);
  std::erase_if(out, [](const LeftOut& left) {
    return left.kind != LeftOutKind::Everything && left.count == 0;
  });
  return out;
}

std::vector<LeftOut> Coverage::counted(Level level, Evidence evidence,
                                       std::uint64_t unclear) const {
  if (txns_ == 0) return {{.kind = LeftOutKind::Everything}};
  std::vector<LeftOut> out;
  const auto add = [&](LeftOutKind kind, std::uint64_t count, std::uint64_t total) {
    out.push_back({.kind = kind, .count = count, .total = total});
  };
  const bool clocks = level == Level::Mixed ? states_clocks_ : rules(level).clocks();
  if (clocks) add(LeftOutKind::RealTime, unclocked_, txns_);
  const bool sessions = level == Level::Mixed ? states_sessions_ : rules(level).sessions;
  if (sessions && txns_ > 1) add(LeftOutKind::Sessions, sessionless_, txns_);
  add(LeftOutKind::Results, unrecorded_, reads_);
  add(LeftOutKind::Balances, negative_, balances_);
  if (evidence == Evidence::Versions && rules(level).is(LevelFamily::CommitOrder)) {
    add(LeftOutKind::Omissions, unplaced_ + unclear, predicates_);
  }
  return out;
}

std::vector<LeftOut> left_out(const History& history, Level level, Evidence evidence) {
  Coverage coverage;
  coverage.add(history);
  return coverage.left_out(level, evidence);
}

std::string_view name(LeftOutKind kind) {
  constexpr std::array<std::string_view, kLeftOutKindCount> kNames{
      "everything", "real-time", "sessions", "results", "omissions", "balances"};
  return kNames[static_cast<std::size_t>(kind)];
}

Status refuse_empty(const History& history) {
  if (history.txn_count() > 0) return {};
  Error error;
  error.what = "there are no transactions, so there is nothing to check";
  if (history.file_count() > 1) {
    error.what = fmt::format(
        "there are no transactions in any of {} files, from {} on, so there "
        "is nothing to check",
        history.file_count(), history.file());
  }
  if (!history.read_as().empty()) {
    error.what += fmt::format("; it was read as {}", history.read_as());
  }
  return error;
}

}  // namespace ouro
