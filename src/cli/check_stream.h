// ouro check --stream.
#pragma once

#include "cli/check_flags.h"

namespace ouro::cli {

// Judges the histories of `flags` piece by piece, so that they need not fit into memory. Returns an
// exit status. REQUIRES: the evidence is not Versions, and by observation the level is not Mixed.
int check_in_pieces(const CheckFlags& flags, Level level, Evidence evidence);

}  // namespace ouro::cli
