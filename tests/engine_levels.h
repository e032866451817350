// Which levels the engines decide, as the tests expect it.
#pragma once

#include <set>

#include "ouro/level.h"

namespace ouro::oracle {

// Tests compare engines with the oracle at every level that ouro::decidable names, and fail if
// that is not exactly this set. A new engine adds its levels here.
inline const std::set<Level> kDecidableLevels = {Level::ReadCommitted,
                                                 Level::ReadAtomic,
                                                 Level::Causal,
                                                 Level::Prefix,
                                                 Level::ParallelSi,
                                                 Level::Si,
                                                 Level::SessionSi,
                                                 Level::Gsi,
                                                 Level::StrongSi,
                                                 Level::Serializable,
                                                 Level::SessionSerializable,
                                                 Level::StrictSerializable};

}  // namespace ouro::oracle
