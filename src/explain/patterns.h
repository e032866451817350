// The patterns of stories that are no cycles.
#pragma once

#include "ouro/explain.h"

namespace ouro {

// The pattern that has this kind of anomaly to itself.
//
// REQUIRES: its sign is neither a cycle nor a contradiction.
[[nodiscard]] Pattern plain_pattern(AnomalyKind kind);

}  // namespace ouro
