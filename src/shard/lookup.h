// Finds the transactions of violations in the whole history, or in a shard, and copies them.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ouro/shard.h"
#include "shard/projection.h"
#include "stream/copier.h"

namespace ouro::shard {

// A transaction: where it stands in the source, and in the history of those that were wanted.
struct Found {
  std::uint64_t txn = 0;
  std::uint64_t first_op = 0;
  TxnId copy;
  std::size_t first_op_of_copy = 0;
};

// A violation that is to be told, and where everything that it is about was found.
struct Told {
  ShardId shard;
  const ShardFinding* finding = nullptr;
  std::vector<Found> txns;         // By ShardFinding::txns.
  std::vector<std::uint32_t> ops;  // By ShardFinding::ops: the operation within its transaction.
};

class Lookup {
 public:
  // Looks for what `all` are about; if the source is the shard `shard`, only for those of that
  // shard. Both must outlive it.
  Lookup(ShardCounts counts, std::optional<ShardId> shard, std::vector<Told>& all,
         stream::Copier& copier);

  // Looks through the next piece of the source. The error is an id that occurs twice, or an
  // operation that is not there.
  [[nodiscard]] Status add(const std::shared_ptr<const History>& piece);
  // Of those that were wanted, one that was not found; nothing if all were.
  [[nodiscard]] std::optional<std::string> missing() const;

 private:
  struct Use {
    std::size_t told = 0;
    std::size_t txn = 0;  // Into Told::txns.
  };
  struct Wanted {
    std::vector<Use> uses;
    bool known = false;
  };
  [[nodiscard]] bool take(const stream::Source& source, const Cut& cut, const Wanted& wanted);
  [[nodiscard]] std::optional<std::uint32_t> op_of(const stream::Source& source, const Cut& cut,
                                                   ShardId shard, std::uint32_t op) const;

  ShardCounts counts_;
  std::optional<ShardId> shard_;
  std::vector<Told>& all_;
  stream::Copier& copier_;
  absl::flat_hash_map<std::string, Wanted> wanted_;  // By the id as JSON.
  std::uint64_t txns_ = 0;                           // Of the pieces before.
  std::uint64_t ops_ = 0;
};

}  // namespace ouro::shard
