#include "ouro/level.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/level_rules.h"
#include "ouro/closest.h"

namespace ouro {
namespace {

// The table of levels: one row each, in the order of the enumerators. level_rules.h explains the
// members.
constexpr std::array<LevelRow, kLevelCount + 1> kRows{{
    {
        .info = {Level::ReadCommitted, "read-committed", "rc",
                 "only committed data is read, and reads of one transaction never go back in "
                 "commit order"},
        .below = {},
        .elle = "read-committed",
        .other_names = {"pl-2"},
        .rules = {.family = LevelFamily::CommitOrder,
                  .premise = Premise::EarlierReads,
                  .sessions = true,
                  .lost_updates = true,
                  .rereads_differ = true,
                  .store = StoreKind::ReadRules},
        .drawn = {.x = 260, .row = 7},
    },
    {
        .info = {Level::ReadAtomic, "read-atomic", "ra",
                 "a transaction sees all of another's writes or none of them"},
        .below = {Level::ReadCommitted},
        .elle = "read-atomic",
        .other_names = {},
        .rules = {.family = LevelFamily::CommitOrder,
                  .premise = Premise::DirectPast,
                  .sessions = true,
                  .lost_updates = true,
                  .store = StoreKind::ReadRules},
        .drawn = {.x = 260, .row = 6},
    },
    {
        .info = {Level::Causal, "causal", "cc",
                 "a transaction that sees an effect sees everything that caused it"},
        .below = {Level::ReadAtomic},
        .elle = "causal-cerone",
        .other_names = {"causal-consistency", "causal-cerone"},
        .rules = {.family = LevelFamily::CommitOrder,
                  .premise = Premise::WholePast,
                  .sessions = true,
                  .lost_updates = true,
                  .store = StoreKind::Replicated},
        .drawn = {.x = 260, .row = 5},
    },
    {
        .info = {Level::Prefix, "prefix", "pc",
                 "every transaction sees a prefix of one commit order; updates may be lost"},
        .below = {Level::Causal},
        .elle = "prefix",
        .other_names = {"consistent-prefix", "prefix-consistency"},
        .rules = {.family = LevelFamily::Snapshots,
                  .sessions = true,
                  .lost_updates = true,
                  .store = StoreKind::Snapshots},
        .drawn = {.x = 190, .row = 4},
    },
    {
        .info = {Level::ParallelSi, "parallel-si", "psi",
                 "snapshots and no lost updates, but sites may disagree on the order of "
                 "independent writes"},
        .below = {Level::Causal},
        .elle = "parallel-snapshot-isolation",
        .other_names = {"parallel-snapshot-isolation"},
        .rules = {.family = LevelFamily::Parallel,
                  .sessions = true,
                  .store = StoreKind::Replicated},
        .drawn = {.x = 330, .row = 4},
    },
    {
        .info = {Level::Si, "si", "",
                 "every transaction reads from one snapshot, and concurrent writers of a key do "
                 "not both commit"},
        .below = {},
        .elle = "snapshot-isolation",
        .other_names = {"snapshot-isolation", "snapshot", "pl-si"},
        .rules = {.family = LevelFamily::Snapshots,
                  .by_timestamps = true,
                  .store = StoreKind::Snapshots},
        .drawn = {.x = 480, .row = 7},
    },
    {
        .info = {Level::SessionSi, "session-si", "sssi",
                 "si, and a session sees what it did before"},
        .below = {Level::Prefix, Level::ParallelSi, Level::Si},
        .elle = "strong-session-snapshot-isolation",
        .other_names = {"strong-session-si", "strong-session-snapshot-isolation"},
        .rules = {.family = LevelFamily::Snapshots,
                  .sessions = true,
                  .by_timestamps = true,
                  .store = StoreKind::Snapshots},
        .drawn = {.x = 320, .row = 3},
    },
    {
        .info = {Level::Gsi, "gsi", "",
                 "si, and commits ordered in real time commit in that order"},
        .below = {Level::Si},
        .elle = "",
        .other_names = {"generalized-snapshot-isolation"},
        .rules = {.family = LevelFamily::Snapshots,
                  .real_time = RealTimeRule::CommitsLater,
                  .by_timestamps = true,
                  .store = StoreKind::Snapshots},
        .drawn = {.x = 60, .row = 3},
    },
    {
        .info = {Level::PrefixConsistentSi, "prefix-consistent-si", "pcsi",
                 "gsi and session-si in one order: commits in real time order, and a session sees "
                 "what it did before"},
        .below = {Level::SessionSi, Level::Gsi},
        .elle = "",
        .other_names = {"prefix-consistent-snapshot-isolation"},
        .rules = {.family = LevelFamily::Snapshots,
                  .sessions = true,
                  .real_time = RealTimeRule::CommitsLater,
                  .by_timestamps = true,
                  .store = StoreKind::Snapshots},
        .drawn = {.x = 190, .row = 2},
    },
    {
        .info = {Level::StrongSi, "strong-si", "",
                 "si, and a transaction sees everything committed before it began"},
        .below = {Level::PrefixConsistentSi},
        .elle = "strong-snapshot-isolation",
        .other_names = {"strong-snapshot-isolation"},
        .rules = {.family = LevelFamily::Snapshots,
                  .sessions = true,
                  .real_time = RealTimeRule::SeesIt,
                  .by_timestamps = true,
                  .store = StoreKind::Snapshots},
        .drawn = {.x = 190, .row = 1},
    },
    {
        .info = {Level::RepeatableRead, "repeatable-read", "rr",
                 "serializable but for predicates: no cycle with item anti-dependencies (PL-2.99)"},
        .below = {},
        .elle = "repeatable-read",
        .other_names = {"pl-2.99"},
        .rules = {.family = LevelFamily::Serial, .phantoms = true},
        .drawn = {.x = 640, .row = 3},
    },
    {
        .info = {Level::Serializable, "serializable", "ser",
                 "as if transactions ran one after the other, in some order"},
        .below = {Level::Si, Level::RepeatableRead},
        .elle = "serializable",
        .other_names = {"pl-3", "conflict-serializable", "1sr"},
        .rules = {.family = LevelFamily::Serial, .by_timestamps = true, .store = StoreKind::Serial},
        .drawn = {.x = 620, .row = 2},
    },
    {
        .info = {Level::SessionSerializable, "session-serializable", "session-ser",
                 "serializable in an order that keeps the order of every session"},
        .below = {Level::SessionSi, Level::Serializable},
        .elle = "strong-session-serializable",
        .other_names = {"strong-session-serializable"},
        .rules = {.family = LevelFamily::Serial,
                  .sessions = true,
                  .by_timestamps = true,
                  .store = StoreKind::Serial},
        .drawn = {.x = 530, .row = 1},
    },
    {
        .info = {Level::StrictSerializable, "strict-serializable", "strict-ser",
                 "serializable in an order that keeps sessions and real time"},
        .below = {Level::StrongSi, Level::SessionSerializable},
        .elle = "strong-serializable",
        .other_names = {"strong-serializable", "strict", "pl-ss", "strict-1sr"},
        .rules = {.family = LevelFamily::Serial,
                  .sessions = true,
                  .real_time = RealTimeRule::SeesIt,
                  .by_timestamps = true,
                  .store = StoreKind::Serial},
        .drawn = {.x = 360, .row = 0},
    },
    {
        .info = {Level::Mixed, "mixed", "",
                 "each transaction satisfies the level that it states, all in one commit order"},
        .below = {},
        .elle = "",
        .other_names = {},
        .rules = {.family = LevelFamily::Mixed, .sessions = true, .by_versions = false},
        .drawn = {},
    },
}};

constexpr std::size_t index_of(Level level) { return static_cast<std::size_t>(level); }

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (index_of(kRows[i].info.level) != i) return false;
    for (const Level below : kRows[i].below.span()) {
      if (index_of(below) >= i) return false;
    }
  }
  return true;
}
static_assert(rows_are_in_order(), "a row for each level, behind those of all that it implies");

