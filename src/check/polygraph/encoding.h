// A history as a graph with open choices, for one of the strong levels.
//
// SER levels have a node per transaction; SI levels and pc have two, its begin and its commit:
//
//            ser                si                  pc
//   so, wr   T1 → T2            C1 → B2             C1 → B2
//   ww       T1 → T2            C1 → B2             C1 → C2
//   rw       T1 → T2            B1 → C2             B1 → C2
//
// psi is as ser without the arcs of rw. It forbids only cycles with at most one rw, so acyclicity
// of all arcs would be too much; parallel_si.h sees to that.
//
// In a mixture of levels (Level::Mixed) all transactions commit in one order. Those of the SI
// levels and pc have two nodes, all others one; and a transaction's own level says which arcs lead
// to it and which of its reads are overwritten:
//
//   so       C1 → B2, if the level of T2 asks for it; else C1 → C2, if that of T1 does
//   rt       the same
//   wr       C1 → B2
//   ww       C1 → C2, and C1 → B2 if T2 must not lose updates
//   rw       B1 → C2, if T1 is not at rc, ra or cc, whose rules force edges C1 → C2 instead
//
// Writers of a key form chains: one that reads x from another and writes x follows it immediately
// (not at pc, where updates may be lost). The initial version heads a chain of its own; the order
// that reads of a list reveal, or that the history states, continues it. Chains move as one block,
// so the only open question is, for each two chains of a key, which comes first. If A does, its
// last writer, and whoever read from that one, precede the first writer of B. Readers are gathered
// in one node of their own, so a side of a choice has at most two arcs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.h"
#include "base/column.h"
#include "base/level_rules.h"
#include "check/observed/mixture.h"
#include "check/observed/observed.h"
#include "graph/digraph.h"
#include "ouro/level.h"
#include "solver/solver.h"

namespace ouro {

inline constexpr Node kNoNode = 0xffffffff;
using ChainId = std::uint32_t;
inline constexpr ChainId kNoChain = 0xffffffff;

// A version of a key that has open reads, and the chain that it belongs to.
struct ChainMember {
  ChainId chain = kNoChain;
  TxnId writer;
};

struct Chain {
  TxnId first;  // kInitialTxn: the chain of the initial version.
  TxnId last;   // kInitialTxn: the same, and no writer is known to follow.
  // The node that precedes whoever overwrites `last`, as its readers do: the begin of the only
  // reader, or a node that gathers them. kNoNode if there are none.
  Node readers = kNoNode;
};

// Two chains of a key.
struct ChainPair {
  ChainId first = kNoChain;
  ChainId second = kNoChain;
};

class KeyChains;

// What a search is to find out besides the order of writers.
struct SearchFor {
  bool sources = false;  // What the searched reads of Observed returned.
  bool results = false;  // By observation: when selects and aggregates saw what they returned.
};

class Encoding {
 public:
  // REQUIRES: `observed` outlives the encoding and has no wrong read that violates `level`.
  // `clock_drift` is in the unit of the history's clocks. Without `chains` every writer is a chain
  // of its own; at levels with one node per transaction this is ignored, as a writer that reads
  // what it overwrites would have to precede itself. An exhausted `budget` leaves stopped() true
  // and the rest meaningless. The result does not depend on `threads`. `open` is what the search is
  // to find out, which needs members(). Overwrites::AreArcs adds them as arcs at psi, too. At
  // Level::Mixed `mixture` has the levels of the transactions, and outlives the encoding.
  enum class Overwrites : std::uint8_t { AsLevel, AreArcs };
  Encoding(const Observed& observed, Level level, std::int64_t clock_drift, bool chains,
           unsigned threads, const Budget& budget, SearchFor open = {},
           Overwrites overwrites = Overwrites::AsLevel, const Mixture* mixture = nullptr);
  [[nodiscard]] bool stopped() const { return stopped_; }

  [[nodiscard]] const Observed& observed() const { return o_; }
  [[nodiscard]] const SearchFor& open() const { return open_; }
  // Whether a transaction has two nodes, its begin and its commit.
  [[nodiscard]] bool split() const { return split_; }
  // Whether session order is among the arcs.
  [[nodiscard]] bool sessions() const { return sessions_; }
  // Whether overwritten reads (rw) are arcs. Not at psi.
  [[nodiscard]] bool overwrites() const { return overwrites_; }
  // Whether rw of what a predicate read of the transaction did not find does not count
  // (repeatable-read).
  [[nodiscard]] bool phantoms(TxnId txn) const {
    return mixture_ == nullptr ? phantoms_ : mixture_->rules_of(txn).phantoms;
  }
  // Whether writers that read a version of the key may follow it immediately; and whether this one
  // does.
  [[nodiscard]] bool chained() const { return chained_; }
  [[nodiscard]] bool chained(TxnId txn) const {
    return mixture_ == nullptr || !mixture_->rules_of(txn).lost_updates;
  }
  // Null but at Level::Mixed.
  [[nodiscard]] const Mixture* mixture() const { return mixture_; }
  // Whether the begin and the commit of a transaction are one node.
  [[nodiscard]] bool is_single(TxnId txn) const {
    return !split_ || (mixture_ != nullptr && mixture_->is_single(txn));
  }
  [[nodiscard]] std::size_t node_count() const { return node_count_; }
  // The known arcs: all but those that depend on a choice.
  [[nodiscard]] std::span<const Arc> arcs() const { return arcs_.span(); }
  // Adds `arcs` of session order at a level that ignores it, and takes them back. With them an
  // order of the nodes still proves that the level holds, but a cycle proves nothing if session
  // order is part of it. REQUIRES: release_arcs() was not called.
  void assume_sessions(std::span<const Arc> arcs);
  void drop_assumed();
  // Frees the memory of arcs().
  void release_arcs() { arcs_ = {}; }

