// Numbers of a history as text and as JSON.

#include <fmt/format.h>

#include "history/commuting.h"
#include "ouro/report.h"
#include "ouro/version.h"
#include "report/json_writer.h"
#include "report/notation.h"
#include "report/telling.h"

namespace ouro {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10'000) return counted(bytes, "byte");
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string spread_text(const Spread& spread) {
  if (spread.min == spread.max) return grouped(spread.min);
  return fmt::format("{} to {}, median {}", grouped(spread.min), grouped(spread.max),
                     grouped(spread.median));
}

// "3 committed, 1 aborted": the counts that are not zero, in the order of the enumeration.
template <class Enum, class Counts>
std::string parts(const Counts& counts) {
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(counts[i]),
                       name(static_cast<Enum>(i)));
  }
  return out.empty() ? "none" : out;
}

std::string busiest_text(const History& history, const Busiest& busiest, std::string_view noun) {
  if (!busiest.key.valid()) return "none";
  return fmt::format("{} of {}", counted(busiest.count, noun), history.key_label(busiest.key));
}

std::string share_text(std::uint64_t count, std::uint64_t of) {
  if (count == 0) return "none";
  if (count == of) return "all transactions";
  return fmt::format("{} of {}", grouped(count), counted(of, "transaction"));
}

void write_spread(JsonWriter& json, std::string_view name, const Spread& spread) {
  json.key(name).begin_object();
  json.member("min", spread.min).member("median", spread.median).member("max", spread.max);
  json.end_object();
}

void write_busiest(JsonWriter& json, const History& history, std::string_view name,
                   const Busiest& busiest) {
  json.key(name).begin_object();
  if (busiest.key.valid()) {
    const Value key = history.key_name(busiest.key);
    const bool hidden = key.kind() == ValueKind::Text && is_hidden(history.string(key));
    hidden ? json.member("key", shown_name(history.string(key))) : json.member("key", history, key);
  }
  json.member("count", busiest.count).end_object();
}

template <class Enum, class Counts>
void write_parts(JsonWriter& json, std::string_view key, const Counts& counts) {
  json.key(key).begin_object();
  for (std::size_t i = 0; i < counts.size(); ++i)
    json.member(name(static_cast<Enum>(i)), counts[i]);
  json.end_object();
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> stats_lines(const History& history,
                                                                  const Stats& stats) {
  std::vector<std::pair<std::string_view, std::string>> out;
  const auto line = [&](std::string_view label, std::string text) {
    out.emplace_back(label, std::move(text));
  };
  line("sessions", grouped(stats.sessions));
  line("transactions",
       fmt::format("{} ({})", grouped(stats.txns), parts<TxnStatus>(stats.txns_by_status)));
  if (stats.empty_txns != 0) line("  without ops", grouped(stats.empty_txns));
  line("  per session", spread_text(stats.txns_per_session));
  line("operations", fmt::format("{} ({})", grouped(stats.ops), parts<OpKind>(stats.ops_by_kind)));
  line("  per transaction", spread_text(stats.ops_per_txn));
  line("keys", stats.list_keys == 0
                   ? grouped(stats.keys)
                   : fmt::format("{} ({})", grouped(stats.keys), counted(stats.list_keys, "list")));
  line("  most read", busiest_text(history, stats.most_read, "read"));
  line("  most written", busiest_text(history, stats.most_written, "write"));
  line("client clocks", share_text(stats.clocked, stats.txns));
  line("timestamps", share_text(stats.timestamped, stats.txns));
  line("transaction ids", share_text(stats.named, stats.txns));
  if (stats.levelled > 0) line("own levels", share_text(stats.levelled, stats.txns));
  line("version orders", stats.version_orders == 0
                             ? "none"
                             : fmt::format("{} ({} complete)", grouped(stats.version_orders),
                                           grouped(stats.complete_version_orders)));
  if (stats.version_sets != 0) line("version sets", grouped(stats.version_sets));
  line("memory", bytes_text(stats.memory_bytes));
  return out;
}

std::string describe(const History& history, const Stats& stats, const ReportOptions& options) {
  std::string out = name_or_file(history, options.name) + '\n';
  for (const auto& [label, text] : stats_lines(history, stats)) {
    out += fmt::format("  {:<18} {}\n", label, text);
  }
  return out;
}

std::string to_json(const History& history, const Stats& stats, const ReportOptions& options) {
  JsonWriter json;
  json.begin_object().member("history", name_or_file(history, options.name));
  json.member("sessions", stats.sessions).member("transactions", stats.txns);
  write_parts<TxnStatus>(json, "transactions_by_status", stats.txns_by_status);
  json.member("empty_transactions", stats.empty_txns).member("operations", stats.ops);
  write_parts<OpKind>(json, "operations_by_kind", stats.ops_by_kind);
  json.member("keys", stats.keys).member("list_keys", stats.list_keys);
  write_busiest(json, history, "most_read", stats.most_read);
  write_busiest(json, history, "most_written", stats.most_written);
  write_spread(json, "transactions_per_session", stats.txns_per_session);
  write_spread(json, "operations_per_transaction", stats.ops_per_txn);
  json.member("with_clocks", stats.clocked).member("with_timestamps", stats.timestamped);
  json.member("with_ids", stats.named).member("with_levels", stats.levelled);
  json.member("version_orders", stats.version_orders);
  json.member("complete_version_orders", stats.complete_version_orders);
  json.member("version_sets", stats.version_sets).member("memory_bytes", stats.memory_bytes);
  json.member("schema", 1).member("version", version()).end_object();
  return std::move(json).finish();
}

}  // namespace ouro
