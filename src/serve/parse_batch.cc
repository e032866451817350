#include "serve/parse_batch.h"

#include <fmt/format.h>

#include <utility>

#include "format/compression.h"
#include "format/registry.h"
#include "history/columns.h"

namespace ouro::serving {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Whether `bytes` are "[]", blanks aside: a Chronos batch without transactions.
bool is_empty_array(std::string_view bytes) {
  const std::size_t open = bytes.find_first_not_of(kSpace);
  if (open == bytes.npos || bytes[open] != '[') return false;
  const std::size_t close = bytes.find_first_not_of(kSpace, open + 1);
  return close != bytes.npos && bytes[close] == ']' &&
         bytes.find_first_not_of(kSpace, close + 1) == bytes.npos;
}

}  // namespace

Format format_of(std::string_view bytes, std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  if (type == "application/x-ndjson" || type == "application/jsonl") return Format::Native;
  if (type == "application/vnd.ouro") return Format::NativeBinary;
  if (bytes.find_first_not_of(kSpace) == bytes.npos) return Format::Native;
  constexpr Format kTaken[] = {Format::Native, Format::NativeBinary, Format::Chronos};
  const Format detected = detect_format(bytes, kTaken);
  if (detected != Format::Detect) return detected;
  return type == "application/json" ? Format::Chronos : Format::NativeBinary;
}

Result<ParsedBatch> parse_batch(std::string_view bytes, Format format, std::string_view name,
                                const BatchRules& rules) {
  if (compression_of(bytes) != Compression::None) {
    return error_in(name, "compressed; send it as it is");
  }
  ParsedBatch batch;
  if (format == Format::Chronos && is_empty_array(bytes)) {
    batch.history = std::make_shared<const History>();
  } else {
    auto parsed = parse_history(bytes, {.format = format, .threads = 1}, name);
    if (!parsed.ok()) return parsed.error();
    batch.history = std::make_shared<const History>(*std::move(parsed));
  }
  const HistoryColumns& all = columns_of(*batch.history);
  if (!all.version_orders.empty()) {
    return error_in(name,
                    "the batch has version orders, for which a service has no use; leave them out");
  }
  const Value initial = rules.initial ? Value::small(*rules.initial) : Value::null();
  const Value said = batch.history->default_initial();
  if (said != initial && !said.is_null() && format != Format::Chronos) {
    return error_in(name,
                    fmt::format("the batch says that keys hold {} at first; start the service "
                                "with --initial {}",
                                batch.history->text(said), batch.history->text(said)));
  }
  if (said != initial) {
    HistoryColumns columns = columns_of(*batch.history);
    columns.default_initial = initial;
    batch.history = std::make_shared<const History>(history_of(columns, batch.history));
  }
  if (!rules.durable) return batch;
  if (format == Format::NativeBinary && said == initial) {
    batch.binary = bytes;
    return batch;
  }
  auto printed = print_history(*batch.history, Format::NativeBinary, batch.binary);
  if (!printed.ok()) return printed.error();
  return batch;
}

}  // namespace ouro::serving
