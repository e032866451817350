#include "check/polygraph/encoding.h"

#include <algorithm>
#include <functional>

#include "base/level_rules.h"
#include "base/parallel.h"
#include "base/sort_within.h"
#include "check/polygraph/key_chains.h"
#include "history/access.h"
#include "history/real_time.h"

namespace ouro {
namespace {

constexpr std::size_t kManyItems = 50'000;  // Fewer are not worth a thread.

}  // namespace

Encoding::Encoding(const Observed& observed, Level level, std::int64_t clock_drift, bool chains,
                   unsigned threads, const Budget& budget, SearchFor open, Overwrites overwrites,
                   const Mixture* mixture)
    : o_(observed), open_(open), mixture_(mixture) {
  const LevelRules& level_rules = rules(level);
  split_ = level_rules.begins_apart() || mixture != nullptr;
  sessions_ = level_rules.sessions;
  ww_to_commit_ = level_rules.lost_updates;
  chained_ = !level_rules.lost_updates;
  overwrites_ = level_rules.rw_orders() || overwrites == Overwrites::AreArcs;
  phantoms_ = level_rules.phantoms;
  if (split_ && !chains) chained_ = false;
  if (open.results) {
    open_keys_ = list_keys(o_.history());
    open_keys_.flip();
  } else if (open.sources && !o_.searched_reads().empty()) {
    open_keys_.assign(o_.history().key_count(), false);
    for (const ItemId read : o_.searched_reads()) open_keys_[o_.items().key(read).index()] = true;
  }
  const std::size_t txns = o_.history().txn_count();
  first_readers_ = static_cast<Node>(split_ ? txns * 2 : txns);
  node_count_ = first_readers_;
  if (split_) {
    for_each_within(budget, 0, txns, [&](std::size_t t) {
      if (!is_single(TxnId{t})) add_arc(begin(TxnId{t}), commit(TxnId{t}));
    });
  }
  if (mixture != nullptr) {
    add_mixed_sessions(budget);
    for (const Edge& edge : mixture->forced) add_arc(commit(edge.from), commit(edge.to));
  } else if (sessions_) {
    add_sessions(budget);
  }
  add_predicates(budget);
  add_keys(threads, budget);
  first_time_ = static_cast<Node>(node_count_);
  if (mixture != nullptr) add_mixed_real_time(clock_drift, budget);
  if (level_rules.clocks()) add_real_time(level_rules, clock_drift, budget);
  stopped_ = budget.exhausted();
}

void Encoding::assume_sessions(std::span<const Arc> arcs) {
  arcs_.append(arcs);
  assumed_ += arcs.size();
  sessions_ = true;
}

void Encoding::drop_assumed() {
  if (assumed_ == 0) return;
  sessions_ = false;
  arcs_.truncate(arcs_.size() - assumed_);
  assumed_ = 0;
}

TxnId Encoding::txn(Node node) const {
  if (node >= first_readers_) return kInitialTxn;
  return TxnId{split_ ? node / 2 : node};
}

Arc Encoding::ww(TxnId from, TxnId to) const {
  const bool loses = mixture_ == nullptr ? ww_to_commit_ : mixture_->rules_of(to).lost_updates;
  return {commit(from), loses ? commit(to) : begin(to)};
}

Side Encoding::before(ChainId a, ChainId b) const {
  Side side;
  const Chain& first = chains_[a];
  const Chain& second = chains_[b];
  if (first.last != kInitialTxn) side.add(ww(first.last, second.first));
  if (first.readers != kNoNode) side.add(rw(first.readers, second.first));
  return side;
}

KeyId Encoding::key_of(ChainId chain) const {
  const auto after = std::upper_bound(chain_first_.begin(), chain_first_.end(), chain);
  return KeyId{static_cast<std::size_t>(after - chain_first_.begin() - 1)};
}

void Encoding::add_sessions(const Budget& budget) {
  const History& h = o_.history();
  BudgetTicker ticker(budget);
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    TxnId before;
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (ticker.tick()) return;
      if (!o_.counted(txn)) continue;
      if (before.valid()) add_arc(commit(before), begin(txn));
      before = txn;
    }
  }
}

