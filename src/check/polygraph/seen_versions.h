// The versions of open keys in the current order of a search, and who sees them (search.h).
//
// Whether a transaction sees a version is a choice that is made only when it matters:
//
//   Sees(T, v)    v, a writer of the key, commits before T begins; or T begins before v commits.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "check/polygraph/encoding.h"
#include "graph/dynamic_order.h"
#include "ouro/check.h"
#include "solver/solver.h"

namespace ouro {

class Search;

using VersionId = std::uint32_t;  // Into Encoding::members().
inline constexpr VersionId kNoVersion = 0xffffffff;

class SeenVersions {
 public:
  // REQUIRES: all outlive the result. `search` keeps the chains of every key sorted by `order`.
  SeenVersions(const Encoding& encoding, const DynamicOrder& order, Search& search,
               const Budget& budget);

  struct Version {
    TxnId writer;  // kInitialTxn: the initial one.
    ChainId chain = kNoChain;
    ItemId write;  // Invalid: the initial one.
  };
  [[nodiscard]] const Version& operator[](VersionId version) const { return versions_[version]; }
  // Where a version stands in the current order, and where a transaction begins there. The initial
  // version is at zero.
  [[nodiscard]] std::uint32_t position(VersionId version) const;
  [[nodiscard]] std::uint32_t begin(TxnId txn) const { return order_.position(e_.begin(txn)) + 1; }
  // The versions of a chain.
  [[nodiscard]] std::pair<VersionId, VersionId> members(ChainId chain) const {
    return {chain_first_[chain], chain_first_[chain + 1]};
  }

  // REQUIRES of what follows: the key is open, and arcs between chains that are neighbours run
  // forward.
  // The last version of the key that a transaction sees in the current order.
  [[nodiscard]] VersionId last_seen(KeyId key, TxnId reader) const;
  // The version before or behind another one of the key in the current order; kNoVersion if there
  // is none.
  [[nodiscard]] VersionId before(VersionId version) const;
  [[nodiscard]] VersionId behind(VersionId version) const;

  // The literal of Sees(reader, version); `read` is why it matters. The same for all versions of a
  // writer. REQUIRES: it is not the initial version, nor one of the reader.
  Literal sees(Solver& solver, TxnId reader, VersionId version, OpId read);
  // Adds a choice that is not about two chains.
  std::uint32_t add_choice(Solver& solver, const Side& first, const Side& second, Choice about);
  // What such a choice of the solver is about; null if it is about two chains. Choice::previous is
  // a number of the solver.
  [[nodiscard]] const Choice* about(std::uint32_t choice) const;

 private:
  const Encoding& e_;
  const DynamicOrder& order_;
  Search& search_;
  std::vector<Version> versions_;       // As Encoding::members().
  std::vector<VersionId> chain_first_;  // By chain: its first version, if its key is open.
  absl::flat_hash_map<std::pair<TxnId, TxnId>, std::uint32_t> sees_;  // By reader and writer.
  absl::flat_hash_map<std::uint32_t, Choice> about_;                  // By choice of the solver.
};

}  // namespace ouro
