// Case files: small histories with their verdicts, in a notation a stranger can read.
//
//   # lost update: both read x=0, so one update vanishes.
//   initial 0
//   T1 @s1: r x 0, w x 1
//   T2 @s2: r x 0, w x 2
//   ----
//   rc ra cc pc  holds
//   si           violated
//
// tests/cases/README.md has the whole grammar.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro::oracle {

// What a case states; not every level is named.
using Verdicts = std::map<Level, Outcome, InListOrder>;

struct Case {
  std::string story;  // The first comment.
  History history;
  Verdicts verdicts;
  std::set<AnomalyKind> shows;
  // By timestamps; empty if the case says nothing about them.
  Verdicts by_timestamps;
  std::set<AnomalyKind> shows_by_timestamps;
};

// The outcome at `level`: as stated, or as it follows from a stronger level that holds or a weaker
// one that is violated; nothing if it does not follow.
[[nodiscard]] std::optional<Outcome> follows(const Verdicts& stated, Level level,
                                             Evidence evidence = Evidence::Observed);

// Parses a case; `name` stands for the file in messages.
[[nodiscard]] Result<Case> parse_case(std::string_view text, std::string_view name);

// Parses only the part above "----", for histories that are written in a test itself. Throws
// std::invalid_argument where parse_case() returns an error.
[[nodiscard]] History history_of(std::string_view text);

// The history in the same notation; parse_case reads it back. REQUIRES: no rows, no predicate
// reads, and names and texts that are single words.
[[nodiscard]] std::string to_string(const History& history);

// "aborted-read": the word for it in case files.
[[nodiscard]] std::string_view word(AnomalyKind kind);

}  // namespace ouro::oracle
