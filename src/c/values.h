// Values of ouro/c.h as values of a builder.
#pragma once

#include "ouro/c.h"
#include "ouro/history_builder.h"
#include "ouro/result.h"

namespace ouro::c {

// The error is a value of no kind, a text that is missing or too long, or digits that are none.
[[nodiscard]] Result<Value> value_of(HistoryBuilder& builder, const ouro_value& value);

// The same for a name; `what` is what has it: "a key". The error is also a value that is neither an
// integer nor a text.
[[nodiscard]] Result<Value> name_of(HistoryBuilder& builder, const ouro_value& value,
                                    std::string_view what);

}  // namespace ouro::c
