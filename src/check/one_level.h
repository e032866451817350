// Decides one level by what reads returned (and, by versions, in which order versions were
// written).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/predicate_reads.h"
#include "ouro/check.h"

namespace ouro {

// Decides `level` by the engine of its family. Edges of predicate reads are added on demand: the
// level is decided with more and more of them, until the order that is found keeps all. They are
// set in `observed`, which is otherwise left as it is. Open reads (open_reads.h) are given sources
// for which the level holds, if there are any.
[[nodiscard]] Verdict decide_level(Observed& observed, const PredicateReads& predicates,
                                   Level level, const Budget& budget, const CheckOptions& options);

// The predicate reads of the history, if those without version sets saw the database at the moment
// `at`. Empty unless the evidence is version orders: by other evidence they are not judged here.
[[nodiscard]] Result<PredicateReads> read_predicates(const Observed& observed, SnapshotAt at,
                                                     const Budget& budget,
                                                     const CheckOptions& options);

// The verdict for `level` that follows from that of a stronger level: it holds, in the same order.
// If `level` has begins apart from commits and the stronger one has not, every transaction begins
// just before it commits.
// REQUIRES: `stronger` holds, and its level implies `level`.
[[nodiscard]] Verdict weakened(const Verdict& stronger, Level level);

// Why a check ended without an answer, for Verdict::reason. REQUIRES: the budget is exhausted, or
// did not afford what was left to do.
[[nodiscard]] std::string stop_reason(const Budget& budget, const CheckOptions& options);
// Which limit that names. None: the reason is another one.
enum class Limit : std::uint8_t { None, Cancelled, Memory, Work, Time };
[[nodiscard]] Limit limit_named(std::string_view reason);

}  // namespace ouro
