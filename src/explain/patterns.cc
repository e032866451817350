// The table of patterns, with their names here and in the literature. Patterns that are no cycles
// take theirs from the anomalies of check().

#include "explain/patterns.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace ouro {
namespace {

constexpr PatternInfo kCycles[] = {
    {Pattern::DirtyWrite, "dirty write", "G0", "P0",
     "transactions overwrite each other in a cycle"},
    {Pattern::CircularFlow, "circular information flow", "G1c", "CyclicCO",
     "transactions saw each other's work in a cycle: none can have been the first"},
    {Pattern::NonMonotonicRead, "non-monotonic read", "G-monotonic",
     "NonMonoReadCO, NonMonoReadAO, OTV, observed transaction vanishes",
     "a transaction sees another, then reads a key as it was before that one"},
    {Pattern::FracturedRead, "fractured read", "G-single",
     "FracturedReadCO, FracturedReadAO, read skew, A5A",
     "a transaction sees a part of another's writes and misses the rest"},
    {Pattern::CausalityViolation, "causality violation", "G-single", "COConflictAO, ConflictAO",
     "a transaction sees an effect and misses its cause"},
    {Pattern::LostUpdate, "lost update", "lost-update", "P4, G-single",
     "a transaction overwrites an update that it did not see"},
    {Pattern::StaleRead, "stale read", "G-single", "",
     "a transaction misses what was done before it began"},
    {Pattern::ReadSkew, "read skew", "G-single", "A5A, PMP",
     "a transaction reads one thing before and another after somebody else's work"},
    {Pattern::WrongAggregate, "wrong aggregate", "G-single", "read skew, A5A, P3",
     "an aggregate counts a part of another transaction's writes and misses the rest"},
    {Pattern::LongFork, "long fork", "G-nonadjacent", "",
     "two readers see two independent writes in opposite orders"},
    {Pattern::Nonadjacent, "nonadjacent cycle", "G-nonadjacent", "",
     "a cycle in which no two overwritten reads follow each other"},
    {Pattern::WriteSkew, "write skew", "G2-item", "A5B",
     "two transactions each overwrite what the other one's decision rests on"},
    {Pattern::PredicateSkew, "write skew over a predicate", "G2", "A5B, P3",
     "two transactions each change rows that the other one's decision rests on"},
    {Pattern::ReadOnlyAnomaly, "read-only anomaly", "G2-item", "",
     "a transaction that only reads sees a state that no order of the others explains"},
    {Pattern::ItemCycle, "anti-dependency cycle", "G2-item", "",
     "a cycle of transactions that read what others overwrote"},
    {Pattern::Phantom, "phantom", "G2", "P3",
     "a predicate read misses a row that is written at the same time"},
};

// The patterns that have one kind of anomaly to themselves, and are called what that is called.
constexpr struct {
  Pattern pattern;
  AnomalyKind kind;
} kPlain[] = {
    {Pattern::Internal, AnomalyKind::Internal},
    {Pattern::AbortedRead, AnomalyKind::AbortedRead},
    {Pattern::IntermediateRead, AnomalyKind::IntermediateRead},
    {Pattern::ThinAirRead, AnomalyKind::ThinAirRead},
    {Pattern::FutureRead, AnomalyKind::FutureRead},
    {Pattern::DuplicateElements, AnomalyKind::DuplicateElements},
    {Pattern::IncompatibleOrder, AnomalyKind::IncompatibleOrder},
    {Pattern::ResultSetMismatch, AnomalyKind::ResultSetMismatch},
    {Pattern::NonRepeatableRead, AnomalyKind::NonRepeatableRead},
    {Pattern::SnapshotMismatch, AnomalyKind::SnapshotMismatch},
    {Pattern::WriteConflict, AnomalyKind::WriteConflict},
    {Pattern::SessionInversion, AnomalyKind::SessionInversion},
    {Pattern::RealTimeInversion, AnomalyKind::RealTimeInversion},
    {Pattern::MissingTimestamp, AnomalyKind::MissingTimestamp},
    {Pattern::InvertedTimestamps, AnomalyKind::InvertedTimestamps},
    {Pattern::DuplicateTimestamp, AnomalyKind::DuplicateTimestamp},
    {Pattern::VersionOrderMismatch, AnomalyKind::VersionOrderMismatch},
};

std::array<PatternInfo, kPatternCount> all_patterns() {
  std::array<PatternInfo, kPatternCount> out;
  for (const PatternInfo& cycle : kCycles) out[static_cast<std::size_t>(cycle.pattern)] = cycle;
  for (const auto& [pattern, kind] : kPlain) {
    const AnomalyInfo& anomaly = info(kind);
    out[static_cast<std::size_t>(pattern)] = {pattern, anomaly.name, anomaly.id, anomaly.aliases,
                                              anomaly.meaning};
  }
  out[static_cast<std::size_t>(Pattern::DirtyUpdate)] = {
      Pattern::DirtyUpdate, "dirty update", "dirty-update", "G1a, dirty read, P1",
      "a transaction builds upon what an aborted one wrote"};
  return out;
}

std::string normalised(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == ' ') c = '-';
  }
  return out;
}

