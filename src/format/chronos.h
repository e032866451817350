// TimeKiller's JSON, the format of Chronos and Aion: one array of committed transactions.
//
//   {"tid":67, "sid":19, "sts":{"p":1691,"l":61}, "cts":{"p":1692,"l":0},
//    "ops":[{"t":"w","k":7,"v":2}, {"t":"r","k":8,"v":3}]}
//
// `tid` names the transaction and `sid` its session; the transactions of a session are in the order
// of the array. `sts` and `cts` are the start and commit timestamps. An operation is a w(rite),
// r(ead) or a(ppend), in upper or lower case. Integers may be strings of digits; other fields are
// ignored.
//
// A history consists of registers or of lists. In a history of lists, a read of null or without `v`
// is a read of the empty list. In a history of registers it is a read of null, and keys start as
// null; but if no read returns null and one returns 0 from a key to which nobody wrote 0, all keys
// start as 0.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_chronos(std::string_view head);
Result<History> read_chronos(Input& input, unsigned threads);
// Writes one transaction per line.
Result<WriteReport> write_chronos(const History& history, Output& output);

}  // namespace ouro
