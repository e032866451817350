// dbcop's binary histories (history.bincode), also PolySI's and VeriStrong's.
//
// Encoded by Rust's bincode 1: little-endian 64-bit integers, one-byte booleans, no magic number.
// Transactions that failed are aborted. Events that failed are left out, as the published checkers
// do; the remark "failed_events" counts them.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_dbcop_bincode(std::string_view head);
Result<History> read_dbcop_bincode(Input& input, unsigned threads);
Result<WriteReport> write_dbcop_bincode(const History& history, Output& output);

}  // namespace ouro
