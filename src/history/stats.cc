#include "ouro/stats.h"

#include <algorithm>
#include <vector>

#include "history/access.h"
#include "history/columns.h"
#include "history/commuting.h"

namespace ouro {
namespace {

Spread spread(std::vector<std::uint64_t> sizes) {
  if (sizes.empty()) return {};
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const auto [min, max] = std::minmax_element(sizes.begin(), sizes.end());
  return {.min = *min, .median = *middle, .max = *max};
}

Busiest busiest(const std::vector<std::uint64_t>& counts) {
  const auto at = std::max_element(counts.begin(), counts.end());
  if (at == counts.end() || *at == 0) return {};
  return {.key = KeyId{static_cast<std::size_t>(at - counts.begin())}, .count = *at};
}

std::uint64_t memory_bytes(const HistoryColumns& all) {
  std::uint64_t bytes = 0;
  for_each_column([&](const auto& column) { bytes += column.size_bytes(); }, all);
  return bytes;
}

void count_txns(const History& history, Stats& stats) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(history.txn_count());
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    ++stats.txns_by_status[static_cast<std::size_t>(history.status(txn))];
    sizes.push_back(history.end_op(txn).value - history.first_op(txn).value);
    stats.empty_txns += sizes.back() == 0;
    stats.clocked += history.invoked(txn).has_value() && history.completed(txn).has_value();
    stats.timestamped += history.start_ts(txn).has_value() && history.commit_ts(txn).has_value();
    stats.named += !history.txn_name(txn).is_null();
    stats.levelled += history.level(txn).has_value();
  }
  stats.ops_per_txn = spread(std::move(sizes));
}

void count_ops(const History& history, Stats& stats) {
  std::vector<std::uint64_t> reads(history.key_count());
  std::vector<std::uint64_t> writes(history.key_count());
  std::vector<bool> is_list(history.key_count());
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    ++stats.ops_by_kind[static_cast<std::size_t>(op.kind)];
    if (is_predicate_read(op.kind)) {
      stats.version_sets += history.predicate_read(op.id).has_version_set;
      continue;
    }
    if (is_write(op.kind)) ++writes[op.key.index()];
    if (looks_at_key(op.kind)) ++reads[op.key.index()];
    if (shows_list(op.kind, op.value)) is_list[op.key.index()] = true;
  }
  stats.most_read = busiest(reads);
  stats.most_written = busiest(writes);
  stats.list_keys = static_cast<std::uint64_t>(std::count(is_list.begin(), is_list.end(), true));
}

}  // namespace

std::string_view name(OpKind kind) { return info(kind).name; }

std::string_view name(TxnStatus status) {
  constexpr std::array<std::string_view, 3> kNames{"committed", "aborted", "unknown"};
  return kNames[static_cast<std::size_t>(status)];
}

Stats count(const History& history) {
  Stats stats;
  stats.sessions = history.session_count();
  stats.txns = history.txn_count();
  stats.ops = history.op_count();
  stats.keys = named_keys(history);
  count_txns(history, stats);
  count_ops(history, stats);
  std::vector<std::uint64_t> sizes;
  sizes.reserve(history.session_count());
  for (std::size_t i = 0; i < history.session_count(); ++i) {
    sizes.push_back(history.session_txns(SessionId{i}).size());
  }
  stats.txns_per_session = spread(std::move(sizes));
  for (const VersionOrder& order : history.version_orders()) {
    ++stats.version_orders;
    stats.complete_version_orders += order.complete;
  }
  stats.memory_bytes = memory_bytes(columns_of(history));
  return stats;
}

}  // namespace ouro
