#include "report/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "history/json_text.h"

namespace ouro {
namespace {

// The length of the UTF-8 character at the start of `text`, or 0 if there is none: Unicode's
// table of well-formed byte sequences.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::string valid_utf8(std::string text) {
  const auto first_bad = [](std::string_view rest) {
    std::size_t i = 0;
    while (i < rest.size()) {
      const std::size_t length = utf8_length(rest.substr(i));
      if (length == 0) return i;
      i += length;
    }
    return i;
  };
  std::string_view rest = text;
  std::size_t good = first_bad(rest);
  if (good == rest.size()) return text;
  std::string out;
  while (!rest.empty()) {
    out += rest.substr(0, good);
    rest.remove_prefix(good);
    if (rest.empty()) break;
    out += "\xef\xbf\xbd";
    rest.remove_prefix(1);
    good = first_bad(rest);
  }
  return out;
}

void JsonWriter::separate() {
  if (after_value_) out_ += ',';
  after_value_ = false;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  out_ += text;
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  out_ += '{';
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  out_ += '}';
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  out_ += '[';
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  out_ += ']';
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  out_ += ':';
  after_value_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  return std::isfinite(number) ? raw(fmt::format("{:.6f}", number)) : null();
}

JsonWriter& JsonWriter::value(const History& history, Value value) {
  separate();
  append_json(out_, history, value);
  after_value_ = true;
  return *this;
}

std::string JsonWriter::finish() && {
  out_ += '\n';
  return valid_utf8(std::move(out_));
}

}  // namespace ouro
