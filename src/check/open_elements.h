// Elements of lists that several transactions may have appended (Observed::open_elements()): who is
// guessed to have appended them. open_reads.h tries these guesses like those of open reads.
#pragma once

#include <vector>

#include "check/observed/observed.h"
#include "check/positions.h"
#include "ouro/check.h"

namespace ouro {

// Who appended each open element, by a guess. Elements of one transaction stand together; one that
// read a list and appended to it came next; and else transactions append in the order of `places`.
// Cost: O(n log n) for n items of the lists with open elements.
[[nodiscard]] std::vector<ReadSource> guess_elements(const Observed& observed,
                                                     const Positions& places);

// Who may have appended an open element, the likeliest first: as `places` order them.
[[nodiscard]] std::vector<TxnId> by_preference(const Observed& observed,
                                               const Positions& places,
                                               const OpenElement& element);

// Of the open elements, the one that a violation of a guess rests on first: its append is a part of
// the violation, or if there is none, its list. `guess` says who appended each of them.
[[nodiscard]] const OpenElement* suspected_element(const Observed& observed,
                                                   const std::vector<ReadSource>& guess,
                                                   const std::vector<Anomaly>& anomalies);

}  // namespace ouro
