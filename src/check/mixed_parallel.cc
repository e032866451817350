#include "check/mixed_parallel.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "check/observed/violated.h"
#include "check/positions.h"

namespace ouro {
namespace {

constexpr int kMostTried = 200;
class ParallelSearch {
 public:
  ParallelSearch(const Observed& observed, MixedKnowledge& knowledge, const DecideWith& decide,
                 const Budget& budget)
      : o_(observed), knowledge_(knowledge), decide_(decide), budget_(budget) {}

  Verdict run() {
    nodes_.emplace_back();
    while (!nodes_.empty()) {
      if (nodes_.back().conflict == kNoStep) {
        if (auto answer = look_at(nodes_.back())) return *std::move(answer);
      } else if (nodes_.back().next < nodes_.back().open.size()) {
        Node child{.assumed = nodes_.back().assumed};
        child.assumed.push_back(opposite(nodes_.back().open[nodes_.back().next]));
        nodes_.push_back(std::move(child));
      } else {
        finish(conclude(nodes_.back()));
      }
    }
    return violated();
  }

 private:
  using Sides = std::vector<ChoiceSide>;
  static constexpr std::uint32_t kNoStep = 0xffffffff;

  // One case: what is assumed, what that leads to, and which sides of that can be turned.
  struct Node {
    Sides assumed;
    std::uint32_t conflict = kNoStep;  // The step that says what a reader missed.
    Sides open = {};
    std::size_t next = 0;                     // The side of `open` that is to be turned next.
    std::vector<std::uint32_t> refuted = {};  // Steps: one for each side turned so far.
  };

  static bool same(const ChoiceSide& a, const ChoiceSide& b) {
    return a.choice == b.choice && a.reversed == b.reversed;
  }
  static bool has(const Sides& sides, const ChoiceSide& side) {
    return std::any_of(sides.begin(), sides.end(),
                       [&](const ChoiceSide& other) { return same(side, other); });
  }
  static ChoiceSide opposite(ChoiceSide side) { return {side.choice, !side.reversed}; }

  // Decides a case. Returns the answer for the mixture if there is one.
  std::optional<Verdict> look_at(Node& node) {
    Verdict undecided{.level = Level::Mixed};
    if (++tried_ > kMostTried) {
      undecided.reason = "too many ways to say what transactions at parallel-si see";
      return undecided;
    }
    std::vector<Edge> edges;
    for (const ChoiceSide& side : node.assumed) edges.push_back(assumed_edge(side));
    Verdict verdict = decide_(edges);
    if (budget_.exhausted() || verdict.outcome == Outcome::Undecided) return undecided;
    if (verdict.outcome == Outcome::Violated) {
      if (node.assumed.empty()) return verdict;
      finish(add_refutation(std::move(verdict), node.assumed));
      return std::nullopt;
    }
    const auto missed = knowledge_.missed(positions_of(o_.history(), verdict).commit);
    if (budget_.exhausted()) return undecided;
    if (!missed) return verdict;
    node.conflict = add_conflict(*missed);
    for (const ChoiceSide& side : steps_[node.conflict].excluded) {
      if (!has(node.assumed, side)) node.open.push_back(side);
    }
    return std::nullopt;
  }

  // Ends the case at hand, which `step` refutes.
  void finish(std::uint32_t step) {
    nodes_.pop_back();
    // Where the step does not rest on what the case assumed last, it refutes the case before it,
    // too.
    while (!nodes_.empty()) {
      Node& parent = nodes_.back();
      const ChoiceSide turned = opposite(parent.open[parent.next]);
      if (has(steps_[step].excluded, turned)) {
        parent.refuted.push_back(step);
        ++parent.next;
        return;
      }
      nodes_.pop_back();
    }
  }

  // The step that refutes a case of which all parts are refuted.
  std::uint32_t conclude(const Node& node) {
    if (node.open.empty()) return node.conflict;
    RefutationStep step;
    step.premises = node.refuted;
    step.premises.push_back(node.conflict);
    for (const std::uint32_t premise : step.premises) {
      for (const ChoiceSide& side : steps_[premise].excluded) {
        if (has(node.assumed, side) && !has(step.excluded, side)) step.excluded.push_back(side);
      }
    }
    return add(std::move(step));
  }

  std::uint32_t add(RefutationStep step) {
    steps_.push_back(std::move(step));
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }

