#include "check/open_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "history/access.h"

namespace ouro {
namespace {

// Where the certificate of a level that holds has everybody.
class Places {
 public:
  Places(const History& history, const Verdict& verdict)
      : begin_(history.txn_count(), kNowhere), commit_(history.txn_count(), kNowhere) {
    std::uint32_t next = 1;  // The initial transaction is at zero.
    if (verdict.schedule.empty()) {
      for (const TxnId txn : verdict.order) begin_[txn.index()] = commit_[txn.index()] = next++;
    }
    for (const Event& event : verdict.schedule) {
      (event.commit ? commit_ : begin_)[event.txn.index()] = next++;
    }
  }
  [[nodiscard]] std::uint32_t begin(TxnId txn) const { return begin_[txn.index()]; }
  // Those that do not take part come last.
  [[nodiscard]] std::uint32_t commit(TxnId txn) const {
    return txn == kInitialTxn ? 0 : commit_[txn.index()];
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> commit_;
};

class OpenReads {
 public:
  OpenReads(Observed& observed, const DecideWithout& decide, const Budget& budget,
            const CheckOptions& options)
      : whole_(observed), decide_(decide), budget_(budget), options_(options) {}

  Verdict run() {
    Verdict first = decide_(whole_);
    level_ = first.level;
    if (first.outcome != Outcome::Holds) return first;
    if (auto answer = look_closer(whole_, std::move(first), {})) return *std::move(answer);
    while (!pending_.empty()) {
      const Sources sources = std::move(pending_.back());
      pending_.pop_back();
      if (auto answer = try_case(sources)) return *std::move(answer);
    }
    return violated();
  }

 private:
  using Sources = std::vector<ReadSource>;

  // What is said of the open reads of `sources`, and nothing of the others. An answer, or nothing:
  // then the case is refuted, or its parts are pending.
  std::optional<Verdict> try_case(const Sources& sources) {
    if (++decisions_ > kMostDecisions) return too_many();
    auto observed = whole_.with_sources(sources, budget_, options_.threads);
    if (!observed.ok()) return undecided(observed.error().what);
    Verdict verdict = decide_(*observed);
    if (verdict.outcome == Outcome::Undecided) return verdict;
    if (verdict.outcome == Outcome::Violated) {
      cases_.push_back({sources, std::move(verdict.anomalies), std::move(verdict.refutation)});
      return std::nullopt;
    }
    return look_closer(*observed, std::move(verdict), sources);
  }

  // The level holds without the reads that are still open.
  std::optional<Verdict> look_closer(const Observed& observed, Verdict verdict,
                                     const Sources& sources) {
    const Places places(observed.history(), verdict);
    Sources all = sources;
    ItemId next;        // The first that the order does not fit,
    ItemId first_open;  // or, if it fits all, the first.
    for (const ItemId read : observed.open_reads()) {
      if (!observed.counted(observed.txn(read))) continue;
      if (!first_open.valid()) first_open = read;
      const auto candidates = by_preference(observed, places, read);
      if (!next.valid() && !is_latest(observed, places, read, candidates[0])) next = read;
      all.push_back(source(observed, read, candidates[0]));
    }
    if (!first_open.valid()) {
      verdict.sources = sources;
      return verdict;
    }
    if (auto answer = confirm(all)) return answer;
    const ItemId read = next.valid() ? next : first_open;
    const auto candidates = by_preference(observed, places, read);
    for (auto write = candidates.rbegin(); write != candidates.rend(); ++write) {
      pending_.push_back(sources);
      pending_.back().push_back(source(observed, read, *write));
    }
    return std::nullopt;
  }

  // A guess of all sources at once. Only that it holds is of use.
  std::optional<Verdict> confirm(const Sources& all) {
    if (++decisions_ > kMostDecisions) return too_many();
    auto observed = whole_.with_sources(all, budget_, options_.threads);
    if (!observed.ok()) return undecided(observed.error().what);
    const auto open = observed->open_reads();
    const bool complete = std::none_of(open.begin(), open.end(), [&](ItemId read) {
      return observed->counted(observed->txn(read));  // Of one that counts only now.
    });
    if (!complete) return std::nullopt;
    Verdict verdict = decide_(*observed);
    if (verdict.outcome == Outcome::Undecided) return verdict;
    if (verdict.outcome == Outcome::Violated) return std::nullopt;
    verdict.sources = all;
    return verdict;
  }

