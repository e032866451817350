#include "check/weak/weak.h"

#include <algorithm>
#include <optional>

#include "base/level_rules.h"
#include "base/meter.h"
#include "check/observed/likely_order.h"
#include "check/weak/guess.h"

namespace ouro {
namespace {

void add_anomaly(Verdict& verdict, const CommitGraph& commit_graph, AnomalyKind kind,
                 std::vector<Edge> edges, std::size_t limit) {
  verdict.outcome = Outcome::Violated;
  if (++verdict.counts[static_cast<std::size_t>(kind)] > limit) return;
  Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = std::move(edges)};
  anomaly.support = commit_graph.support(anomaly.edges);
  const auto add = [&](TxnId txn) {
    if (txn.valid() &&
        std::find(anomaly.txns.begin(), anomaly.txns.end(), txn) == anomaly.txns.end()) {
      anomaly.txns.push_back(txn);
    }
  };
  for (const Edge& edge : anomaly.edges) add(edge.from);
  verdict.anomalies.push_back(std::move(anomaly));
}

// Adds a cycle of each component, while the budget lasts.
void add_cycles(Verdict& verdict, const CommitGraph& commit_graph, const Digraph& graph,
                AnomalyKind kind, std::span<const ForcedEdge> forced, std::size_t limit,
                const Budget& budget) {
  for (const auto& component : cyclic_components(graph, budget)) {
    const bool shown = verdict.counts[static_cast<std::size_t>(kind)] < limit;
    std::vector<Edge> edges;
    if (shown) edges = commit_graph.explain(short_cycle(graph, component, budget), forced);
    if (shown && edges.empty()) return;
    add_anomaly(verdict, commit_graph, kind, std::move(edges), limit);
  }
}

// After so many guesses, rc and ra infer all that the level forces; then one sort decides.
constexpr int kGuesses = 3;

// Guesses a commit order and infers which forced edges go against it. If there are some, the next
// guess is an order that has these edges, too, until no edge goes against the guess or they close a
// cycle.
class WeakCheck {
 public:
  WeakCheck(const Observed& observed, Level level, const Budget& budget,
            const CheckOptions& options)
      : o_(observed),
        premise_(rules(level).premise),
        budget_(budget),
        options_(options),
        verdict_{.level = level} {}

  Verdict run() {
    Guess guess(o_, likely_commit_order(o_.history(), budget_), premise_, budget_);
    if (!guess.respects_known()) {
      if (!sort()) return std::move(verdict_);
      guess = Guess(o_, std::move(order_), premise_, budget_);
    }
    for (int guesses = 1;; ++guesses) {
      const bool all = guesses > kGuesses && premise_ != Premise::WholePast;
      const std::vector<ForcedEdge> more = infer(all ? nullptr : &guess);
      if (budget_.exhausted()) return std::move(verdict_);
      if (more.empty()) return holds(guess.order());
      if (contradicts_initial(more)) return std::move(verdict_);
      forced_.insert(forced_.end(), more.begin(), more.end());
      if (!sort()) return std::move(verdict_);
      if (all) return holds(order_);
      guess = Guess(o_, std::move(order_), premise_, budget_);
    }
  }

 private:
  [[nodiscard]] std::vector<ForcedEdge> infer(const Guess* guess) const {
    switch (premise_) {
      case Premise::EarlierReads:
        return infer_read_committed(o_, guess, budget_);
      case Premise::DirectPast:
        return infer_read_atomic(o_, guess, budget_);
      default:
        return infer_causal(o_, *guess, budget_, options_.threads);
    }
  }

  // Orders the transactions by all edges that are known and forced. False: these have cycles, which
  // are now in the verdict, or the budget is exhausted.
  bool sort() {
    if (!commit_graph_) commit_graph_.emplace(o_, budget_);
    const Digraph graph = commit_graph_->with(forced_, budget_);
    order_ = topological_order(graph, commit_graph_->likely_order(), budget_);
    if (budget_.exhausted()) return false;
    if (order_.size() == graph.node_count()) return true;
    if (forced_.empty()) {
      add_cycles(verdict_, *commit_graph_, graph, AnomalyKind::DependencyCycle, {},
                 options_.examples, budget_);
    } else {
      report_forced(graph);
    }
    return false;
  }

  // Adds the cycles of all edges that the level forces, not only of those that were inferred so
  // far.
  void report_forced(const Digraph& graph) {
    const auto add = [&](const Digraph& whole) {
      add_cycles(verdict_, *commit_graph_, whole, kind_at(premise_), forced_, options_.examples,
                 budget_);
    };
    if (premise_ == Premise::WholePast) return add(graph);
    std::vector<ForcedEdge> all = infer(nullptr);
    if (budget_.exhausted()) return add(graph);
    forced_ = std::move(all);
    add(commit_graph_->with(forced_, budget_));
  }

  // Whether any edge leads to the initial transaction; then that is in the verdict.
  bool contradicts_initial(std::span<const ForcedEdge> edges) {
    for (const ForcedEdge& edge : edges) {
      if (edge.to != kInitialTxn) continue;
      if (!commit_graph_) commit_graph_.emplace(o_, budget_);
      add_anomaly(verdict_, *commit_graph_, kind_at(premise_), commit_graph_->explain_initial(edge),
                  options_.examples);
    }
    return verdict_.outcome == Outcome::Violated;
  }

  Verdict holds(std::span<const Node> order) {
    verdict_.outcome = Outcome::Holds;
    verdict_.order.reserve(o_.counted_count());
    for (const Node node : order) {
      if (o_.counted(TxnId{node})) verdict_.order.emplace_back(node);
    }
    return std::move(verdict_);
  }

  const Observed& o_;
  Premise premise_;
  const Budget& budget_;
  const CheckOptions& options_;
  Verdict verdict_;
  std::optional<CommitGraph> commit_graph_;  // Built when a guess has failed.
  std::vector<ForcedEdge> forced_;
  std::vector<Node> order_;
};

}  // namespace

AnomalyKind kind_at(Premise premise) {
  switch (premise) {
    case Premise::EarlierReads:
      return AnomalyKind::CommitOrderCycle;
    case Premise::DirectPast:
      return AnomalyKind::FracturedRead;
    default:
      return AnomalyKind::CausalityViolation;
  }
}

Verdict check_weak(const Observed& observed, Level level, const Budget& budget,
                   const CheckOptions& options) {
  const StageTimer timer(budget, Stage::Force);
  return WeakCheck(observed, level, budget, options).run();
}

}  // namespace ouro