// Transactions whose levels ask for session order follow each other and all before them; the others
// follow only the last one that does ask.
void Encoding::add_mixed_sessions(const Budget& budget) {
  const History& h = o_.history();
  BudgetTicker ticker(budget);
  std::vector<TxnId> since;  // The last one that asks, and the others behind it.
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    since.clear();
    bool asked = false;  // Whether the first of `since` asks.
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (ticker.tick()) return;
      if (!o_.counted(txn)) continue;
      if (mixture_->rules_of(txn).sessions) {
        for (const TxnId before : since) add_arc(commit(before), begin(txn));
        since.clear();
        asked = true;
      } else if (asked) {
        add_arc(commit(since[0]), commit(txn));
      }
      since.push_back(txn);
    }
  }
}

void Encoding::add_mixed_real_time(std::int64_t clock_drift, const Budget& budget) {
  const History& h = o_.history();
  std::vector<ClockedNode> all, asking, sees, later;
  for_each_within(budget, 0, h.txn_count(), [&](std::size_t t) {
    const TxnId txn{t};
    if (!o_.counted(txn)) return;
    const LevelRules& own = mixture_->rules_of(txn);
    if (const auto clock = h.completed(txn)) {
      all.push_back({*clock, commit(txn)});
      if (own.clocks()) asking.push_back({*clock, commit(txn)});
    }
    const auto invoked = h.invoked(txn);
    if (!invoked) return;
    const bool begins = own.real_time == RealTimeRule::SeesIt;
    (own.clocks() ? sees : later).push_back({*invoked, begins ? begin(txn) : commit(txn)});
  });
  if (!sees.empty()) add_time_path(std::move(all), sees, clock_drift, budget);
  if (!asking.empty()) add_time_path(std::move(asking), later, clock_drift, budget);
}

void Encoding::add_predicates(const Budget& budget) {
  BudgetTicker ticker(budget, 4096, 2);
  for (const PredicateEdge& edge : o_.predicate_edges()) {
    if (ticker.tick()) return;
    const TxnId writer = o_.txn(edge.write);
    if (!edge.overwrites) {
      add_arc(commit(writer), begin(edge.reader));
    } else if (overwrites_ && !phantoms_) {
      add_arc(begin(edge.reader), commit(writer));
    }
  }
}

// What was answered, by more than the drift, before something else was asked for comes before that.
// At all levels with real time this orders commits before transactions that were invoked later, or
// only before their commits. At the levels of snapshots it also orders begins and commits before
// commits that were asked for later; that says more only where clients recorded when begins were
// answered or commits asked for.
void Encoding::add_real_time(const LevelRules& level_rules, std::int64_t clock_drift,
                             const Budget& budget) {
  const History& h = o_.history();
  const bool inner = split_ && h.has_inner_clocks();
  std::vector<ClockedNode> commits, begins, invoked, asked;
  for_each_within(budget, 0, h.txn_count(), [&](std::size_t t) {
    const TxnId txn{t};
    if (!o_.counted(txn)) return;
    if (const auto clock = h.completed(txn)) commits.push_back({*clock, commit(txn)});
    if (const auto clock = h.invoked(txn)) invoked.push_back({*clock, begin(txn)});
    if (!split_) return;
    if (const auto clock = h.began(txn)) begins.push_back({*clock, begin(txn)});
    if (const auto clock = commit_asked(h, txn)) asked.push_back({*clock, commit(txn)});
  });
  if (!level_rules.time_to_commit()) add_time_path(commits, invoked, clock_drift, budget);
  if (!level_rules.time_to_commit() && !inner) return;
  commits.insert(commits.end(), begins.begin(), begins.end());
  add_time_path(std::move(commits), asked, clock_drift, budget);
}

// Adds a path of nodes that carry time: one for each of `answered`, in the order of their clocks,
// with an arc from it. Each of `asked` has an arc from the last of these nodes that was answered,
// by more than the drift, before it. So a linear number of arcs is enough.
void Encoding::add_time_path(std::vector<ClockedNode> answered, std::span<const ClockedNode> asked,
                             std::int64_t clock_drift, const Budget& budget) {
  if (!sort_within(budget, answered, std::less<>())) return;
  const Node first = static_cast<Node>(node_count_);
  for_each_within(budget, 0, answered.size(), [&](std::size_t i) {
    const Node here = first + static_cast<Node>(i);
    if (i > 0) add_arc(here - 1, here);
    add_arc(answered[i].node, here);
  });
  node_count_ += answered.size();
  for_each_within(budget, 0, asked.size(), [&](std::size_t i) {
    const auto after = std::partition_point(answered.begin(), answered.end(), [&](const auto& a) {
      return completed_before(a.clock, asked[i].clock, clock_drift);
    });
    if (after == answered.begin()) return;
    add_arc(first + static_cast<Node>(after - answered.begin() - 1), asked[i].node);
  });
}

