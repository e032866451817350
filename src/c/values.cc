#include "c/values.h"

#include <fmt/format.h>

#include "c/handles.h"

namespace ouro::c {
namespace {

// Whether `digits` are a number as JSON writes them.
bool is_number(std::string_view digits) {
  std::size_t at = 0;
  const auto run = [&] {
    const std::size_t begin = at;
    while (at < digits.size() && digits[at] >= '0' && digits[at] <= '9') ++at;
    return at > begin;
  };
  if (at < digits.size() && digits[at] == '-') ++at;
  if (!run()) return false;
  if (at < digits.size() && digits[at] == '.') {
    ++at;
    if (!run()) return false;
  }
  if (at < digits.size() && (digits[at] == 'e' || digits[at] == 'E')) {
    ++at;
    if (at < digits.size() && (digits[at] == '+' || digits[at] == '-')) ++at;
    if (!run()) return false;
  }
  return at == digits.size();
}

Result<Value> decimal_of(HistoryBuilder& builder, std::string_view digits) {
  if (!is_number(digits)) {
    return error_saying(fmt::format("'{}' is no number; expected digits such as -12 or 0.50",
                                    digits.substr(0, 40)));
  }
  const Value value = builder.decimal(digits);
  if (!value.is_null()) return value;
  return error_saying(fmt::format("a number has more than {} digits before or behind the point",
                                  HistoryBuilder::kMostDigits));
}

}  // namespace

Result<Value> value_of(HistoryBuilder& builder, const ouro_value& value) {
  switch (value.kind) {
    case OURO_NULL:
      return Value::null();
    case OURO_UNOBSERVED:
      return Value::unobserved();
    case OURO_INTEGER:
      return builder.integer(value.as.integer);
    case OURO_UNSIGNED:
      return builder.unsigned_integer(value.as.natural);
    case OURO_BOOLEAN:
      return Value::boolean(value.as.integer != 0);
    case OURO_FLOAT:
      return builder.floating(value.as.number);
    case OURO_DECIMAL:
      if (value.as.text == nullptr) break;
      return decimal_of(builder, view(value.as.text, value.length));
    case OURO_TEXT:
      if (value.as.text == nullptr && value.length != 0) break;
      return builder.text(view(value.as.text, value.length));
    default:
      return error_saying(fmt::format("{} is no kind of value", value.kind));
  }
  return error_saying("the text of a value is missing");
}

Result<Value> name_of(HistoryBuilder& builder, const ouro_value& value, std::string_view what) {
  const bool fits =
      value.kind == OURO_INTEGER || value.kind == OURO_UNSIGNED || value.kind == OURO_TEXT;
  if (fits) return value_of(builder, value);
  return error_saying(fmt::format("expected {}: an integer or a text", what));
}

}  // namespace ouro::c
