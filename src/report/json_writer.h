// Writes one JSON document; puts the commas and escapes strings.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"

namespace ouro {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);  // REQUIRES: inside an object, a value follows.

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::unsigned_integral auto number) { return raw(std::to_string(number)); }
  JsonWriter& value(std::signed_integral auto number) { return raw(std::to_string(number)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(double number);
  JsonWriter& value(const History& history, Value value);
  JsonWriter& null() { return raw("null"); }
  // A value that is JSON already.
  JsonWriter& json(std::string_view document) { return raw(document); }

  // A key and its value.
  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  JsonWriter& member(std::string_view name, const History& history, Value content) {
    return key(name).value(history, content);
  }

  // The document as one line that ends with a line break. Bytes that are no UTF-8 become U+FFFD.
  [[nodiscard]] std::string finish() &&;

 private:
  // Writes a comma if the last thing written was a value.
  void separate();
  JsonWriter& raw(std::string_view text);

  std::string out_;
  bool after_value_ = false;  // The last thing written was a value.
};

// `text` with every byte that belongs to no UTF-8 character replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string text);

}  // namespace ouro
