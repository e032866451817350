// How version orders are searched, for those who measure what each idea of the search is worth
// (docs/benchmarks.md).
//
// Example (built and run as tests/example_search_options.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto search = ouro::parse_search_options("no-chains,branching=activity");
//   if (!search.ok()) return fail(search.error());
//   const auto verdict = ouro::check(*history, ouro::Level::SessionSi, {.search = *search});
//   if (!verdict.ok()) return fail(verdict.error());
//   std::cout << ouro::describe(*history, *verdict);
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <string_view>

#include "ouro/result.h"

namespace ouro {

// How version orders are searched at the levels from prefix up. With any settings an outcome is the
// same or, if a limit is reached first, undecided. The defaults are the fastest known. "Current
// order": the order of all transactions that the search has in hand.
struct SearchOptions {
  // A writer that read the version it overwrites directly follows the writer of that version, so
  // such writers are ordered as one block. Only the levels of snapshots can do without blocks; the
  // others ignore this.
  bool chains = true;
  // Two writers become a choice only once the current order has them in an impossible order. If
  // false, all pairs become choices at the start.
  bool on_demand = true;
  // After `many` conflicts, looks for choices one side of which closes a cycle with known edges
  // alone, and fixes the other side.
  bool saturation = true;
  // Where that is affordable, a search that knows all choices takes turns with the one on demand,
  // after a few hundred setbacks, or `many` if those are fewer. Not if all are choices anyway.
  bool full = true;
  std::uint64_t many = 10'000;
  // The first order is improved by who read from whom, where the recorded one says little. If
  // false, the search begins with the recorded order.
  bool guess = true;
  // A level that ignores sessions is first searched for an order that keeps them, which guides the
  // search, and prefix and parallel-si for one that session-si allows. If false, just the level
  // itself is searched. If those take more than `first_turn` steps of work (see
  // CheckOptions::work_limit), the other ways have their turn, each time with four times the work.
  // Zero: as fits the size of the history.
  bool turns = true;
  std::uint64_t first_turn = 0;
  // Which side of a choice is tried first.
  enum class Phase : std::uint8_t {
    Order,  // The one that moves fewer transactions in the current order.
    Saved,  // The one that was tried last.
    Fixed,  // Always the same.
  } phase = Phase::Order;
  // Which choice is decided next.
  enum class Branching : std::uint8_t {
    Earliest,  // The first in the current order.
    Activity,  // The one that took part in the most recent conflicts; with restarts.
  } branching = Branching::Earliest;
  // How it is found out what open reads returned.
  enum class Sources : std::uint8_t {
    Few,      // As cases if there are few of them, and as choices otherwise.
    Cases,    // The level is decided for one case after the other.
    Choices,  // They are choices of the search, where the level has one.
  } sources = Sources::Few;
};

// Reads settings with commas between them: "chains", "on-demand", "saturation", "full", "guess" and
// "turns", or with "no-" before them; "many=N"; "first-turn=N"; "phase=order", "saved" or "fixed";
// "branching=earliest" or "activity"; "sources=few", "cases" or "choices". The error names a
// setting that there is not, and those that there are.
[[nodiscard]] Result<SearchOptions> parse_search_options(std::string_view settings);

}  // namespace ouro