bool is_called(const PatternInfo& pattern, std::string_view wanted) {
  const std::string id = normalised(pattern.id);
  if (normalised(pattern.name) == wanted || id == wanted) return true;
  // Elle says so where no predicate is involved; G2-item is an id.
  if (id.starts_with("g-") && wanted == id + "-item") return true;
  std::string_view rest = pattern.aliases;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    if (normalised(rest.substr(0, comma)) == wanted) return true;
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return false;
}

// Adya's anomalies of snapshots. G-SIb: a cycle with one rw. G-SIa: a transaction saw or overwrote
// another that had not committed when it began, which only timestamps show.
bool is_of_si(Pattern pattern, std::string_view wanted) {
  if (wanted == "gsib" || wanted == "g-sib") {
    constexpr Pattern kWithOneRw[] = {Pattern::NonMonotonicRead,   Pattern::FracturedRead,
                                      Pattern::CausalityViolation, Pattern::LostUpdate,
                                      Pattern::StaleRead,          Pattern::ReadSkew,
                                      Pattern::WrongAggregate};
    return std::find(std::begin(kWithOneRw), std::end(kWithOneRw), pattern) != std::end(kWithOneRw);
  }
  return (wanted == "gsia" || wanted == "g-sia") &&
         (pattern == Pattern::SnapshotMismatch || pattern == Pattern::WriteConflict);
}

}  // namespace

const PatternInfo& info(Pattern pattern) {
  static const auto kPatterns = all_patterns();
  return kPatterns[static_cast<std::size_t>(pattern)];
}

Pattern plain_pattern(AnomalyKind kind) {
  const auto* const row = std::find_if(std::begin(kPlain), std::end(kPlain),
                                       [&](const auto& plain) { return plain.kind == kind; });
  assert(row != std::end(kPlain));
  return row->pattern;
}

std::vector<Pattern> find_patterns(std::string_view name) {
  const std::string wanted = normalised(name);
  std::vector<Pattern> out;
  for (std::size_t i = 0; i < kPatternCount; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    const std::string id = normalised(info(pattern).id);
    const bool family = (wanted == "g1" && id.starts_with("g1")) ||
                        (wanted == "g2" && id.starts_with("g2")) || is_of_si(pattern, wanted);
    if (family || is_called(info(pattern), wanted)) out.push_back(pattern);
  }
  return out;
}

std::string_view suffix(Variant variant) {
  constexpr std::string_view kSuffixes[] = {"", "-session", "-realtime"};
  return kSuffixes[static_cast<std::size_t>(variant)];
}

std::string name(const Story& story) {
  return std::string(info(story.pattern).name).append(suffix(story.variant));
}

std::string id(const Story& story) {
  return std::string(info(story.pattern).id).append(suffix(story.variant));
}

}  // namespace ouro
