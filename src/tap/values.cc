#include "tap/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ouro::tapping {
namespace {

enum TypeOid : Oid {
  kBool = 16,
  kChar = 18,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kOid = 26,
  kJson = 114,
  kBpchar = 1042,
  kVarchar = 1043,
  kNumeric = 1700,
  kUuid = 2950,
  kJsonb = 3802,
};

bool is_integer(Oid type) {
  return type == kInt2 || type == kInt4 || type == kInt8 || type == kOid;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  if (point == text.npos) return is_digits(text) && (text.size() == 1 || text[0] != '0');
  const std::string_view whole = text.substr(0, point);
  return is_digits(whole) && (whole.size() == 1 || whole[0] != '0') &&
         is_digits(text.substr(point + 1)) && text.size() < 500;
}

// `text` with "%" and two digits for each of `marks` and for "%".
std::string escaped(std::string_view text, std::string_view marks) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || marks.find(c) != marks.npos) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

bool is_known_type(Oid type) {
  static constexpr std::array<Oid, 14> known = {kBool,    kChar,    kName, kInt8, kInt2,
                                                kInt4,    kText,    kOid,  kJson, kBpchar,
                                                kVarchar, kNumeric, kUuid, kJsonb};
  return type == kEnumeration || std::find(known.begin(), known.end(), type) != known.end();
}

void put_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string null_value() { return "\"NULL\""; }

std::optional<std::string> value_of_text(Oid type, std::string_view text) {
  if (is_integer(type)) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return std::to_string(number);
  }
  if (type == kBool) {
    if (text == "t" || text == "true") return "true";
    if (text == "f" || text == "false") return "false";
    return std::nullopt;
  }
  if (type == kNumeric && is_decimal(text)) return std::string(text);
  if (type == kNumeric && (text == "NaN" || text == "Infinity" || text == "-Infinity")) {
    return fmt::format("{{\"@float\":\"{}\"}}", text);
  }
  if (!is_known_type(type)) return std::nullopt;
  std::string out;
  const std::size_t letter = text.find_first_not_of('\\');
  const bool like_null = letter != text.npos && text.substr(letter) == "NULL";
  put_json_text(out, like_null ? "\\" + std::string(text) : std::string(text));
  return out;
}

std::optional<std::string> operand_of_text(Oid type, std::string_view text) {
  if (is_integer(type) || type == kNumeric) {
    if (is_decimal(text)) return std::string(text);
    return std::nullopt;
  }
  if (type == kBool) return value_of_text(type, text);
  if (type == kUuid) {
    const auto usual = key_part(type, text);
    return usual ? value_of_text(type, *usual) : std::nullopt;
  }
  if (type != kText && type != kVarchar && type != kEnumeration) return std::nullopt;
  std::string out;
  put_json_text(out, text);
  return out;
}

bool is_ordered(Oid type) { return is_integer(type) || type == kNumeric; }
bool has_patterns(Oid type) { return type == kText || type == kVarchar; }

bool reads_alike(Oid parameter, Oid column) {
  const auto is_text = [](Oid type) { return type == kText || type == kVarchar; };
  return parameter == 0 || parameter == column || (is_integer(parameter) && is_integer(column)) ||
         (is_text(parameter) && is_text(column));
}

std::string column_label(std::string_view schema, std::string_view table, std::string_view column) {
  std::string out;
  if (schema != "public") out = escaped(schema, "/.") + '.';
  return out + escaped(table, "/.") + '.' + escaped(column, ".");
}

// A text that looks like NULL has a backslash more than it should; see value_of_text().
std::string labelled(const std::string& label, const std::string& value) {
  if (value == "null") return value;
  std::string out = "{";
  put_json_text(out, label);
  out += ':';
  const std::size_t letter = value.find_first_not_of("\\", 1);
  const bool like_null =
      value[0] == '"' && letter != value.npos && value.substr(letter) == "NULL\"";
  if (value == null_value()) {
    out += "null";
  } else if (like_null) {
    out += '"' + value.substr(3);  // Without a backslash, which JSON writes as two.
  } else {
    out += value;
  }
  return out + '}';
}

std::optional<std::string> text_of_binary(Oid type, std::string_view bytes) {
  if (is_integer(type)) {
    if (bytes.size() != 2 && bytes.size() != 4 && bytes.size() != 8) return std::nullopt;
    std::uint64_t bits = 0;
    for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
    if (type == kOid) return std::to_string(bits);
    if (bytes.size() == 2) return std::to_string(static_cast<std::int16_t>(bits));
    if (bytes.size() == 4) return std::to_string(static_cast<std::int32_t>(bits));
    return std::to_string(static_cast<std::int64_t>(bits));
  }
  if (type == kBool && bytes.size() == 1) return bytes[0] != 0 ? "t" : "f";
  if (type == kUuid && bytes.size() == 16) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
      out += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
    }
    return out;
  }
  const bool as_text = type == kText || type == kVarchar || type == kBpchar || type == kName ||
                       type == kJson || type == kEnumeration;
  if (as_text) return std::string(bytes);
  return std::nullopt;
}

std::optional<std::string> key_part(Oid type, std::string_view text) {
  if (is_integer(type)) return value_of_text(type, text);
  if (type == kUuid) {
    std::string digits;
    for (const char c : text) {
      if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
        digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    if (digits.size() != 32) return std::nullopt;
    for (const std::size_t at : {8, 13, 18, 23}) digits.insert(at, "-");
    return digits;
  }
  if (type == kText || type == kVarchar || type == kEnumeration) return std::string(text);
  return std::nullopt;
}

std::string row_name(std::string_view schema, std::string_view table,
                     std::span<const std::string> key) {
  std::string out;
  if (schema != "public") out = escaped(schema, "/.") + '.';
  out += escaped(table, "/.") + '/';
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i > 0) out += ',';
    out += escaped(key[i], ",");
  }
  return out;
}

std::string cell_name(std::string_view row, std::string_view column) {
  return std::string(row) + '.' + escaped(column, ".");
}

}  // namespace ouro::tapping
