#include "history/json_text.h"

#include <fmt/format.h>

#include <iterator>

namespace ouro {

void append_json_string(std::string& out, std::string_view string) {
  out += '"';
  for (const char c : string) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

namespace {

// What has no number in JSON, like "NaN", becomes a string.
void append_float(std::string& out, std::string_view digits) {
  const std::string_view quote = digits.find_first_of("Nny") == std::string_view::npos ? "" : "\"";
  fmt::format_to(std::back_inserter(out), "{{\"@float\":{0}{1}{0}}}", quote, digits);
}

// Appends any value but a row or a list.
void append_scalar(std::string& out, const History& history, Value value) {
  switch (value.kind()) {
    case ValueKind::Integer: {
      const fmt::format_int number(value.number());
      out.append(number.data(), number.size());
      break;
    }
    case ValueKind::Text:
      append_json_string(out, history.string(value));
      break;
    case ValueKind::Wide:
    case ValueKind::Decimal:
      out += history.string(value);
      break;
    case ValueKind::Boolean:
      out += value.truth() ? "true" : "false";
      break;
    case ValueKind::Float:
      append_float(out, history.string(value));
      break;
    default:
      out += "null";
  }
}

void append_row(std::string& out, const History& history, Value value) {
  out += '{';
  bool first = true;
  for (const Cell& cell : history.row(value)) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, history.column_name(cell.column));
    out += ':';
    append_scalar(out, history, cell.value);
  }
  out += '}';
}

}  // namespace

std::string edn_number(ValueKind kind, std::string_view digits) {
  std::string out(digits);
  if (kind == ValueKind::Decimal) return out + 'M';
  if (digits == "NaN") return "##NaN";
  if (digits == "Infinity") return "##Inf";
  if (digits == "-Infinity") return "##-Inf";
  return digits.find_first_of(".e") == std::string_view::npos ? out + ".0" : out;
}

void append_json(std::string& out, const History& history, Value value) {
  if (value.kind() == ValueKind::Row) return append_row(out, history, value);
  if (!value.is_list()) return append_scalar(out, history, value);
  out += '[';
  bool first = true;
  for (const Value element : history.list(value)) {
    if (!first) out += ',';
    first = false;
    if (element.kind() == ValueKind::Row) {
      append_row(out, history, element);
    } else {
      append_scalar(out, history, element);
    }
  }
  out += ']';
}

}  // namespace ouro