  static ReadSource source(const Observed& observed, ItemId read, ItemId write) {
    return {observed.items().op(read), write.valid() ? observed.txn(write) : kInitialTxn};
  }

  // The candidates before the read, the latest first; then those behind it, the earliest first.
  // REQUIRES: there is one, or the history is wrong in plain sight.
  static std::vector<ItemId> by_preference(const Observed& observed, const Places& places,
                                           ItemId read) {
    std::vector<ItemId> out = observed.candidates(read);
    const std::uint32_t now = places.begin(observed.txn(read));
    const auto rank = [&](ItemId write) {
      const std::uint32_t at = places.commit(write.valid() ? observed.txn(write) : kInitialTxn);
      return at < now ? std::pair(0u, now - at) : std::pair(1u, at);
    };
    std::stable_sort(out.begin(), out.end(), [&](ItemId a, ItemId b) { return rank(a) < rank(b); });
    return out;
  }

  // Whether `write` is before `read`, and no other write of the key comes between them.
  static bool is_latest(const Observed& observed, const Places& places, ItemId read, ItemId write) {
    const std::uint32_t now = places.begin(observed.txn(read));
    const std::uint32_t at = places.commit(write.valid() ? observed.txn(write) : kInitialTxn);
    if (at >= now) return false;
    const auto links = observed.links_of(observed.items().key(read));
    return std::none_of(links.begin(), links.end(), [&](const KeyLink& link) {
      const bool counts = link.is_write() && observed.counted(link.txn);
      return counts && places.commit(link.txn) > at && places.commit(link.txn) < now;
    });
  }

  [[nodiscard]] Verdict undecided(std::string reason) const {
    Verdict verdict{.level = level_};
    verdict.reason = std::move(reason);
    return verdict;
  }
  [[nodiscard]] Verdict too_many() const {
    return undecided(
        fmt::format("{} ways tried to say what failed compare-and-sets read", kMostDecisions));
  }

  // Every case is refuted.
  Verdict violated() {
    Verdict verdict{.level = level_, .outcome = Outcome::Violated};
    Anomaly anomaly{.kind = AnomalyKind::ContradictoryOrder, .txns = {}, .ops = {}, .edges = {}};
    for (const SourceCase& each : cases_) {
      for (const ReadSource& said : each.sources) anomaly.ops.push_back(said.read);
      if (anomaly.edges.empty() && !each.anomalies.empty()) anomaly.edges = each.anomalies[0].edges;
    }
    std::sort(anomaly.ops.begin(), anomaly.ops.end());
    anomaly.ops.erase(std::unique(anomaly.ops.begin(), anomaly.ops.end()), anomaly.ops.end());
    const History& h = whole_.history();
    for (const OpId op : anomaly.ops) {
      const TxnId txn = h.txn_of(op);
      if (anomaly.txns.empty() || anomaly.txns.back() != txn) anomaly.txns.push_back(txn);
    }
    ++verdict.counts[static_cast<std::size_t>(anomaly.kind)];
    verdict.anomalies.push_back(std::move(anomaly));
    verdict.cases = std::move(cases_);
    return verdict;
  }

  Observed& whole_;
  const DecideWithout& decide_;
  const Budget& budget_;
  const CheckOptions& options_;
  Level level_ = Level::Serializable;
  std::vector<Sources> pending_;  // The next one last.
  std::vector<SourceCase> cases_;
  std::size_t decisions_ = 0;
};

}  // namespace

Verdict decide_open_reads(Observed& observed, const DecideWithout& decide, const Budget& budget,
                          const CheckOptions& options) {
  if (observed.stopped() || observed.open_reads().empty()) return decide(observed);
  return OpenReads(observed, decide, budget, options).run();
}

}  // namespace ouro
