// Reads a stream of tables, a row for each operation.
#pragma once

#include "c/arrow.h"
#include "ouro/history_builder.h"
#include "ouro/result.h"

namespace ouro::c {

// Adds what `stream` has to `builder`; does not release the stream. The error is one of the stream
// or of a row.
Status add_arrow(ArrowArrayStream& stream, HistoryBuilder& builder);

}  // namespace ouro::c
