// Parses the bytes that a client sent into a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ouro/format.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro::serving {

// What all inputs have in common.
struct BatchRules {
  bool durable = false;                 // Batches need their binary form, for the input log.
  std::optional<std::int64_t> initial;  // The initial value of keys; nothing: they are absent.
};

// The format of a batch: what its Content-Type says, else which of native text, native binary and
// Chronos it looks like. `content_type` may be empty. If it looks like none of them, returns one
// whose parser will give a helpful error.
[[nodiscard]] Format format_of(std::string_view bytes, std::string_view content_type);

struct ParsedBatch {
  std::shared_ptr<const History> history;
  std::string binary;  // The history in native binary form, if BatchRules::durable.
};

// Parses a batch as a whole or fails. `name` stands for it in errors. Compressed content is
// refused, since its size in memory is not bounded by what the client reserved. The initial value
// is that of `rules` for all batches; a batch that states another is refused, but what the Chronos
// format assumes is overridden.
[[nodiscard]] Result<ParsedBatch> parse_batch(std::string_view bytes, Format format,
                                              std::string_view name, const BatchRules& rules);

}  // namespace ouro::serving
