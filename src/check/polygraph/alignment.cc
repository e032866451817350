#include "check/polygraph/alignment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/sort_within.h"

namespace ouro {
namespace {

constexpr int kRounds = 10;
// The weight of the first guess, 1/σ²: as if it were off by σ = 0.1 of the whole time, usually.
constexpr float kAnchor = 100;

class Alignment {
 public:
  Alignment(const Encoding& encoding, const Digraph& known, const Digraph& back,
            std::span<const Node> nodes, const Budget& budget)
      : e_(encoding), known_(known), back_(back), budget_(budget) {
    const History& h = encoding.observed().history();
    places_.resize(h.txn_count());
    guess_.resize(h.txn_count());
    float position = 0;
    for_each_within(budget, 0, nodes.size(), [&](std::size_t at) {
      const TxnId txn = e_.txn(nodes[at]);
      if (txn == kInitialTxn || !e_.is_commit(nodes[at])) return;
      const float time = position++ / static_cast<float>(guess_.size());
      guess_[txn.index()] = time;
      places_[txn.index()] = {time, h.session(txn)};
    });
    if (!e_.sessions()) link_sessions();
    measure();
  }

  // Whether reads tell more than the first guess. Of a session with n transactions at random times,
  // the guess is off by about 0.5/√n of the whole time; gaps to other sessions must not be much
  // longer.
  [[nodiscard]] bool worthwhile() const {
    const auto sessions = static_cast<double>(e_.observed().history().session_count());
    const double off = 0.5 / std::sqrt(static_cast<double>(guess_.size()) / sessions);
    return gaps_[1].weight > 0 && gaps_[1].mean < 2 * off;
  }

  // Ends early, with what it has, if the budget is exhausted.
  std::vector<Node> run() {
    for (int round = 0; round < kRounds; ++round) {
      for_each_within(budget_, 0, places_.size(), [&](std::size_t t) { move(TxnId{t}); });
    }
    std::vector<Node> order(places_.size());
    std::iota(order.begin(), order.end(), 0);
    static_cast<void>(sort_within(
        budget_, order, [&](Node a, Node b) { return places_[a].time < places_[b].time; }));
    return order;
  }

 private:
  // A transaction with the time that we believe it had.
  struct Dated {
    float time = 0;  // From 0 to 1, or a little beyond.
    SessionId session;
  };
  // The time from a transaction to one that must come later: its mean, and its weight 1/mean².
  // There is one for pairs of the same session and one for the others.
  struct Gap {
    float mean = 0;
    float weight = 0;
  };

  // Which of gaps_ lies between two transactions.
  [[nodiscard]] static std::size_t gap(const Dated& a, const Dated& b) {
    return a.session == b.session ? 0 : 1;
  }

  // Where session order is not among the arcs, a session most likely kept its order all the same.
  void link_sessions() {
    const History& h = e_.observed().history();
    next_.resize(h.txn_count());
    previous_.resize(h.txn_count());
    BudgetTicker ticker(budget_);
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      TxnId before;
      for (const TxnId txn : h.session_txns(SessionId{s})) {
        if (ticker.tick()) return;
        if (!e_.observed().counted(txn)) continue;
        if (before.valid()) next_[before.index()] = txn;
        previous_[txn.index()] = before;
        before = txn;
      }
    }
  }

  // Call f(dated) for the transactions taken to come later than `txn`, and earlier: those that are
  // known to, and those next to it in its session.
  template <class F>
  void for_each_later(TxnId txn, const F& f) const {
    for (const Node node : known_.out(e_.commit(txn))) {
      if (const TxnId other = e_.txn(node); other != kInitialTxn) f(places_[other.index()]);
    }
    if (next_.empty()) return;
    if (const TxnId other = next_[txn.index()]; other.valid()) f(places_[other.index()]);
  }
  template <class F>
  void for_each_earlier(TxnId txn, const F& f) const {
    for (const Node node : back_.out(e_.begin(txn))) {
      if (const TxnId other = e_.txn(node); other != kInitialTxn) f(places_[other.index()]);
    }
    if (previous_.empty()) return;
    if (const TxnId other = previous_[txn.index()]; other.valid()) f(places_[other.index()]);
  }

  // Measures gaps_ in the first guess. They are taken to spread as widely as they are long, as
  // those between random events do.
  void measure() {
    std::array<double, 2> count{};
    std::array<double, 2> total{};
    for_each_within(budget_, 0, places_.size(), [&](std::size_t t) {
      const Dated& here = places_[t];
      for_each_later(TxnId{t}, [&](const Dated& other) {
        ++count[gap(here, other)];
        total[gap(here, other)] += other.time - here.time;
      });
    });
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
      if (count[i] == 0 || total[i] <= 0) continue;
      gaps_[i].mean = static_cast<float>(total[i] / count[i]);
      gaps_[i].weight = 1 / (gaps_[i].mean * gaps_[i].mean);
    }
  }

  // Moves a transaction to the weighted mean of where its neighbours and the first guess have it.
  void move(TxnId txn) {
    Dated& here = places_[txn.index()];
    float weights = kAnchor;
    float sum = kAnchor * guess_[txn.index()];
    for_each_later(txn, [&](const Dated& other) {
      const Gap& between = gaps_[gap(here, other)];
      weights += between.weight;
      sum += between.weight * (other.time - between.mean);
    });
    for_each_earlier(txn, [&](const Dated& other) {
      const Gap& between = gaps_[gap(here, other)];
      weights += between.weight;
      sum += between.weight * (other.time + between.mean);
    });
    here.time = sum / weights;
  }

  const Encoding& e_;
  const Digraph& known_;
  const Digraph& back_;
  const Budget& budget_;
  std::vector<float> guess_;  // By transaction: its time by the first guess.
  // By transaction: its time by now.
  std::vector<Dated> places_;
  // By transaction: the next one of its session, and the one before; invalid if there is none.
  // Empty if arcs say that.
  std::vector<TxnId> next_, previous_;
  // Within a session, and between sessions.
  std::array<Gap, 2> gaps_;
};

}  // namespace

std::optional<std::vector<Node>> aligned(const Encoding& encoding, const Digraph& known,
                                         const Digraph& back, std::span<const Node> nodes,
                                         const Budget& budget) {
  Alignment alignment(encoding, known, back, nodes, budget);
  if (!alignment.worthwhile()) return std::nullopt;
  return alignment.run();
}

}  // namespace ouro