// ---- keys ----

// Each thread encodes a range of keys with about as many items as the others.
void Encoding::add_keys(unsigned threads, const Budget& budget) {
  constexpr std::uint64_t kStepsPerItem = 8;
  const std::size_t keys = o_.history().key_count();
  const std::size_t items = o_.items_before(KeyId{keys});
  budget.charge(kStepsPerItem * items);
  const std::size_t parts = items < kManyItems ? 1 : thread_count(threads);
  std::vector<std::size_t> first_key(parts + 1, keys);
  for (std::size_t part = 0, key = 0; part < parts; ++part) {
    while (key < keys && o_.items_before(KeyId{key}) < items / parts * part) ++key;
    first_key[part] = key;
  }
  item_chain_.assign(o_.items().size(), kNoChain);
  chain_first_.resize(keys + 1);
  std::vector<KeyChains> chains(parts, KeyChains(*this, budget));
  for_each_part(parts, [&](std::size_t part) {
    chains[part].reserve(first_key[part], first_key[part + 1]);
    for (std::size_t k = first_key[part]; k < first_key[part + 1]; ++k) {
      chain_first_[k] = static_cast<ChainId>(chains[part].chains.size());
      if (!chains[part].add(KeyId{k})) return;
    }
  });
  if (!budget.exhausted()) join(chains, first_key, budget);
}

// Joins what the parts found, numbering chains and nodes one part after the other, as one thread
// would have.
void Encoding::join(std::span<KeyChains> parts, std::span<const std::size_t> first_key,
                    const Budget& budget) {
  struct Offset {
    std::size_t arcs, chains, readers;
  };
  std::vector<Offset> offsets{{arcs_.size(), 0, 0}};
  for (const KeyChains& part : parts) {
    const Offset& here = offsets.back();
    offsets.push_back({here.arcs + part.arcs.size(), here.chains + part.chains.size(),
                       here.readers + part.readers_chain.size()});
  }
  arcs_.extend(offsets.back().arcs - arcs_.size());
  chains_.extend(offsets.back().chains);
  readers_chain_.resize(offsets.back().readers);
  node_count_ += offsets.back().readers;
  chain_first_.back() = static_cast<ChainId>(chains_.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const ChainMember& member : parts[p].members) {
      members_.push_back({member.chain + static_cast<ChainId>(offsets[p].chains), member.writer});
    }
  }
  for_each_part(parts.size(), [&](std::size_t p) {
    KeyChains& part = parts[p];
    const Offset& offset = offsets[p];
    const auto chain_at = static_cast<ChainId>(offset.chains);
    const auto moved = [&](Node node) {
      const bool gathers = node >= first_readers_ && node != kNoNode;
      return gathers ? node + static_cast<Node>(offset.readers) : node;
    };
    for_each_within(budget, 0, part.arcs.size(), [&](std::size_t i) {
      arcs_[offset.arcs + i] = {moved(part.arcs[i].from), moved(part.arcs[i].to)};
    });
    part.arcs = {};
    for_each_within(budget, 0, part.chains.size(), [&](std::size_t i) {
      const Chain& chain = part.chains[i];
      chains_[offset.chains + i] = {chain.first, chain.last, moved(chain.readers)};
    });
    for_each_within(budget, 0, part.readers_chain.size(), [&](std::size_t i) {
      readers_chain_[offset.readers + i] = part.readers_chain[i] + chain_at;
    });
    for_each_within(budget, 0, part.marks.size(), [&](std::size_t i) {
      item_chain_[part.marks[i].item.index()] = part.marks[i].chain + chain_at;
    });
    for (std::size_t k = first_key[p]; k < first_key[p + 1]; ++k) chain_first_[k] += chain_at;
    part.chains = {};
    part.marks = {};
  });
}

// A transaction begins just before it commits, as if nothing were concurrent. Nodes that gather
// readers or carry time stand first, so that a topological order has them as soon as they may come.
std::vector<Node> Encoding::likely_order(std::span<const Node> txns) const {
  std::vector<Node> order;
  order.reserve(node_count_);
  for (Node node = first_readers_; node < node_count_; ++node) order.push_back(node);
  for (const Node txn : txns) {
    order.push_back(split_ ? txn * 2 : txn);
    if (split_) order.push_back(commit(TxnId{txn}));
  }
  return order;
}

}  // namespace ouro
