#include "stream/segment_keys.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ouro::segments {
namespace {

// Texts of rows: for each cell, in the order of the columns' names: the name, the handle of the
// value (of what is in a pool only its kind), and what is in the pool.
void put(std::string& out, std::string_view text) {
  const std::uint64_t size = text.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(text);
}

std::string_view take(std::string_view& in) {
  std::uint64_t size = 0;
  std::memcpy(&size, in.data(), sizeof size);
  const std::string_view text = in.substr(sizeof size, size);
  in.remove_prefix(sizeof size + size);
  return text;
}

std::uint64_t bits_of(Value value) {
  return is_pooled_text(value.kind()) || value.kind() == ValueKind::Row
             ? Value::from(value.kind(), 0).bits()
             : value.bits();
}

std::string row_text(const History& history, Value row) {
  std::vector<std::pair<std::string_view, Value>> cells;
  for (const Cell& cell : history.row(row)) {
    cells.emplace_back(history.column_name(cell.column), cell.value);
  }
  std::sort(cells.begin(), cells.end());
  std::string text;
  for (const auto& [name, value] : cells) {
    put(text, name);
    const std::uint64_t bits = bits_of(value);
    text.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    put(text, is_pooled_text(value.kind()) ? history.string(value) : std::string_view());
  }
  return text;
}

double to_double(std::string_view digits) {
  return std::strtod(std::string(digits).c_str(), nullptr);
}

Value scalar_in(HistoryBuilder& builder, std::uint64_t bits, std::string_view text) {
  const Value value = Value::from_bits(bits);
  switch (value.kind()) {
    case ValueKind::Text:
      return builder.text(text);
    case ValueKind::Wide:
    case ValueKind::Decimal:
      return builder.decimal(text);
    case ValueKind::Float:
      return builder.floating(to_double(text));
    default:
      return value;
  }
}

}  // namespace

KeptValue::KeptValue(const History& history, Value value) : bits_(bits_of(value)) {
  if (is_pooled_text(value.kind())) {
    text_ = std::make_shared<const std::string>(history.string(value));
  } else if (value.kind() == ValueKind::Row) {
    text_ = std::make_shared<const std::string>(row_text(history, value));
  }
}

Value KeptValue::in(HistoryBuilder& builder) const {
  if (text_ == nullptr) return Value::from_bits(bits_);
  if (Value::from_bits(bits_).kind() != ValueKind::Row) return scalar_in(builder, bits_, *text_);
  std::vector<HistoryBuilder::NamedCell> cells;
  for (std::string_view rest = *text_; !rest.empty();) {
    const std::string_view name = take(rest);
    std::uint64_t bits = 0;
    std::memcpy(&bits, rest.data(), sizeof bits);
    rest.remove_prefix(sizeof bits);
    cells.emplace_back(name, scalar_in(builder, bits, take(rest)));
  }
  return builder.row(cells);
}

std::pair<KeyNumber, bool> SegmentKeys::find_or_add(const History& history, KeyId key) {
  const Value name = history.key_name(key);
  const auto next = static_cast<KeyNumber>(states_.size());
  const auto [number, added] = [&]() -> std::pair<KeyNumber, bool> {
    if (name.kind() == ValueKind::Integer) {
      const auto [at, is_new] = integers_.try_emplace(name.number(), next);
      return {at->second, is_new};
    }
    const auto [at, is_new] = texts_.try_emplace(history.text(name), next);
    return {at->second, is_new};
  }();
  if (added) {
    states_.push_back(forgotten_
                          ? SegmentKey{}
                          : SegmentKey{.kind = SegmentKey::Kind::Known, .value = initial_});
  }
  return {number, added};
}

KeyNumber SegmentKeys::number(const History& history, KeyId key) {
  return find_or_add(history, key).first;
}

bool SegmentKeys::initial(const History& history, KeyId key) {
  KeptValue value(history, history.initial(key));
  const auto [number, added] = find_or_add(history, key);
  if (forgotten_) return true;
  SegmentKey& state = states_[number];
  if (!added) return state.kind == SegmentKey::Kind::Known && state.value == value;
  state.value = std::move(value);
  return true;
}

void SegmentKeys::forget() {
  forgotten_ = true;
  std::fill(states_.begin(), states_.end(), SegmentKey{});
}

}  // namespace ouro::segments
