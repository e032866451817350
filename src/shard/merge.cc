// merge(): from the verdicts on shards to the verdict on the whole, with whole transactions.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/level_rules.h"
#include "format/input.h"
#include "history/moment.h"
#include "ouro/pieces.h"
#include "shard/folder.h"
#include "shard/lookup.h"

namespace ouro {
namespace {

using shard::Found;
using shard::Lookup;
using shard::Told;

class Merger {
 public:
  Merger(const ShardPlan& plan, const std::string& folder, std::span<const ShardVerdict> verdicts,
         const MergeOptions& options)
      : plan_(plan), folder_(folder), verdicts_(verdicts), options_(options) {}

  Result<MergedShards> run() {
    if (auto status = compare(); !status.ok()) return std::move(status).error();
    add_up();
    pick();
    if (auto status = options_.whole ? look_in_whole() : look_in_shards(); !status.ok()) {
      return std::move(status).error();
    }
    auto history = copier_.freeze();
    if (!history.ok()) return std::move(history).error();
    merged_.history = *std::move(history);
    tell();
    certify();
    return std::move(merged_);
  }

 private:
  [[nodiscard]] Error error(std::string what) const { return error_in(folder_, std::move(what)); }

  Status compare() const;
  void add_up();
  void pick();
  Status look_in_whole();
  Status look_in_shards();
  [[nodiscard]] Moment moment_of(const Told& told) const;
  void tell();
  void certify();

