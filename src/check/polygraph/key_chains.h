// The chains of a range of keys, and the arcs that its items bring.
//
// No key needs another, so ranges of keys are encoded apart, by several threads, and joined by
// Encoding. Until then chains and the nodes that gather readers are numbered within the range.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/polygraph/encoding.h"

namespace ouro {

class KeyChains {
 public:
  // Asks `encoding` only for the rules of the level and the nodes of transactions: it is not
  // complete yet.
  KeyChains(const Encoding& encoding, const Budget& budget)
      : e_(encoding), o_(encoding.observed()), ticker_(budget) {}

  // Makes room for the keys from `first` up to, not including, `end`. Room that is not used costs
  // no memory.
  void reserve(std::size_t first, std::size_t end);
  // Adds the chains and arcs of a key.
  // REQUIRES: keys come in order. False: the budget is exhausted, and what was found is
  // meaningless.
  bool add(KeyId key);

  // See Encoding::chain_at().
  struct Mark {
    ItemId item;
    ChainId chain;
  };
  std::vector<Arc> arcs;
  std::vector<Chain> chains;
  std::vector<ChainId> readers_chain;  // By node, from the first that gathers readers.
  std::vector<Mark> marks;
  std::vector<ChainMember> members;  // As Encoding::members().

 private:
  static constexpr std::uint32_t kNoVersion = 0xffffffff;

  // A version of the key at hand. Items are given as positions among those of the key.
  struct Version {
    TxnId writer;
    std::uint32_t write = 0;
    std::uint32_t next = kNoVersion;  // The version that follows immediately.
    bool has_previous = false;
    std::vector<std::uint32_t> reads;
    ChainId chain = kNoChain;  // The chain whose last version it is, if any.
  };

  void add_version(TxnId writer, std::uint32_t write);
  void add_reads();
  void link_known(KeyId key);
  void add_known_overwrites(KeyId key);
  void link_updates();
  void link(std::uint32_t previous, std::uint32_t next);
  void emit(std::uint32_t version);
  void mark(ChainId id, const Version& first, const Version& last);
  // The position of an item of the key, fast if it is a little behind the position `near`.
  [[nodiscard]] std::uint32_t position_of(ItemId item, std::uint32_t near) const;
  // The version that the transaction of the item at `position` installed; kNoVersion if none.
  [[nodiscard]] std::uint32_t own_version(std::uint32_t position) const;
  [[nodiscard]] TxnId txn(std::uint32_t position) const { return links_[position].txn; }
  void add_arc(Arc arc) { arcs.push_back(arc); }

  const Encoding& e_;
  const Observed& o_;
  BudgetTicker ticker_;
  // Of the key at hand.
  bool is_open_ = false;
  std::span<const ItemId> items_;
  std::span<const KeyLink> links_;
  std::vector<Version> versions_;  // The initial one first.
  std::size_t version_count_ = 0;
  std::vector<std::uint32_t> version_at_;  // By position; kNoVersion if it is no final write.
};

}  // namespace ouro
