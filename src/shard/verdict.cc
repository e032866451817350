// What was found in single shards, and the files that say so.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "report/json_writer.h"
#include "shard/fields.h"
#include "shard/folder.h"

namespace ouro {
namespace {

using shard::Fields;
using shard::find_shard;

constexpr Outcome kOutcomes[] = {Outcome::Holds, Outcome::Violated, Outcome::Undecided};

// By timestamps there are no others.
ShardKind decided_by(AnomalyKind anomaly) {
  switch (anomaly) {
    case AnomalyKind::ResultSetMismatch:
      return ShardKind::Rows;
    case AnomalyKind::SessionInversion:
    case AnomalyKind::MissingTimestamp:
    case AnomalyKind::InvertedTimestamps:
      return ShardKind::Sessions;
    case AnomalyKind::RealTimeInversion:
      return ShardKind::Clocks;
    default:
      return ShardKind::Keys;
  }
}

std::string print_verdict(const ShardVerdict& verdict, const ShardPlan& plan) {
  JsonWriter json;
  json.begin_object().member("ouro-shard", std::string_view(name(verdict.shard)));
  json.member("keys", plan.counts.keys).member("sessions", plan.counts.sessions);
  json.member("fingerprint", std::string_view(shard::hexadecimal(plan.fingerprint)));
  json.member("level", info(verdict.level).name).member("clock_drift", verdict.clock_drift);
  json.member("verdict", name(verdict.outcome));
  json.member("reason", std::string_view(verdict.reason));
  json.key("counts").begin_object();
  for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
    if (verdict.counts[k] == 0) continue;
    json.member(info(static_cast<AnomalyKind>(k)).name, verdict.counts[k]);
  }
  json.end_object().key("violations").begin_array();
  for (const ShardFinding& finding : verdict.findings) {
    json.begin_object().member("kind", info(finding.kind).name).key("transactions").begin_array();
    for (const std::string& txn : finding.txns) json.value(std::string_view(txn));
    json.end_array().key("operations").begin_array();
    for (const ShardFinding::Where& where : finding.ops) {
      json.begin_object().member("transaction", where.txn).member("index", where.op).end_object();
    }
    json.end_array().member("expected", std::string_view(finding.expected)).end_object();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

void parse_finding(const Fields& fields, ShardVerdict& verdict) {
  constexpr std::int64_t kMost = 0xffffffff;
  ShardFinding finding;
  const std::string kind = fields.text("kind");
  std::size_t k = 0;
  while (k < kAnomalyKindCount && info(static_cast<AnomalyKind>(k)).name != kind) ++k;
  if (k == kAnomalyKindCount) return fields.note("kind");
  finding.kind = static_cast<AnomalyKind>(k);
  fields.each("transactions", [&](JsonTree::Node txn) {
    if (!txn.text()) return fields.note("transactions");
    finding.txns.emplace_back(*txn.text());
  });
  if (finding.txns.empty()) return fields.note("transactions");
  fields.each("operations", [&](JsonTree::Node op) {
    const Fields where = fields.of(op);
    const std::uint64_t txn = where.whole("transaction", kMost);
    if (txn >= finding.txns.size()) return where.note("transaction");
    finding.ops.push_back(
        {static_cast<std::uint32_t>(txn), static_cast<std::uint32_t>(where.whole("index", kMost))});
  });
  finding.expected = fields.text("expected");
  verdict.findings.push_back(std::move(finding));
}

void parse_verdict(const Fields& fields, ShardVerdict& verdict) {
  const auto level = find_level(fields.text("level"));
  if (!level || !decidable(*level, Evidence::Timestamps)) return fields.note("level");
  verdict.level = *level;
  verdict.clock_drift = fields.integer("clock_drift");
  verdict.reason = fields.text("reason");
  const std::string outcome = fields.text("verdict");
  const auto* found = std::find_if(std::begin(kOutcomes), std::end(kOutcomes),
                                   [&](Outcome each) { return name(each) == outcome; });
  if (found == std::end(kOutcomes)) return fields.note("verdict");
  verdict.outcome = *found;
  const Fields counts = fields.member("counts");
  for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
    const std::string_view kind = info(static_cast<AnomalyKind>(k)).name;
    if (counts.has(kind)) verdict.counts[k] = counts.whole(kind);
  }
  fields.each("violations", [&](JsonTree::Node each) { parse_finding(fields.of(each), verdict); });
}

Result<ShardVerdict> read_verdict(const ShardPlan& plan, const std::string& folder, ShardId id) {
  const std::string path = shard::verdict_path(folder, id);
  const std::string advice =
      fmt::format("make it by 'ouro shard check {}'", shard::shard_path(folder, id));
  if (!std::filesystem::exists(path)) {
    return error_in(path, fmt::format("there is no verdict on {}; {}", name(id), advice));
  }
  ShardVerdict verdict{.shard = id};
  bool ours = false;
  const auto status = shard::read_object(path, [&](const Fields& fields) {
    ours = fields.fingerprint("fingerprint") == plan.fingerprint &&
           fields.whole("keys") == plan.counts.keys &&
           fields.whole("sessions") == plan.counts.sessions &&
           find_shard(plan, fields.text("ouro-shard")) == id;
    parse_verdict(fields, verdict);
  });
  if (!status.ok()) return status.error();
  if (!ours) return error_in(path, "the verdict is about another split; " + advice);
  return verdict;
}

}  // namespace

bool decides(ShardKind shard, AnomalyKind anomaly) { return decided_by(anomaly) == shard; }

ShardVerdict shard_verdict(ShardId shard, const History& history, const Verdict& verdict,
                           std::int64_t clock_drift) {
  ShardVerdict out{.shard = shard,
                   .level = verdict.level,
                   .clock_drift = clock_drift,
                   .outcome = verdict.outcome,
                   .reason = verdict.reason,
                   .counts = verdict.counts};
  for (const Anomaly& anomaly : verdict.anomalies) {
    ShardFinding finding{.kind = anomaly.kind, .txns = {}, .ops = {}, .expected = anomaly.expected};
    for (const TxnId txn : anomaly.txns) {
      finding.txns.push_back(history.text(history.txn_name(txn)));
    }
    for (const OpId op : anomaly.ops) {
      const TxnId txn = history.txn_of(op);
      const auto at = std::find(anomaly.txns.begin(), anomaly.txns.end(), txn);
      finding.ops.push_back({static_cast<std::uint32_t>(at - anomaly.txns.begin()),
                             op.value - history.first_op(txn).value});
    }
    out.findings.push_back(std::move(finding));
  }
  return out;
}

Result<ShardVerdict> check_shard(const std::string& folder, const ShardPlan& plan,
                                 const ShardFile& shard, const PiecesOptions& options) {
  if (!find_shard(plan, name(shard.id))) {
    return error_in(folder, fmt::format("the plan has no shard {}", name(shard.id)));
  }
  PiecesOptions all = options;
  all.certificate = false;
  all.unstamped = true;
  const auto checked = check_pieces(shard::shard_path(folder, shard.id), all);
  if (!checked.ok()) return checked.error();
  if (checked->verdict.outcome != Outcome::Undecided &&
      checked->summary.txns + checked->summary.left_out != shard.txns) {
    return error_in(shard::shard_path(folder, shard.id),
                    fmt::format("has {} transactions, but should have {}; split the history again",
                                checked->summary.txns + checked->summary.left_out, shard.txns));
  }
  return shard_verdict(shard.id, checked->history, checked->verdict, options.clock_drift);
}

Status write_shard_verdict(const ShardVerdict& verdict, const ShardPlan& plan,
                           const std::string& folder) {
  return shard::write_file(shard::verdict_path(folder, verdict.shard),
                           print_verdict(verdict, plan));
}

Result<std::vector<ShardVerdict>> read_shard_verdicts(const ShardPlan& plan,
                                                      const std::string& folder) {
  std::vector<ShardVerdict> verdicts;
  for (const ShardFile& file : plan.shards) {
    auto verdict = read_verdict(plan, folder, file.id);
    if (!verdict.ok()) return std::move(verdict).error();
    verdicts.push_back(*std::move(verdict));
  }
  return verdicts;
}

}  // namespace ouro
