// Isolation levels: names, one-line definitions, and which implies which.
//
// Levels form a lattice, not a line: some are neither weaker nor stronger than each other. So two
// levels cannot be compared with `<` (it does not compile); ask implies(). docs/levels.md defines
// every level and shows what tells it from its neighbours.
//
// Example (built and run as tests/example_level.cc):
//
//   const ouro::Level asked = ouro::Level::PrefixConsistentSi;
//   for (const ouro::LevelInfo& other : ouro::levels()) {
//     if (other.level != asked && ouro::implies(asked, other.level))
//       std::cout << ouro::info(asked).name << " implies " << other.name << '\n';
//   }
//
// Thread safety: calls share no state. All functions are table look-ups, except find_level() and
// closest_level(), which go through all names.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ouro {

// Weaker before stronger: a level stands behind all that it implies. Files have their numbers, so
// these never change.
enum class Level : std::uint8_t {
  ReadCommitted,
  ReadAtomic,
  Causal,
  Prefix,
  ParallelSi,
  Si,
  SessionSi,
  Gsi,
  PrefixConsistentSi,
  StrongSi,
  RepeatableRead,
  Serializable,
  SessionSerializable,
  StrictSerializable,
  // Each transaction by the level that it states as its own (History::level()), all in one commit
  // order; those that state none by kUnstatedLevel. It is not one of levels(), and it implies and
  // is implied by nothing.
  Mixed,
};

// What a transaction that states no level is judged by at Level::Mixed.
inline constexpr Level kUnstatedLevel = Level::Serializable;

inline constexpr std::size_t kLevelCount =
    static_cast<std::size_t>(Level::StrictSerializable) + 1;  // The last one of levels().

// The order of the enumerators says nothing about two levels of which neither implies the other.
bool operator<(Level, Level) = delete;
bool operator<=(Level, Level) = delete;
bool operator>(Level, Level) = delete;
bool operator>=(Level, Level) = delete;
std::strong_ordering operator<=>(Level, Level) = delete;

struct LevelInfo {
  Level level = Level::Serializable;
  std::string_view name;        // "read-committed"
  std::string_view alias;       // "rc"; empty if there is none.
  std::string_view definition;  // One sentence.
};

// All levels, weaker before stronger.
[[nodiscard]] std::span<const LevelInfo> levels();
[[nodiscard]] const LevelInfo& info(Level level);

// The level with that name or alias, or with a name that other tools use for it ("PL-3",
// "snapshot-isolation" …); nothing if there is none. Letter case and '_' for '-' do not matter.
[[nodiscard]] std::optional<Level> find_level(std::string_view name);
// The known name closest to a misspelt one, for "did you mean"; empty if none is close.
[[nodiscard]] std::string_view closest_level(std::string_view name);

// Whether every history that satisfies `stronger` satisfies `weaker`, too. Every level implies
// itself. By timestamps less is implied: see implies() with three parameters in ouro/check.h.
[[nodiscard]] bool implies(Level stronger, Level weaker);
// The levels directly below `level`: those it implies with none in between.
[[nodiscard]] std::span<const Level> directly_below(Level level);
// Whether any other level implies `level`.
[[nodiscard]] bool has_stronger(Level level);

// Sorts levels as levels() lists them: to print them, to keep them in a sorted container, or to go
// through them so that each comes after all that it implies. Which of two levels comes first means
// nothing if neither implies the other.
struct InListOrder {
  [[nodiscard]] bool operator()(Level a, Level b) const;
};

}  // namespace ouro
