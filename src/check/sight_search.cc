#include "check/sight_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "check/observed/violated.h"
#include "check/positions.h"
#include "check/versions/read_parts.h"
#include "check/versions/unplaced_reads.h"

namespace ouro {
namespace {

class SightSearch {
 public:
  SightSearch(const Observed& observed, const PredicateReads& predicates, Level level,
              const SettleWith& settle, const Budget& budget)
      : o_(observed),
        rows_(predicates.rows()),
        reads_(observed, rows_, predicates.unplaced()),
        level_(level),
        overwrites_(rules(level).phantoms_count()),
        settle_(settle),
        budget_(budget),
        first_(predicates.unplaced()[0].op) {}

  Verdict run() {
    pending_.push_back({});
    while (!pending_.empty()) {
      const Sights sights = std::move(pending_.back());
      pending_.pop_back();
      if (auto answer = try_case(sights)) return *std::move(answer);
    }
    return violated();
  }

 private:
  using Sights = std::vector<Sight>;

  // Decides one case. Returns the answer for the history, if there is one. Otherwise the case is
  // refuted, and is among cases_, or its two parts are pending.
  std::optional<Verdict> try_case(const Sights& sights) {
    auto [verdict, open] = decide(sights);
    if (verdict.outcome == Outcome::Undecided) return verdict;
    if (verdict.outcome == Outcome::Violated) {
      if (sights.empty()) return verdict;
      cases_.push_back({.sources = {},
                        .sights = told(sights),
                        .anomalies = std::move(verdict.anomalies),
                        .refutation = std::move(verdict.refutation)});
      return std::nullopt;
    }
    if (open.empty()) return verdict;
    if (open.size() > 1) {
      Sights all = sights;
      all.insert(all.end(), open.begin(), open.end());
      auto [guess, left] = decide(all);
      if (guess.outcome == Outcome::Holds && left.empty()) return std::move(guess);
    }
    for (const bool likely : {false, true}) {
      pending_.push_back(sights);
      pending_.back().push_back(open.front());
      if (!likely) pending_.back().back().seen = !open.front().seen;
    }
    return std::nullopt;
  }

  // The verdict of a case; if it holds so far, with the choices that are left.
  std::pair<Verdict, Sights> decide(const Sights& sights) {
    const auto allowed = allowed_versions(level_);
    std::vector<PredicateEdge> edges = counting(reads_.edges_of(sights));
    for (;;) {
      if (++decisions_ > most_decisions()) return {too_many(sights), {}};
      Settled settled = settle_(edges);
      if (settled.verdict.outcome != Outcome::Holds) return {std::move(settled.verdict), {}};
      const auto found =
          reads_.compare(positions_of(o_.history(), settled.verdict), allowed, sights, budget_);
      if (budget_.exhausted()) return {Verdict{.level = level_}, {}};
      if (found.impossible.valid()) return {impossible_read(o_, level_, found.impossible), {}};
      std::vector<PredicateEdge> more = counting(found.edges);
      // Every misfit has edges or choices. If not, that would be a bug, but no reason to say holds.
      if (more.empty() && found.open.empty() && found.misfit.valid()) return {too_many(sights), {}};
      if (more.empty()) return {std::move(settled.verdict), found.open};
      edges = std::move(settled.edges);
      edges.insert(edges.end(), more.begin(), more.end());
    }
  }

  // Those edges that matter at the level.
  [[nodiscard]] std::vector<PredicateEdge> counting(std::vector<PredicateEdge> edges) const {
    std::erase_if(edges, [&](const PredicateEdge& e) { return e.overwrites && !overwrites_; });
    return edges;
  }

  [[nodiscard]] std::vector<ReadSight> told(const Sights& sights) const {
    std::vector<ReadSight> out;
    for (const Sight& sight : sights) {
      const ItemId write = rows_.of(sight.key)[sight.position].write;
      out.push_back({sight.read, sight.key, o_.txn(write), sight.seen});
    }
    return out;
  }

  [[nodiscard]] Verdict too_many(const Sights& sights) const {
    const History& h = o_.history();
    const OpId read = sights.empty() ? first_ : sights.back().read;
    Verdict verdict{.level = level_};
    verdict.reason = fmt::format(
        "{} ways tried to say what predicate reads saw that do not tell it, like that at {}",
        most_decisions(), h.place(read).to_string());
    return verdict;
  }

  Verdict violated() { return violated_in_all(o_.history(), level_, std::move(cases_)); }

  // The larger the history, the longer a decision takes.
  [[nodiscard]] std::size_t most_decisions() const {
    return std::clamp<std::size_t>(200'000 / (o_.items().size() + 1), 50, 1000);
  }

  const Observed& o_;
  const RowVersions& rows_;
  const UnplacedReads reads_;
  const Level level_;
  const bool overwrites_;
  const SettleWith& settle_;
  const Budget& budget_;
  const OpId first_;               // Of the reads.
  std::vector<Sights> pending_;    // Cases to be tried; the next one is at the back.
  std::vector<SourceCase> cases_;  // The refuted ones.
  std::size_t decisions_ = 0;
};

}  // namespace

Verdict search_sights(const Observed& observed, const PredicateReads& predicates, Level level,
                      const SettleWith& settle, const Budget& budget) {
  return SightSearch(observed, predicates, level, settle, budget).run();
}

UnplacedReads::Allowed allowed_versions(Level level) {
  return rules(level).phantoms_count() ? UnplacedReads::Allowed::AtBegin
                                       : UnplacedReads::Allowed::UntilBegin;
}

}  // namespace ouro
