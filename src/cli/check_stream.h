// ouro check --stream.
#pragma once

#include "cli/check_flags.h"

namespace ouro::cli {

// Judges the histories of `flags` by timestamps, piece by piece, so that they need not fit into
// memory. Returns an exit status.
int check_in_pieces(const CheckFlags& flags, Level level);

}  // namespace ouro::cli