  // The side of the choice between two writers of a key that puts `from` first.
  ChoiceSide side_of(KeyId key, TxnId from, TxnId to) {
    const auto [first, second] = std::minmax(from, to);
    const auto number = static_cast<std::uint32_t>(choices_.size());
    const auto [at, added] = number_.try_emplace(std::tuple(key, first, second), number);
    if (added) choices_.push_back({.key = key, .first = first, .second = second});
    return {at->second, from != first};
  }

  [[nodiscard]] Edge assumed_edge(const ChoiceSide& side) const {
    const Choice& choice = choices_[side.choice];
    Edge edge{
        .from = choice.first, .to = choice.second, .kind = EdgeKind::WriteWrite, .key = choice.key};
    if (side.reversed) std::swap(edge.from, edge.to);
    edge.from_op = o_.items().op(final_write(o_, edge.from, edge.key));
    edge.to_op = o_.items().op(final_write(o_, edge.to, edge.key));
    return edge;
  }

  // The choice that an edge rests on, as it is a side in `assumed`; kNoChoice: none.
  [[nodiscard]] std::uint32_t assumed_by(const Edge& edge, const Sides& assumed) const {
    for (const ChoiceSide& side : assumed) {
      const Edge given = assumed_edge(side);
      const bool is = edge.kind == given.kind && edge.key == given.key && edge.from == given.from &&
                      edge.to == given.to;
      if (is) return side.choice;
    }
    return Edge::kNoChoice;
  }

  // Adds the cycle that is closed by what a reader missed.
  std::uint32_t add_conflict(const Missed& missed) {
    RefutationStep step;
    const auto rests_on = [&](Edge& edge, TxnId first, TxnId second) {
      const ChoiceSide side = side_of(edge.key, first, second);
      edge.choice = side.choice;
      if (!has(step.excluded, side)) step.excluded.push_back(side);
    };
    Edge overwritten = missed.overwritten;
    if (missed.source != kInitialTxn) rests_on(overwritten, missed.source, overwritten.to);
    step.cycle.push_back(overwritten);
    for (Edge edge : missed.known) {
      if (edge.kind == EdgeKind::WriteWrite) rests_on(edge, edge.from, edge.to);
      step.cycle.push_back(edge);
    }
    return add(std::move(step));
  }

  // Adds what refutes a case in which `assumed` is so. Returns its last step.
  std::uint32_t add_refutation(Verdict verdict, const Sides& assumed) {
    Refutation& refutation = verdict.refutation;
    if (refutation.steps.empty()) {
      refutation.steps.push_back({.excluded = {}, .cycle = verdict.anomalies.front().edges});
    }
    const auto first_choice = static_cast<std::uint32_t>(choices_.size());
    const auto first_step = static_cast<std::uint32_t>(steps_.size());
    for (Choice choice : refutation.choices) {
      if (choice.previous != Choice::kNone) choice.previous += first_choice;
      choices_.push_back(choice);
    }
    for (RefutationStep& step : refutation.steps) {
      for (ChoiceSide& side : step.excluded) side.choice += first_choice;
      step.excluded.insert(step.excluded.end(), assumed.begin(), assumed.end());
      for (Edge& edge : step.cycle) {
        edge.choice =
            edge.choice == Edge::kNoChoice ? assumed_by(edge, assumed) : edge.choice + first_choice;
      }
      for (std::uint32_t& premise : step.premises) premise += first_step;
      add(std::move(step));
    }
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }

  Verdict violated() {
    Verdict verdict{.level = Level::Mixed};
    const auto first = std::find_if(steps_.begin(), steps_.end(),
                                    [](const RefutationStep& step) { return !step.cycle.empty(); });
    const AnomalyKind kind =
        choices_.empty() ? AnomalyKind::ForbiddenCycle : AnomalyKind::ContradictoryOrder;
    add_cycle(verdict, kind, first->cycle);
    if (!choices_.empty()) verdict.refutation = {std::move(choices_), std::move(steps_)};
    return verdict;
  }

  const Observed& o_;
  MixedKnowledge& knowledge_;
  const DecideWith& decide_;
  const Budget& budget_;
  int tried_ = 0;
  std::vector<Node> nodes_;  // The case at hand, and those that it is a part of.
  std::vector<Choice> choices_;
  absl::flat_hash_map<std::tuple<KeyId, TxnId, TxnId>, std::uint32_t> number_;
  std::vector<RefutationStep> steps_;
};

}  // namespace

Verdict decide_parallel(const Observed& observed, MixedKnowledge& knowledge,
                        const DecideWith& decide, const Budget& budget) {
  return ParallelSearch(observed, knowledge, decide, budget).run();
}

}  // namespace ouro
