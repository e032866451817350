// Proofs of violations where it is open whether predicate reads without version sets saw the
// database at the start or at the commit of their transaction.
#pragma once

#include "ouro/check.h"

namespace ouro {

// Proves that `verdict`, violated with snapshots at the start, is so with snapshots at the commit,
// where its verdict is `other`, which is violated, too. Undecided if that takes more than a
// certificate can hold.
void prove_both(const History& history, Verdict& verdict, Verdict other);

}  // namespace ouro
