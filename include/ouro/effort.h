// What a check took: the time of its stages, and what the search had to do.
//
// The time differs from run to run. What was counted does not, unless a limit of time or memory is
// reached: it depends on the history and the options alone.
//
// Example (built and run as tests/example_effort.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   ouro::Effort effort;
//   const auto verdict = ouro::check(*history, ouro::Level::Si, {.effort = &effort});
//   if (!verdict.ok()) return fail(verdict.error());
//   std::cout << effort.search.conflicts << " conflicts, "
//             << effort.seconds_of(ouro::Stage::Search) << " s\n";
//
// Thread safety: values, which nobody else changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

// What the time goes into, in about this order.
enum class Stage : std::uint8_t {
  Load,     // Reading the file. In reports, which are told how long that took.
  Join,     // Finding out who read from whom, and what is wrong in plain sight.
  Sort,     // By timestamps: putting begins and commits in their order.
  Replay,   // By timestamps: replaying them.
  Force,    // At rc, ra and causal: the edges that their rules force, and cycles of these.
  Encode,   // At the levels from prefix up: the graph of what is known, and what is open.
  Order,    // Sorting that graph, and guessing the order that the search begins with.
  Search,   // The search itself.
  Prove,    // Writing down the order that was found, or why there is none.
  Others,   // Other levels, and what else nobody asked for.
  Explain,  // Finding the smallest stories.
  Certify,  // Writing the certificate. By the command line only.
};
inline constexpr std::size_t kStageCount = 12;
[[nodiscard]] std::string_view name(Stage stage);  // "load" …

// What the searches of a check did. All zero if none was needed.
struct SearchCounts {
  std::uint64_t searches = 0;  // A level may take several, one of which answers.
  // Of the largest search: the nodes of its graph, the arcs that were known before it, the chains
  // of writers that are ordered as one, and the pairs of chains of which one must come first.
  std::uint64_t nodes = 0;
  std::uint64_t arcs = 0;
  std::uint64_t chains = 0;
  std::uint64_t pairs = 0;
  // Of all: how many pairs the search had to make a choice of, how often it decided one, and how
  // often that led to a contradiction; the latter also of the search that knows all choices.
  std::uint64_t choices = 0;
  std::uint64_t decisions = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t full_conflicts = 0;

  void add(const SearchCounts& other);
};

struct Effort {
  // By stage, of wall clock; if two levels are decided at once, that of both.
  std::array<double, kStageCount> seconds{};
  SearchCounts search;

  [[nodiscard]] double seconds_of(Stage stage) const {
    return seconds[static_cast<std::size_t>(stage)];
  }
  void add(Stage stage, double more) { seconds[static_cast<std::size_t>(stage)] += more; }
  void add(const Effort& other);
};

}  // namespace ouro
