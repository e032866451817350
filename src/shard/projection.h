// Which transactions and operations of a history belong to which shard. docs/scale.md says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"
#include "ouro/shard.h"

namespace ouro::shard {

// The key that a transaction is said to write where it writes nothing, but does elsewhere: what
// writes nothing has another place on the timeline. Each has a key of its own, so that nothing
// follows from it but that.
inline constexpr std::string_view kElsewhere = "(elsewhere) ";
[[nodiscard]] std::string elsewhere_key(std::uint64_t number);
// What a transaction without an id is called, by its number in the whole, from 0: "#1".
[[nodiscard]] std::string id_of_unnamed(std::uint64_t number);

// Finds out to which shards the keys and sessions of a piece belong.
class Cut {
 public:
  // `history` must outlive it. Cost: linear in the names of keys and sessions.
  Cut(const History& history, ShardCounts counts);

  // Which shard of keys an operation belongs to, from 0. REQUIRES: it is no predicate read.
  [[nodiscard]] std::uint32_t keys_shard(const Op& op) const;
  [[nodiscard]] std::uint32_t keys_shard(KeyId key) const { return of_key_[key.index()]; }
  [[nodiscard]] std::uint32_t sessions_shard(SessionId session) const {
    return of_session_[session.index()];
  }
  // Whether the shard of rows has an operation.
  [[nodiscard]] bool in_rows(const Op& op) const;

  // The operations of `txn` that a shard has. Replaces `ops`.
  void project(TxnId txn, ShardId shard, std::vector<OpId>& ops) const;
  // Whether `txn`, with these operations, needs elsewhere_key() in a shard.
  [[nodiscard]] bool writes_elsewhere(TxnId txn, ShardId shard, const std::vector<OpId>& ops) const;

 private:
  const History& h_;
  std::vector<std::uint32_t> of_key_;
  std::vector<std::uint32_t> of_session_;
};

}  // namespace ouro::shard
