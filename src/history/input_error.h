// Errors about what a history says, with the place in its source.
#pragma once

#include <string>

#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

// The error `what` at a place, or at the place of an operation.
[[nodiscard]] Error error_at(const Place& place, std::string what);
[[nodiscard]] Error error_at(const History& history, OpId op, std::string what);

// What is wrong with an operation of `kind` that shows that `key`, which is a list, is a register.
[[nodiscard]] std::string no_list_text(const History& history, KeyId key, OpKind kind);

}  // namespace ouro
