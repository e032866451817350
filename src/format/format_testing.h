// Helpers of the tests of formats.
#pragma once

#include <string>
#include <string_view>

#include "format/registry.h"
#include "ouro/format.h"

namespace ouro {

// `history` as native text without the header line. Tests compare histories by it.
inline std::string native(const History& history) {
  std::string out;
  const auto report = print_history(history, Format::Native, out);
  return report.ok() ? out.substr(out.find('\n') + 1) : report.error().to_string();
}

// The header line alone: initial value and remarks.
inline std::string native_header(const History& history) {
  std::string out;
  const auto report = print_history(history, Format::Native, out);
  return report.ok() ? out.substr(0, out.find('\n')) : report.error().to_string();
}

// `bytes` read as `format`, then written as native text; or the error.
inline std::string read_as(Format format, std::string_view bytes) {
  const auto history = parse_history(bytes, {.format = format, .threads = 1}, "h");
  return history.ok() ? native(*history) : history.error().to_string();
}

// The error from reading `bytes` as `format`; "no error" if there is none.
inline std::string error_as(Format format, std::string_view bytes) {
  const auto history = parse_history(bytes, {.format = format, .threads = 1}, "h");
  return history.ok() ? "no error" : history.error().to_string();
}

// A history in native text, written as `format`; or the error.
inline std::string written_as(Format format, std::string_view text) {
  const auto history = parse_history(text, {.format = Format::Native}, "h.jsonl");
  if (!history.ok()) return history.error().to_string();
  std::string out;
  const auto report = print_history(*history, format, out);
  return report.ok() ? out : report.error().to_string();
}

// The names of the formats that claim a file which begins with `head`, separated by spaces.
inline std::string claimants(std::string_view head) {
  std::string names;
  for (const FormatEntry& entry : format_table()) {
    if (entry.detect == nullptr || !entry.detect(head)) continue;
    if (!names.empty()) names += ' ';
    names += entry.info.name;
  }
  return names;
}

}  // namespace ouro
