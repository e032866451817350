// TimeKiller's JSON, the format of Chronos and Aion: one array of committed transactions.
//
//   {"tid":67, "sid":19, "sts":{"p":1691,"l":61}, "cts":{"p":1692,"l":0},
//    "ops":[{"t":"w","k":7,"v":2}, {"t":"r","k":8,"v":3}]}
//
// `tid` names the transaction, `sid` its session, in which transactions stand in the order of the
// array; `sts` and `cts` are the start and commit timestamps. An operation is a w(rite), r(ead) or
// a(ppend), in letters of any size. Integers may be strings of digits; other fields are ignored.
//
// A history consists of registers or of lists. Among lists, a read of null or without `v` is one of
// the empty list. Among registers it is one of null, the initial value, unless the history reads
// null nowhere and reads 0 from a key to which nobody wrote 0: then all keys start as 0.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_chronos(std::string_view head);
Result<History> read_chronos(Input& input, unsigned threads);
// One transaction a line.
Result<WriteReport> write_chronos(const History& history, Output& output);

}  // namespace ouro
