// The names of anomalies, edges, outcomes and evidence, and what other tools call the anomalies.
//
// Ids are Elle's where Elle has one. Aliases come from Plume (its fourteen patterns), Hermitage
// (OTV, PMP, P4) and the ANSI standard, so that a user of any of them finds the familiar word.

#include <array>

#include "ouro/check.h"

namespace ouro {
namespace {

constexpr std::array<AnomalyInfo, kAnomalyKindCount> kAnomalies{{
    {AnomalyKind::Internal, AnomalySign::Operations, "internal inconsistency", "internal",
     "NotMyOwnWrite, NotMyLastWrite, INT",
     "a read contradicts what its own transaction wrote before"},
    {AnomalyKind::AbortedRead, AnomalySign::Operations, "aborted read", "G1a",
     "AbortedRead, dirty read, P1", "a read returns what an aborted transaction wrote"},
    {AnomalyKind::IntermediateRead, AnomalySign::Operations, "intermediate read", "G1b",
     "IntermediateRead, dirty read, P1",
     "a read returns a value that its writer overwrote itself before it committed"},
    {AnomalyKind::ThinAirRead, AnomalySign::Operations, "thin-air read", "garbage-read",
     "ThinAirRead", "a read returns a value that nobody wrote"},
    {AnomalyKind::FutureRead, AnomalySign::Operations, "future read", "future-read", "FutureRead",
     "a read returns a value that its own transaction writes only later"},
    {AnomalyKind::DuplicateElements, AnomalySign::Operations, "duplicate elements",
     "duplicate-elements", "", "a list read holds the same element more than once"},
    {AnomalyKind::IncompatibleOrder, AnomalySign::Operations, "incompatible order",
     "incompatible-order", "", "two reads of a list disagree on the order of its elements"},
    {AnomalyKind::ResultSetMismatch, AnomalySign::Operations, "result-set mismatch",
     "predicate-read-miss", "phantom, P3",
     "a predicate read does not return what the versions it saw imply"},
    {AnomalyKind::NonRepeatableRead, AnomalySign::Operations, "non-repeatable read",
     "non-repeatable-read", "NonRepeatableRead, fuzzy read, P2, INT",
     "two reads of a key in one transaction differ with no own write between them"},
    {AnomalyKind::DependencyCycle, AnomalySign::Cycle, "dependency cycle", "G1c",
     "CyclicCO, circular information flow",
     "transactions depend on each other in a cycle: no commit order exists at all"},
    {AnomalyKind::CommitOrderCycle, AnomalySign::Cycle, "non-monotonic read", "G-monotonic",
     "NonMonoReadCO, NonMonoReadAO, OTV, observed transaction vanishes",
     "a transaction sees another, then reads a key as it was before that one"},
    {AnomalyKind::FracturedRead, AnomalySign::Cycle, "fractured read", "G-single",
     "FracturedReadCO, FracturedReadAO, read skew, A5A",
     "a transaction sees a part of another's writes and misses the rest"},
    {AnomalyKind::CausalityViolation, AnomalySign::Cycle, "causality violation", "G-single-process",
     "COConflictAO, ConflictAO", "a transaction sees an effect and misses its cause"},
    {AnomalyKind::ForbiddenCycle, AnomalySign::Cycle, "forbidden cycle", "cycle", "",
     "transactions must precede each other in a cycle that the level forbids"},
    {AnomalyKind::ContradictoryOrder, AnomalySign::Contradiction, "contradictory order", "cycle",
     "", "whichever way some writes are ordered, a cycle that the level forbids is left"},
    {AnomalyKind::SnapshotMismatch, AnomalySign::Timestamps, "snapshot mismatch",
     "snapshot-mismatch", "EXT",
     "a read does not return what its snapshot holds by the timestamps"},
    {AnomalyKind::WriteConflict, AnomalySign::Timestamps, "write conflict", "write-conflict",
     "NOCONFLICT", "two transactions that overlap by their timestamps wrote the same key"},
    {AnomalyKind::SessionInversion, AnomalySign::Timestamps, "session inversion",
     "session-inversion", "SESSION",
     "timestamps put a transaction before what its session did earlier"},
    {AnomalyKind::RealTimeInversion, AnomalySign::Timestamps, "real-time inversion",
     "realtime-inversion", "",
     "timestamps put a transaction before one that had completed when it was invoked"},
    {AnomalyKind::MissingTimestamp, AnomalySign::Timestamps, "missing timestamp",
     "missing-timestamp", "", "a transaction has no place on the timeline"},
    {AnomalyKind::InvertedTimestamps, AnomalySign::Timestamps, "inverted timestamps",
     "inverted-timestamps", "", "a transaction starts after it commits"},
    {AnomalyKind::DuplicateTimestamp, AnomalySign::Timestamps, "duplicate timestamp",
     "duplicate-timestamp", "",
     "two transactions that wrote the same key have the same commit timestamp"},
    {AnomalyKind::VersionOrderMismatch, AnomalySign::VersionOrders, "version order mismatch",
     "version-order-mismatch", "",
     "the version order of a key has an aborted write, or lacks one that counts"},
}};

}  // namespace

const AnomalyInfo& info(AnomalyKind kind) { return kAnomalies[static_cast<std::size_t>(kind)]; }

std::string_view name(EdgeKind kind) {
  constexpr std::array<std::string_view, kEdgeKindCount> kNames{
      "so", "wr", "ww", "rw", "rt", "forced", "rt-commit", "rt-begin"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(Outcome outcome) {
  constexpr std::array<std::string_view, 3> kNames{"holds", "violated", "undecided"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string_view name(Evidence evidence) {
  constexpr std::array<std::string_view, 3> kNames{"observed", "versions", "timestamps"};
  return kNames[static_cast<std::size_t>(evidence)];
}

}  // namespace ouro