  // The nodes of a transaction; the same at SER levels. In a mixture a transaction with one node
  // has another one that no arc leads to.
  [[nodiscard]] Node begin(TxnId txn) const {
    if (mixture_ != nullptr && mixture_->is_single(txn)) return commit(txn);
    return split_ ? txn.value * 2 : txn.value;
  }
  [[nodiscard]] Node commit(TxnId txn) const { return split_ ? txn.value * 2 + 1 : txn.value; }
  // The transaction of a node; kInitialTxn for nodes that gather readers or carry time.
  [[nodiscard]] TxnId txn(Node node) const;
  [[nodiscard]] bool is_commit(Node node) const { return !split_ || node % 2 == 1; }
  [[nodiscard]] bool carries_time(Node node) const { return node >= first_time_; }
  // Nodes that gather readers begin here.
  [[nodiscard]] Node first_readers() const { return first_readers_; }
  [[nodiscard]] Arc ww(TxnId from, TxnId to) const;
  [[nodiscard]] Arc rw(Node readers, TxnId to) const { return {readers, commit(to)}; }
  // The chain whose readers a node gathers.
  [[nodiscard]] ChainId readers_chain(Node node) const {
    return readers_chain_[node - first_readers_];
  }
  // All nodes, in the order of `txns`: all transactions as they probably committed.
  [[nodiscard]] std::vector<Node> likely_order(std::span<const Node> txns) const;

  // Chains of a key have consecutive ids, the initial one first.
  [[nodiscard]] std::size_t chain_count() const { return chains_.size(); }
  [[nodiscard]] const Chain& chain(ChainId id) const { return chains_[id]; }
  // By key: its first chain. There is one entry more, so that a key's chains end where the next
  // one's begin.
  [[nodiscard]] std::span<const ChainId> chain_first() const { return chain_first_; }
  [[nodiscard]] KeyId key_of(ChainId chain) const;
  // The arcs that put chain `a` before chain `b`. REQUIRES: they are of the same key.
  [[nodiscard]] Side before(ChainId a, ChainId b) const;
  // The chain of which `item` is the first write, the last write, or the only read of the last
  // version; kNoChain if there is none.
  [[nodiscard]] ChainId chain_at(ItemId item) const { return item_chain_[item.index()]; }
  // Whether the search is to find out what some reads saw of the key.
  [[nodiscard]] bool is_open(KeyId key) const {
    return !open_keys_.empty() && open_keys_[key.index()];
  }
  // The versions of all keys for which that is so: chain by chain, and each chain in order. The
  // chain of the initial version begins with that.
  [[nodiscard]] std::span<const ChainMember> members() const { return members_; }
  // Calls f(chain) for the chains whose order among those of their key may change when `node`
  // moves; for some more than once.
  template <class F>
  void for_each_chain_at(Node node, const F& f) const;

 private:
  void add_sessions(const Budget& budget);
  void add_mixed_sessions(const Budget& budget);
  void add_mixed_real_time(std::int64_t clock_drift, const Budget& budget);
  void add_predicates(const Budget& budget);
  void add_real_time(const LevelRules& rules, std::int64_t clock_drift, const Budget& budget);
  // A begin or commit, and the client's clock when it was answered or asked for.
  struct ClockedNode {
    std::int64_t clock = 0;
    Node node = 0;
    constexpr auto operator<=>(const ClockedNode&) const = default;
  };
  void add_time_path(std::vector<ClockedNode> answered, std::span<const ClockedNode> asked,
                     std::int64_t clock_drift, const Budget& budget);
  void add_keys(unsigned threads, const Budget& budget);
  void join(std::span<KeyChains> parts, std::span<const std::size_t> first_key,
            const Budget& budget);
  void add_arc(Node from, Node to) { arcs_.push_back({from, to}); }

  const Observed& o_;
  const SearchFor open_;
  const Mixture* mixture_ = nullptr;
  bool stopped_ = false;
  bool split_ = false;
  bool sessions_ = false;
  bool chained_ = true;
  bool ww_to_commit_ = false;  // At pc: ww leads to the commit.
  bool overwrites_ = true;     // See overwrites().
  bool phantoms_ = false;      // See phantoms().
  std::size_t node_count_ = 0;
  Node first_readers_ = 0;  // Nodes from here on gather readers, …
  Node first_time_ = 0;     // … and from here on carry time.
  Column<Arc> arcs_;
  std::size_t assumed_ = 0;  // How many of them, the last ones, are assumed.
  Column<Chain> chains_;
  std::vector<ChainId> chain_first_;
  std::vector<ChainId> item_chain_;  // By item; see chain_at().
  std::vector<bool> open_keys_;      // By key; empty: none is.
  std::vector<ChainMember> members_;
  std::vector<ChainId> readers_chain_;  // By node, from first_readers_.
};

template <class F>
void Encoding::for_each_chain_at(Node node, const F& f) const {
  if (node >= first_time_) return;
  if (node >= first_readers_) {
    f(readers_chain_[node - first_readers_]);
    return;
  }
  const TxnId t = txn(node);
  for (ItemId i = o_.items().first(t); i < o_.items().end(t); ++i.value) {
    if (item_chain_[i.index()] != kNoChain) f(item_chain_[i.index()]);
  }
}

}  // namespace ouro