constexpr std::array<LevelInfo, kLevelCount> infos() {
  std::array<LevelInfo, kLevelCount> out{};
  for (std::size_t i = 0; i < kLevelCount; ++i) out[i] = kRows[i].info;
  return out;
}
constexpr std::array<LevelInfo, kLevelCount> kInfos = infos();

// Bit j of entry i: level i implies level j.
constexpr std::array<std::uint32_t, kRows.size()> implications() {
  static_assert(kRows.size() <= 32);
  std::array<std::uint32_t, kRows.size()> implied{};
  for (std::size_t i = 0; i < kRows.size(); ++i) {  // Weaker first, so one round suffices.
    implied[i] = 1u << i;
    for (const Level below : kRows[i].below.span()) implied[i] |= implied[index_of(below)];
  }
  return implied;
}
constexpr std::array<std::uint32_t, kRows.size()> kImplied = implications();

std::string normalised(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

}  // namespace

const LevelRow& row_of(Level level) { return kRows[index_of(level)]; }

std::span<const LevelInfo> levels() { return kInfos; }

const LevelInfo& info(Level level) { return row_of(level).info; }

std::optional<Level> find_level(std::string_view name) {
  const std::string wanted = normalised(name);
  if (wanted.empty()) return std::nullopt;
  for (const LevelRow& row : kRows) {
    const auto others = row.other_names.span();
    if (wanted == row.info.name || wanted == row.info.alias ||
        std::find(others.begin(), others.end(), wanted) != others.end()) {
      return row.info.level;
    }
  }
  return std::nullopt;
}

std::string_view closest_level(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LevelRow& row : kRows) {
    names.push_back(row.info.name);
    if (!row.info.alias.empty()) names.push_back(row.info.alias);
  }
  for (const LevelRow& row : kRows) {
    const auto others = row.other_names.span();
    names.insert(names.end(), others.begin(), others.end());
  }
  return closest(normalised(name), names);
}

bool implies(Level stronger, Level weaker) {
  return (kImplied[index_of(stronger)] >> index_of(weaker) & 1) != 0;
}

std::span<const Level> directly_below(Level level) { return row_of(level).below.span(); }

std::optional<Level> searched_first(Level level) {
  constexpr Level kFirst = Level::SessionSi;
  return implies(kFirst, level) ? std::optional(kFirst) : std::nullopt;
}

Level strongest_of_family(Level level) {
  Level strongest = level;
  for (const LevelInfo& other : kInfos) {
    if (rules(other.level).is(rules(level).family) && implies(other.level, strongest)) {
      strongest = other.level;
    }
  }
  return strongest;
}

bool has_stronger(Level level) {
  return std::any_of(kInfos.begin(), kInfos.end(), [&](const LevelInfo& other) {
    return other.level != level && implies(other.level, level);
  });
}

bool InListOrder::operator()(Level a, Level b) const { return index_of(a) < index_of(b); }

}  // namespace ouro
