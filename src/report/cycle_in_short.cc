// The part of Narrator that says in one sentence what happened in a cycle of any length, for which
// no sentence of its pattern is written.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

constexpr std::size_t kAllTold = 6;   // Of a cycle of more edges
constexpr std::size_t kSomeTold = 3;  // only so many are told.

// "a, b and c"; with a comma before the last one if a part has some itself.
std::string listed(const std::vector<std::string>& parts) {
  const bool commas = std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.find(", ") != std::string::npos;
  });
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += i == 0 ? "" : i + 1 != parts.size() ? ", " : commas ? ", and " : " and ";
    out += parts[i];
  }
  return out;
}

// "a, b, and so on round a cycle of 9".
std::string begun(std::vector<std::string> parts, std::size_t txns) {
  if (parts.size() > kSomeTold) parts.resize(kSomeTold);
  return fmt::format("{}, and so on round a cycle of {}", fmt::join(parts, ", "),
                     counted(txns, "transaction"));
}

bool is_missed(const Edge& edge) { return edge.kind == EdgeKind::ReadWrite; }

}  // namespace

// "T1 missed T2's x=1"; the read with what it returned if that is not known.
std::string Narrator::missed(const Edge& edge) const {
  if (edge.from_op.valid() && !returned(edge.from_op, edge.key)) return missed_in_short(edge);
  return fmt::format("{} missed {}", label(edge.from), work(edge.to, edge.to_op, edge.key));
}

// Why the edge holds, shorter than because(): "T2 saw T1's x=1".
std::string Narrator::held(const Edge& edge) const {
  if (edge.kind != EdgeKind::WriteRead || !edge.from.valid()) return because(edge);
  return fmt::format("{} saw {}", label(edge.to), work(edge.from, edge.from_op, edge.key));
}

// "T1 missed T2's x=1, T2 missed T3's y=1 and T3 missed T1's z=1: there is no order in which each
// came before what it missed."; or "T3 missed T2's x=1, although T3 is after T2 in session a."
std::string Narrator::cycle_in_short(std::span<const Edge> cycle) const {
  const auto is_forced = [](const Edge& edge) { return edge.kind == EdgeKind::Forced; };
  if (cycle.size() < 2 || std::any_of(cycle.begin(), cycle.end(), is_forced)) return {};
  std::vector<std::string> misses;
  std::vector<std::string> reasons;
  for (const Edge& edge : cycle) {
    if (is_missed(edge)) {
      misses.push_back(missed(edge));
    } else {
      reasons.push_back(held(edge));
    }
  }
  const bool all = cycle.size() <= kAllTold;
  if (misses.empty()) {
    return fmt::format("{}: none of them can have been the first.",
                       all ? listed(reasons) : begun(std::move(reasons), cycle.size()));
  }
  const std::string_view end =
      misses.size() == 1 ? "." : ": there is no order in which each came before what it missed.";
  if (!all) return begun(std::move(misses), cycle.size()) + std::string(end);
  return fmt::format("{}{}{}{}", listed(misses), reasons.empty() ? "" : ", although ",
                     listed(reasons), end);
}

// "T3 saw T1's x=1 but not T2's y=1, and T4, which is after T2 in session b, missed T1's x=1: they
// saw the two in opposite orders."
std::string Narrator::fork_in_short(std::span<const Edge> cycle) const {
  const auto has_words = [](const Edge& edge) {
    return edge.kind == EdgeKind::WriteRead || edge.kind == EdgeKind::Session ||
           edge.kind == EdgeKind::RealTime || is_missed(edge);
  };
  if (!std::all_of(cycle.begin(), cycle.end(), has_words)) return {};
  const auto half = [&](std::size_t at) {
    const Edge& missing = cycle[at];
    const Edge& before = cycle[(at + cycle.size() - 1) % cycle.size()];
    const std::string what = work(missing.to, missing.to_op, missing.key);
    if (before.kind == EdgeKind::WriteRead) {
      return fmt::format("{} saw {} but not {}", label(before.to),
                         work(before.from, before.from_op, before.key), what);
    }
    const bool session = before.kind == EdgeKind::Session;
    const std::string which =
        session ? fmt::format("is after {} in session {}", label(before.from),
                              history_.label(history_.session_name(history_.session(before.to))))
                : fmt::format("was invoked after {} had completed", label(before.from));
    return fmt::format("{}, which {}, missed {}", label(before.to), which, what);
  };
  std::vector<std::string> halves;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (is_missed(cycle[i])) halves.push_back(half(i));
  }
  if (cycle.size() != 4 || halves.size() != 2 || is_missed(cycle[0]) == is_missed(cycle[1])) {
    return {};
  }
  return fmt::format("{}, and {}: they saw the two in opposite orders.", halves[0], halves[1]);
}

// "T2's count=0 fits nothing that it may have seen: with T1's k2 it would have returned something
// else, and without k2 there is a non-repeatable read."; if single operations are wrong in any
// case.
std::string Narrator::wrong_anyway_in_short(const Case& naming) const {
  OpId read;
  if (!naming.sights.empty()) read = naming.sights.front().read;
  if (!naming.sources.empty()) read = naming.sources.front().read;
  if (!read.valid()) return {};
  const std::string whose =
      fmt::format("{}'s {}", label(history_.txn_of(read)), noted(history_.op(read)));
  std::vector<std::string> ways;
  constexpr std::size_t kMostWays = 3;
  for (const Case& each : story_.cases) {
    const bool simple = each.sources.size() + each.sights.size() == 1 && each.given.empty();
    if (!simple || !each.plain || ways.size() == kMostWays) {
      return fmt::format("{} fits nothing that it may have seen.", whose);
    }
    const bool other = each.plain == AnomalyKind::ResultSetMismatch;
    ways.push_back(fmt::format("{} {}", supposed_sight(each),
                               other ? "it would have returned something else"
                                     : "there is " + with_article(info(*each.plain).name)));
  }
  return fmt::format("{} fits nothing that it may have seen: {}.", whose, listed(ways));
}

// "with T1's k2", "without T1's k2", "with k2 as it was at first": what the only supposition of a
// case is.
std::string Narrator::supposed_sight(const Case& each) const {
  if (!each.sights.empty()) {
    const ReadSight& sight = each.sights.front();
    return fmt::format("{} {}'s {}", sight.seen ? "with" : "without", label(sight.writer),
                       short_key(history_, sight.key));
  }
  const ReadSource& said = each.sources.front();
  const std::string key = short_key(history_, said.key);
  if (said.writer.valid()) return fmt::format("with {}'s {}", label(said.writer), key);
  return history_.initial(said.key).is_null() ? fmt::format("without {}", key)
                                              : fmt::format("with {} as it was at first", key);
}

}  // namespace ouro
