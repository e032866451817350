// Isolation levels: names, one-line definitions, and which implies which.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ouro {

// Weaker before stronger.
enum class Level : std::uint8_t {
  ReadCommitted,
  ReadAtomic,
  Causal,
  Prefix,
  ParallelSi,
  Si,
  SessionSi,
  Gsi,
  StrongSi,
  RepeatableRead,
  Serializable,
  SessionSerializable,
  StrictSerializable,
};

inline constexpr std::size_t kLevelCount = 13;

struct LevelInfo {
  Level level = Level::Serializable;
  std::string_view name;   // "read-committed"
  std::string_view alias;  // "rc"; empty if there is none.
  std::string_view definition;
};

// All levels, weaker before stronger.
[[nodiscard]] std::span<const LevelInfo> levels();
[[nodiscard]] const LevelInfo& info(Level level);

// By name or alias, also the names other tools use (snapshot-isolation, PL-3 …). Letter case and
// '_' for '-' do not matter.
[[nodiscard]] std::optional<Level> find_level(std::string_view name);
// The known name closest to a misspelt one, for "did you mean"; empty if none is close.
[[nodiscard]] std::string_view closest_level(std::string_view name);

// Whether every history that satisfies `stronger` satisfies `weaker` too. Reflexive.
[[nodiscard]] bool implies(Level stronger, Level weaker);
// The levels directly below `level`: those it implies with none in between.
[[nodiscard]] std::span<const Level> directly_below(Level level);

}  // namespace ouro
