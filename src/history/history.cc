#include "ouro/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "history/json_text.h"

namespace ouro {
namespace {

constexpr std::uint32_t kEmptyOffsets[1] = {0};

// The piece of `pool` that ends at end[index] and starts where the one before ends.
template <class T>
std::span<const T> piece(std::span<const T> pool, std::span<const std::uint64_t> end,
                         std::size_t index) {
  const std::uint64_t first = index == 0 ? 0 : end[index - 1];
  return pool.subspan(first, end[index] - first);
}

// Whether a name can stand in a message without quotes.
bool plain(std::string_view name) {
  if (name.empty() || name == "null" || (name[0] >= '0' && name[0] <= '9') || name[0] == '-') {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || c == '/';
  });
}

}  // namespace

std::string Place::to_string() const {
  switch (unit) {
    case PlaceUnit::Line:
      return fmt::format("{}:{}", file, position);
    case PlaceUnit::Byte:
      return fmt::format("{}: byte {}", file, position);
    case PlaceUnit::None:
      break;
  }
  return std::string(file);
}

History::History() {
  c_.txn_first_op = kEmptyOffsets;
  c_.session_first = kEmptyOffsets;
}

History::History(const HistoryColumns& columns, std::shared_ptr<const void> owner)
    : c_(columns), owner_(std::move(owner)) {}

TxnId History::txn_of(OpId op) const {
  const auto after = std::upper_bound(c_.txn_first_op.begin(), c_.txn_first_op.end(), op.value);
  return TxnId{static_cast<std::size_t>(after - c_.txn_first_op.begin() - 1)};
}

Value History::initial(KeyId key) const {
  const auto at =
      std::lower_bound(c_.key_initial.begin(), c_.key_initial.end(), key,
                       [](const KeyVersion& entry, KeyId wanted) { return entry.key < wanted; });
  return at != c_.key_initial.end() && at->key == key ? at->value : c_.default_initial;
}

std::string_view History::string(Value value) const {
  const auto bytes = piece(c_.text_bytes, c_.text_end, value.payload());
  return {bytes.data(), bytes.size()};
}

std::span<const Cell> History::row(Value value) const {
  return piece(c_.cells, c_.row_end, value.payload());
}

std::span<const Value> History::list(Value value) const {
  if (value.length() == 0) return {};
  return piece(c_.elements, c_.trunk_end, value.trunk()).first(value.length());
}

Value History::cell(Value value, ColumnId column) const {
  if (value.kind() != ValueKind::Row) return Value::null();
  const auto cells = row(value);
  const auto at =
      std::lower_bound(cells.begin(), cells.end(), column,
                       [](const Cell& cell, ColumnId wanted) { return cell.column < wanted; });
  return at != cells.end() && at->column == column ? at->value : Value::null();
}

std::string History::text(Value value) const {
  std::string out;
  append_json(out, *this, value);
  return out;
}

std::string History::label(Value name) const {
  if (name.kind() == ValueKind::Text && plain(string(name))) return std::string(string(name));
  return text(name);
}

Place History::place(TxnId txn) const {
  Place place;
  if (!txn.valid() || c_.files.empty()) return place;
  place.file = c_.files[c_.txn_file.empty() ? 0 : c_.txn_file[txn.index()]];
  if (!c_.txn_position.empty()) {
    place.unit = c_.place_unit;
    place.position = c_.txn_position[txn.index()];
  }
  return place;
}

Place History::place(OpId op) const {
  Place place = this->place(txn_of(op));
  if (!c_.op_line.empty()) {
    place.unit = PlaceUnit::Line;
    place.position = c_.op_line[op.index()];
  }
  return place;
}

std::string_view History::file() const {
  return c_.files.empty() ? std::string_view() : std::string_view(c_.files[0]);
}

}  // namespace ouro
