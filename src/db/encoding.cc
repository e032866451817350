#include "db/encoding.h"

#include <algorithm>
#include <cstring>

namespace ouro::db {
namespace {

constexpr std::size_t kWidth = 8;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

}  // namespace

std::string encode_key(Key key) {
  std::string bytes(kWidth, '\0');
  std::uint64_t rest = static_cast<std::uint64_t>(key) ^ kSign;
  for (std::size_t i = kWidth; i-- > 0; rest >>= 8) bytes[i] = static_cast<char>(rest & 0xff);
  return bytes;
}

Key decode_key(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes.substr(0, kWidth)) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<Key>(value ^ kSign);
}

std::string encode_number(Number number) {
  std::string bytes(kWidth, '\0');
  std::memcpy(bytes.data(), &number, kWidth);
  return bytes;
}

Number decode_number(std::string_view bytes) {
  Number number = 0;
  std::memcpy(&number, bytes.data(), std::min(kWidth, bytes.size()));
  return number;
}

void decode_numbers(std::string_view bytes, std::vector<Number>& numbers) {
  for (; bytes.size() >= kWidth; bytes.remove_prefix(kWidth)) {
    numbers.push_back(decode_number(bytes));
  }
}

std::string encode_row(const Row& row) {
  std::string bytes;
  for (const Number cell : row) bytes += encode_number(cell);
  return bytes;
}

Row decode_row(std::string_view bytes) {
  Row row{};
  for (Number& cell : row) {
    cell = decode_number(bytes);
    bytes.remove_prefix(std::min(kWidth, bytes.size()));
  }
  return row;
}

bool matches(const Where& where, const Row& row) {
  return std::all_of(where.begin(), where.end(), [&](const ColumnRange& range) {
    return row[range.column] >= range.lower && row[range.column] <= range.upper;
  });
}

std::optional<Number> aggregate(AggregateKind kind, std::size_t column,
                                std::span<const KeyRow> rows) {
  if (kind == AggregateKind::Count) return static_cast<Number>(rows.size());
  std::optional<Number> result;
  for (const KeyRow& row : rows) {
    const Number cell = row.row[column];
    if (!result) {
      result = cell;
    } else if (kind == AggregateKind::Sum) {
      *result += cell;
    } else {
      result = kind == AggregateKind::Min ? std::min(*result, cell) : std::max(*result, cell);
    }
  }
  return result;
}

Row assigned(Row row, std::span<const Assignment> assignments) {
  for (const Assignment& assignment : assignments) row[assignment.column] = assignment.number;
  return row;
}

}  // namespace ouro::db
