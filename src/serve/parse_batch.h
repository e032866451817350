// Bytes from a client into a batch.
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
  std::optional<std::int64_t> initial;  // What keys hold at first; nothing: they are absent.
};

// The format of a batch: what the client says of it (a Content-Type, maybe empty), else which of
// native text, native binary and Chronos it is by its first byte. Of bytes that are none of them
// the error of the one returned tells what is wrong.
[[nodiscard]] Format format_of(std::string_view bytes, std::string_view content_type);

struct ParsedBatch {
  std::shared_ptr<const History> history;
  std::string binary;  // Native binary, if it is to be durable.
};

// All or nothing. Compressed content is refused: nobody knows how large it gets. A single batch
// cannot tell what keys hold at first, so that is the same for all of them, whatever the format
// would guess; a batch that says otherwise is refused.
[[nodiscard]] Result<ParsedBatch> parse_batch(std::string_view bytes, Format format,
                                              std::string_view name, const BatchRules& rules);

}  // namespace ouro::serving
