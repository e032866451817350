// The levels that the engines decide, and properties of levels, as the tests expect them.
#pragma once

#include <array>
#include <set>

#include "ouro/level.h"

namespace ouro::oracle {

// Tests compare engines with the oracle at every level that ouro::decidable names, and fail if
// that is not exactly this set. A new engine adds its levels here.
inline const std::set<Level, InListOrder> kDecidableLevels = {
    Level::ReadCommitted,  Level::ReadAtomic,   Level::Causal,
    Level::Prefix,         Level::ParallelSi,   Level::Si,
    Level::SessionSi,      Level::Gsi,          Level::PrefixConsistentSi,
    Level::StrongSi,       Level::Serializable, Level::SessionSerializable,
    Level::RepeatableRead, Level::StrictSerializable};

// The levels of snapshots and the serializable ones: those that timestamps decide, and that Z3 is
// asked about.
inline constexpr std::array kSnapshotAndSerialLevels = {Level::Si,
                                                        Level::SessionSi,
                                                        Level::Gsi,
                                                        Level::PrefixConsistentSi,
                                                        Level::StrongSi,
                                                        Level::Serializable,
                                                        Level::SessionSerializable,
                                                        Level::StrictSerializable};

// The levels that are defined by commit orders only, without version orders.
inline bool is_weak_level(Level level) {
  return level == Level::ReadCommitted || level == Level::ReadAtomic || level == Level::Causal;
}

// These split kSnapshotAndSerialLevels and repeatable-read.
inline bool is_snapshot_level(Level level) {
  return level == Level::Si || level == Level::SessionSi || level == Level::Gsi ||
         level == Level::PrefixConsistentSi || level == Level::StrongSi;
}
inline bool is_serial_level(Level level) {
  return level == Level::RepeatableRead || level == Level::Serializable ||
         level == Level::SessionSerializable || level == Level::StrictSerializable;
}
inline bool has_sessions(Level level) {
  return level == Level::SessionSi || level == Level::PrefixConsistentSi ||
         level == Level::StrongSi || level == Level::SessionSerializable ||
         level == Level::StrictSerializable;
}
inline bool has_real_time(Level level) {
  return level == Level::Gsi || level == Level::PrefixConsistentSi || level == Level::StrongSi ||
         level == Level::StrictSerializable;
}
// Whether real time orders commits only: a transaction need not see what had completed before.
inline bool orders_commits_by_time(Level level) {
  return level == Level::Gsi || level == Level::PrefixConsistentSi;
}

}  // namespace ouro::oracle
