// A transaction in flight: what it is going to do, what it did and what it saw.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ouro/history.h"
#include "workload/client.h"
#include "workload/versions.h"

namespace ouro::workload {

// One operation as its client will remember it.
struct DoneOp {
  OpKind kind = OpKind::Read;
  std::uint32_t key = 0;
  // Registers: the value read or written, 0 for absent. Lists: the element appended, or the version
  // read. Scans: the last key; `own` reads of the keys found follow.
  std::uint32_t value = 0;
  std::uint32_t own = 0;  // List reads: how many own elements follow those of the version.
  std::array<std::uint32_t, 2> planted{};  // List reads: elements that follow by a fault; 0: none.
};

// A version that the store showed to the transaction.
struct SeenVersion {
  std::uint32_t key = 0;
  std::uint32_t version = 0;
  // Shown after an own append, so the element must come right behind this version.
  bool pinned = false;
};

struct PendingWrite {
  std::uint32_t key = 0;
  std::uint32_t value = 0;
};

inline constexpr std::size_t kReplicas = 3;

// One per session, and used again for its next transaction, so that nothing is allocated for an
// operation in the long run.
struct OpenTxn {
  std::uint32_t session = 0;
  Program program;
  std::size_t next_op = 0;

  std::vector<DoneOp> ops;
  std::vector<SeenVersion> seen;
  std::vector<PendingWrite> writes;  // All of them, also those overwritten by the next.

  Position start = 0;                      // Its snapshot, where the level has one.
  Position commit = 0;                     // Valid once committed.
  std::array<Position, kReplicas> view{};  // Replicated levels: what it sees of each replica.
  std::int64_t invoked = 0;                // By the clients' clock, in nanoseconds.

  void reset() {
    program.clear();
    next_op = 0;
    ops.clear();
    seen.clear();
    writes.clear();
  }
  // The version of `key` shown last, or null.
  [[nodiscard]] SeenVersion* find_seen(std::uint32_t key) {
    for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
      if (at->key == key) return &*at;
    }
    return nullptr;
  }
  // The latest write of `key`, or null.
  [[nodiscard]] const PendingWrite* find_write(std::uint32_t key) const {
    for (auto at = writes.rbegin(); at != writes.rend(); ++at) {
      if (at->key == key) return &*at;
    }
    return nullptr;
  }
};

}  // namespace ouro::workload
