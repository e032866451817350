#include "ouro/level.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "base/edit_distance.h"

namespace ouro {
namespace {

constexpr std::array<LevelInfo, kLevelCount> kLevels{{
    {Level::ReadCommitted, "read-committed", "rc",
     "only committed data is read, and reads of one transaction never go back in commit order"},
    {Level::ReadAtomic, "read-atomic", "ra",
     "a transaction sees all of another's writes or none of them"},
    {Level::Causal, "causal", "cc",
     "a transaction that sees an effect sees everything that caused it"},
    {Level::Prefix, "prefix", "pc",
     "every transaction sees a prefix of one commit order; updates may be lost"},
    {Level::ParallelSi, "parallel-si", "psi",
     "snapshots and no lost updates, but sites may disagree on the order of independent writes"},
    {Level::Si, "si", "",
     "every transaction reads from one snapshot, and concurrent writers of a key do not both "
     "commit"},
    {Level::SessionSi, "session-si", "sssi", "si, and a session sees what it did before"},
    {Level::Gsi, "gsi", "", "si, and commits ordered in real time commit in that order"},
    {Level::StrongSi, "strong-si", "",
     "si, and a transaction sees everything committed before it began"},
    {Level::RepeatableRead, "repeatable-read", "rr",
     "serializable but for predicates: no cycle with item anti-dependencies (PL-2.99)"},
    {Level::Serializable, "serializable", "ser",
     "as if transactions ran one after the other, in some order"},
    {Level::SessionSerializable, "session-serializable", "session-ser",
     "serializable in an order that keeps the order of every session"},
    {Level::StrictSerializable, "strict-serializable", "strict-ser",
     "serializable in an order that keeps sessions and real time"},
}};

struct Alias {
  std::string_view name;
  Level level;
};

// What Elle, Jepsen, Adya and users of PostgreSQL say.
constexpr Alias kAliases[] = {
    {"pl-2", Level::ReadCommitted},
    {"causal-consistency", Level::Causal},
    {"consistent-prefix", Level::Prefix},
    {"prefix-consistency", Level::Prefix},
    {"parallel-snapshot-isolation", Level::ParallelSi},
    {"snapshot-isolation", Level::Si},
    {"snapshot", Level::Si},
    {"pl-si", Level::Si},
    {"generalized-snapshot-isolation", Level::Gsi},
    {"strong-session-si", Level::SessionSi},
    {"strong-session-snapshot-isolation", Level::SessionSi},
    {"strong-snapshot-isolation", Level::StrongSi},
    {"pl-2.99", Level::RepeatableRead},
    {"pl-3", Level::Serializable},
    {"conflict-serializable", Level::Serializable},
    {"strong-session-serializable", Level::SessionSerializable},
    {"strong-serializable", Level::StrictSerializable},
    {"strict", Level::StrictSerializable},
    {"pl-ss", Level::StrictSerializable},
};

// The edges of the lattice, from DESIGN §2.
constexpr Level kBelowRa[] = {Level::ReadCommitted};
constexpr Level kBelowCc[] = {Level::ReadAtomic};
constexpr Level kBelowPcOrPsi[] = {Level::Causal};
constexpr Level kBelowSessionSi[] = {Level::Prefix, Level::ParallelSi, Level::Si};
constexpr Level kBelowGsi[] = {Level::Si};
constexpr Level kBelowStrongSi[] = {Level::SessionSi, Level::Gsi};
constexpr Level kBelowSer[] = {Level::Si, Level::RepeatableRead};
constexpr Level kBelowSessionSer[] = {Level::SessionSi, Level::Serializable};
constexpr Level kBelowStrictSer[] = {Level::StrongSi, Level::SessionSerializable};

std::string normalised(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

// Bit j of entry i: level i implies level j.
std::array<std::uint32_t, kLevelCount> implications() {
  std::array<std::uint32_t, kLevelCount> implied{};
  for (const LevelInfo& level : kLevels) {  // Weaker first, so one round suffices.
    const auto i = static_cast<std::size_t>(level.level);
    implied[i] = 1u << i;
    for (const Level below : directly_below(level.level)) {
      implied[i] |= implied[static_cast<std::size_t>(below)];
    }
  }
  return implied;
}

}  // namespace

std::span<const LevelInfo> levels() { return kLevels; }

const LevelInfo& info(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<Level> find_level(std::string_view name) {
  const std::string wanted = normalised(name);
  if (wanted.empty()) return std::nullopt;
  for (const LevelInfo& level : kLevels) {
    if (wanted == level.name || wanted == level.alias) return level.level;
  }
  for (const Alias& alias : kAliases) {
    if (wanted == alias.name) return alias.level;
  }
  return std::nullopt;
}

std::string_view closest_level(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LevelInfo& level : kLevels) {
    names.push_back(level.name);
    if (!level.alias.empty()) names.push_back(level.alias);
  }
  for (const Alias& alias : kAliases) names.push_back(alias.name);
  return closest(normalised(name), names);
}

bool implies(Level stronger, Level weaker) {
  static const auto implied = implications();
  return (implied[static_cast<std::size_t>(stronger)] >> static_cast<unsigned>(weaker) & 1) != 0;
}

std::span<const Level> directly_below(Level level) {
  switch (level) {
    case Level::ReadCommitted:
    case Level::Si:
    case Level::RepeatableRead:
      return {};
    case Level::ReadAtomic:
      return kBelowRa;
    case Level::Causal:
      return kBelowCc;
    case Level::Prefix:
    case Level::ParallelSi:
      return kBelowPcOrPsi;
    case Level::SessionSi:
      return kBelowSessionSi;
    case Level::Gsi:
      return kBelowGsi;
    case Level::StrongSi:
      return kBelowStrongSi;
    case Level::Serializable:
      return kBelowSer;
    case Level::SessionSerializable:
      return kBelowSessionSer;
    case Level::StrictSerializable:
      return kBelowStrictSer;
  }
  return {};
}

}  // namespace ouro