  const ShardPlan& plan_;
  const std::string& folder_;
  const std::span<const ShardVerdict> verdicts_;
  const MergeOptions& options_;
  std::vector<Told> all_;
  stream::Copier copier_;
  HistoryIdentity identity_;
  std::optional<StreamProof> proof_;
  MergedShards merged_;
};

// Whether there is one verdict on each shard, and all answer the same question.
Status Merger::compare() const {
  for (const ShardFile& file : plan_.shards) {
    const auto count = std::count_if(verdicts_.begin(), verdicts_.end(),
                                     [&](const ShardVerdict& v) { return v.shard == file.id; });
    if (count == 1) continue;
    return error(fmt::format("there are {} verdicts on {}, but one is needed",
                             count == 0 ? "no" : "several", name(file.id)));
  }
  if (verdicts_.size() != plan_.shards.size()) return error("the plan lacks some of the shards");
  if (verdicts_.empty()) return error("there are no shards");
  const ShardVerdict& first = verdicts_.front();
  for (const ShardVerdict& v : verdicts_) {
    if (v.level != first.level) {
      return error(fmt::format("{} was checked at {}, but {} at {}; check all at one level",
                               name(first.shard), info(first.level).name, name(v.shard),
                               info(v.level).name));
    }
    if (v.clock_drift != first.clock_drift) {
      return error(
          fmt::format("{} was checked with a clock drift of {}, but {} with {}; check all "
                      "with the same",
                      name(first.shard), first.clock_drift, name(v.shard), v.clock_drift));
    }
  }
  return {};
}

// The outcome and the counts: each kind of anomaly by the shards that decide about it.
void Merger::add_up() {
  Verdict& whole = merged_.verdict;
  whole.level = verdicts_.front().level;
  whole.evidence = Evidence::Timestamps;
  std::uint64_t all = 0;
  for (const ShardVerdict& v : verdicts_) {
    for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
      if (!decides(v.shard.kind, static_cast<AnomalyKind>(k))) continue;
      whole.counts[k] += v.counts[k];
      all += v.counts[k];
    }
    if (v.outcome == Outcome::Undecided && whole.reason.empty()) {
      whole.reason = fmt::format("{}: {}", name(v.shard), v.reason);
    }
  }
  whole.outcome = all > 0                ? Outcome::Violated
                  : whole.reason.empty() ? Outcome::Holds
                                         : Outcome::Undecided;
  if (whole.outcome != Outcome::Undecided) whole.reason.clear();
  if (whole.outcome != Outcome::Holds) return;
  for (const LeftOut& left : plan_.left_out) {
    if (left.kind == LeftOutKind::RealTime && !rules(whole.level).clocks()) continue;
    if (left.kind == LeftOutKind::Sessions && !rules(whole.level).sessions) continue;
    if (left.kind != LeftOutKind::Everything && left.count == 0) continue;
    whole.left_out.push_back(left);
  }
}

void Merger::pick() {
  if (merged_.verdict.outcome != Outcome::Violated) return;
  for (const ShardVerdict& v : verdicts_) {
    for (const ShardFinding& finding : v.findings) {
      if (decides(v.shard.kind, finding.kind)) all_.push_back({v.shard, &finding, {}, {}});
    }
  }
}

Status Merger::look_in_whole() {
  Lookup lookup(plan_.counts, std::nullopt, all_, copier_);
  if (options_.certificate) proof_.emplace(merged_.verdict.level, 1);
  for (;;) {
    const auto piece = options_.whole();
    if (!piece.ok()) return piece.error();
    if (*piece == nullptr) break;
    identity_.add(**piece);
    if (proof_) {
      if (auto status = proof_->add(**piece); !status.ok()) return status;
    }
    copier_.say_initial(**piece, (*piece)->default_initial());
    if (auto status = lookup.add(*piece); !status.ok()) return status;
  }
  const bool same = plan_.joined ? identity_.txns() == plan_.txns && identity_.ops() == plan_.ops
                                 : identity_.fingerprint() == plan_.fingerprint;
  if (!same) {
    return error(
        fmt::format("the history is not the one that was split, which was {}; name that, "
                    "or split again",
                    plan_.history));
  }
  if (const auto id = lookup.missing()) {
    return error(
        fmt::format("a verdict is about transaction {}, which the history does not have; "
                    "check the shards again",
                    *id));
  }
  return {};
}

Status Merger::look_in_shards() {
  for (const ShardFile& file : plan_.shards) {
    const bool wanted = std::any_of(all_.begin(), all_.end(),
                                    [&](const Told& told) { return told.shard == file.id; });
    if (!wanted) continue;
    auto pieces = HistoryPieces::open(shard::shard_path(folder_, file.id));
    if (!pieces.ok()) return pieces.error();
    Lookup lookup(plan_.counts, file.id, all_, copier_);
    for (;;) {
      const auto piece = pieces->next();
      if (!piece.ok()) return piece.error();
      if (*piece == nullptr) break;
      copier_.say_initial(**piece, (*piece)->default_initial());
      if (auto status = lookup.add(*piece); !status.ok()) return status;
    }
    if (const auto id = lookup.missing()) {
      return error(
          fmt::format("the verdict on {} is about transaction {}, which it does not have; "
                      "check it again",
                      name(file.id), *id));
    }
  }
  return {};
}

// When the first transaction of a violation begins or, if it is about writes, commits.
Moment Merger::moment_of(const Told& told) const {
  const History& h = merged_.history;
  const Found& first = told.txns.front();
  const bool snapshots = rules(merged_.verdict.level).begins_apart();
  const TxnMoments moments = moments_of(h, first.copy, writes(h, first.copy), first.txn, snapshots);
  const bool commit = told.finding->kind == AnomalyKind::WriteConflict ||
                      told.finding->kind == AnomalyKind::DuplicateTimestamp;
  if (!moments.known()) return {.order = Moment::order_of(Tie::Commit, first.txn, false)};
  return commit ? moments.commit : moments.begin;
}

// Chooses the first violations of each kind, and makes anomalies of them.
void Merger::tell() {
  std::vector<std::pair<Moment, const Told*>> order;
  for (const Told& told : all_) order.emplace_back(moment_of(told), &told);
  const auto place = [](const auto& entry) {
    return std::tie(entry.second->finding->kind, entry.first);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  std::array<std::size_t, kAnomalyKindCount> taken{};
  std::vector<Told> kept;
  for (const auto& [at, told] : order) {
    if (taken[static_cast<std::size_t>(told->finding->kind)]++ < options_.examples) {
      kept.push_back(*told);
    }
  }
  all_ = std::move(kept);
  for (const Told& told : all_) {
    Anomaly anomaly{.kind = told.finding->kind, .txns = {}, .ops = {}, .edges = {}};
    anomaly.expected = told.finding->expected;
    for (const Found& found : told.txns) anomaly.txns.push_back(found.copy);
    for (std::size_t i = 0; i < told.ops.size(); ++i) {
      const Found& found = told.txns[told.finding->ops[i].txn];
      anomaly.ops.emplace_back(found.first_op_of_copy + told.ops[i]);
    }
    merged_.verdict.anomalies.push_back(std::move(anomaly));
  }
}

// The certificate numbers transactions and operations as in the whole.
void Merger::certify() {
  const Outcome outcome = merged_.verdict.outcome;
  if (!proof_ || outcome == Outcome::Undecided) return;
  Verdict verdict = merged_.verdict;
  if (outcome == Outcome::Holds) {
    verdict = std::move(*proof_).close(outcome);
  } else {
    for (std::size_t a = 0; a < all_.size(); ++a) {
      const Told& told = all_[a];
      Anomaly& anomaly = verdict.anomalies[a];
      for (std::size_t i = 0; i < told.txns.size(); ++i) anomaly.txns[i] = TxnId{told.txns[i].txn};
      for (std::size_t i = 0; i < told.ops.size(); ++i) {
        const Found& found = told.txns[told.finding->ops[i].txn];
        anomaly.ops[i] = OpId{found.first_op + told.ops[i]};
      }
    }
  }
  merged_.certificate =
      make_certificate(identity_, std::move(verdict), verdicts_.front().clock_drift);
}

}  // namespace

Result<MergedShards> merge(const ShardPlan& plan, const std::string& folder,
                           std::span<const ShardVerdict> verdicts, const MergeOptions& options) {
  return Merger(plan, folder, verdicts, options).run();
}

}  // namespace ouro
