// dbcop's binary histories (history.bincode), also PolySI's and VeriStrong's.
//
// Rust's bincode 1: little-endian 64-bit integers, one-byte booleans, no magic number.
// Transactions that failed are kept as aborted. An event that failed within a transaction that
// did not is left out, as the published checkers do; a remark counts them.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_dbcop_bincode(std::string_view head);
Result<History> read_dbcop_bincode(Input& input, unsigned threads);
Result<WriteReport> write_dbcop_bincode(const History& history, Output& output);

}  // namespace ouro
