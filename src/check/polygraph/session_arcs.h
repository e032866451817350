// Session order as arcs, to be assumed at levels that ignore it.
#pragma once

#include <vector>

#include "check/polygraph/encoding.h"
#include "graph/digraph.h"

namespace ouro {

// What a session is taken to keep in order. Databases that let a session miss its own past often
// do so by old snapshots only: what was committed later still is later.
enum class KeptBySessions : std::uint8_t {
  Everything,  // A transaction sees those before it in its session.
  Commits,     // It commits after them, but may see less. Where a transaction is one node: if it
               // writes, it is behind those before it; if it only reads, it is behind those that
               // write, but for the last one.
};

[[nodiscard]] std::vector<Arc> session_arcs(const Encoding& encoding, KeptBySessions kept);

}  // namespace ouro
