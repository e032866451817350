#include "report/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/utf8.h"
#include "history/json_text.h"

namespace ouro {

std::string valid_utf8(std::string text) {
  std::string_view rest = text;
  std::size_t good = utf8_prefix(rest);
  if (good == rest.size()) return text;
  std::string out;
  while (!rest.empty()) {
    out += rest.substr(0, good);
    rest.remove_prefix(good);
    if (rest.empty()) break;
    out += "\xef\xbf\xbd";
    rest.remove_prefix(1);
    good = utf8_prefix(rest);
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
