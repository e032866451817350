// The edges of a story besides its cycles: who read what from whom, and how readers saw what they
// saw. With them every participant of a story is connected with the others.
#pragma once

#include <vector>

#include "report/narrator.h"

namespace ouro {

// Whether the edge rests on what its case assumes.
[[nodiscard]] bool is_assumed(const Edge& edge, const Case& each);

// Whether both run from the same transaction to the same, for the same kind of reason and key.
[[nodiscard]] bool is_same_edge(const Edge& one, const Edge& other);

// An edge for each read that the story rests on and each transaction of it that wrote what was
// read.
[[nodiscard]] std::vector<Edge> observed_reads(const History& history, const Narrator& narrator);

// A forced edge follows from the reads of a third transaction: edges for what that one read from
// the two ends, or for its place in the session of the first. REQUIRES: forced.read is valid.
[[nodiscard]] std::vector<Edge> reads_behind(const History& history, const Edge& forced);

// What holds in any case: the edges of cycles that rest on nothing assumed, the support of the
// story, the reads behind forced edges, what the two of a lost update by timestamps overwrote, and
// all other observed reads. Each edge once.
[[nodiscard]] std::vector<Edge> restored_edges(const History& history, const Story& story,
                                               const Narrator& narrator);

}  // namespace ouro
