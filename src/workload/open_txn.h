// A transaction that has begun and not ended: what it is going to do, what it did, what it saw.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ouro/history.h"
#include "workload/client.h"
#include "workload/versions.h"

namespace ouro::workload {

// One operation that was done, as the Recorder will write it down.
struct DoneOp {
  OpKind kind = OpKind::Read;
  std::uint32_t key = 0;  // Of a scan: the first key of the range.
  // Registers: the value read or written; 0: absent. Lists: the element appended, or the version
  // read. Scans: the last key of the range.
  std::uint32_t value = 0;
  // List reads: how many elements that the transaction appended itself follow those of the version.
  // Scans: how many of the next operations are reads of the keys that the scan found.
  std::uint32_t own = 0;
  std::array<std::uint32_t, 2> planted{};  // List reads: elements that a fault adds; 0: none.
};

// A version that the store showed to the transaction.
struct SeenVersion {
  std::uint32_t key = 0;
  std::uint32_t version = 0;
  // The transaction had appended to the list and read its own element right behind this version. So
  // it may commit only if no other element came in between.
  bool pinned = false;
};

struct PendingWrite {
  std::uint32_t key = 0;
  std::uint32_t value = 0;
};

inline constexpr std::size_t kReplicas = 3;

// Each session has one, and uses it again for its next transaction, so that its vectors need not be
// allocated anew.
struct OpenTxn {
  std::uint32_t session = 0;
  Program program;          // The plan,
  std::size_t next_op = 0;  // and the step that comes next.

  std::vector<DoneOp> ops;
  std::vector<SeenVersion> seen;
  std::vector<PendingWrite> writes;  // All writes so far, also those that a later one overwrites.

  Position start = 0;                      // When it begins; its snapshot where the level has one.
  Position commit = 0;                     // When it commits; meaningless before.
  std::array<Position, kReplicas> view{};  // Replicated: up to where it sees each replica.
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
