// Formulas as histories: one is satisfiable if and only if the history is serializable, and if and
// only if it has snapshot isolation.
//
// A variable is a key with two writers, V1 and V2, and a reader VR of what V1 wrote. It is true if
// V2 wrote first, V2 → V1. Otherwise V1 → V2, and VR → V2, as V2 overwrote what VR read. Likewise
// every place of a literal in a clause has two writers, O1 and O2, and a reader OR. It counts as
// true if O2 → O1, and otherwise OR → O2. Other keys, each written by one transaction and read by
// another, which so follows it, make the rest impossible:
//
//   O2 → the OR of the next place of the clause: not all places of a clause may count as false;
//   V2 → O2 and O1 → VR, for x itself:           x is false and its place counts as true;
//   V1 → O2 and O1 → V2, for "not x":            x is true and its place counts as true.
//
// Each transaction has a session of its own. After Papadimitriou's proof that testing is hard
// (1979).
#pragma once

#include <cstdint>
#include <vector>

#include "ouro/history.h"

namespace ouro::bench {

// Clauses of literals, each 2 · variable, or 2 · variable + 1 for "not".
struct Formula {
  std::uint32_t variables = 0;
  std::vector<std::vector<std::uint32_t>> clauses;
};

[[nodiscard]] History history_of(const Formula& formula);

// Random clauses of three different variables each; about 4.26 clauses for each variable are the
// hardest. The same arguments give the same formula, on every machine.
[[nodiscard]] Formula random_3sat(std::uint32_t variables, std::uint32_t clauses,
                                  std::uint64_t seed);
// Says that the nodes of a random graph have one of three colours each, no two neighbours the same.
// About 2.3 arcs for each node are the hardest.
[[nodiscard]] Formula random_colouring(std::uint32_t nodes, std::uint32_t arcs, std::uint64_t seed);

}  // namespace ouro::bench
