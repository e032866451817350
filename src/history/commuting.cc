#include "history/commuting.h"

#include <algorithm>
#include <charconv>

#include "history/access.h"
#include "history/columns.h"
#include "history/decimal.h"
#include "history/json_text.h"
#include "history/undone.h"

namespace ouro {
namespace {

bool is_plain_name(std::string_view name) {
  const bool number = !name.empty() && name.find_first_not_of("-0123456789") == name.npos;
  return !name.empty() && !number && name.find('"') == name.npos &&
         name.find(kHasElement) == name.npos;
}

}  // namespace

std::optional<CounterRow> counter_row(const History& history, Value value) {
  if (value.kind() != ValueKind::Row) return std::nullopt;
  CounterRow out{Value::unobserved(), Value::unobserved()};
  const auto cells = history.row(value);
  if (cells.size() != 2) return std::nullopt;
  for (const Cell& cell : cells) {
    if (history.column_name(cell.column) == kCounterColumn) out.counter = cell.value;
    if (history.column_name(cell.column) == kDeltaColumn) out.delta = cell.value;
  }
  if (out.counter.is_unobserved() || !is_exact_number(out.delta.kind())) return std::nullopt;
  return out;
}

namespace {

bool is_hidden_key(const History& history, KeyId key) {
  if (!key.valid() || history.key_name(key).kind() != ValueKind::Text) return false;
  return is_hidden(history.string(history.key_name(key)));
}

}  // namespace

std::optional<CounterRow> incremented_row(const History& history, const Op& op) {
  const bool row = op.kind == OpKind::Inc || op.kind == OpKind::UndoneWrite;
  return row && is_hidden_key(history, op.key) ? counter_row(history, op.value) : std::nullopt;
}

std::string_view added_set(const History& history, const Op& op) {
  const bool row = op.kind == OpKind::Add || op.kind == OpKind::UndoneWrite;
  return row ? set_of(history, history.key_name(op.key)) : std::string_view();
}

namespace {

Decimal exact(const History& history, Value number) {
  if (number.kind() == ValueKind::Integer) return number.number();
  return Decimal::of(history.string(number));
}

}  // namespace

std::string increment_text(const History& history, const Op& op) {
  const Decimal all = exact(history, counter_row(history, op.value)->delta);
  for (OpId id = op.id; id > history.first_op(history.txn_of(op.id));) {
    const Op before = history.op(OpId{--id.value});
    const bool row = before.kind == OpKind::Inc || is_undone(before.kind);
    if (!row || before.key != op.key || !is_own_write(history, before, op.id)) continue;
    const auto earlier = counter_row(history, before.value);
    return (earlier ? all - exact(history, earlier->delta) : all).text();
  }
  return all.text();
}

std::optional<std::int64_t> increment(const History& history, const Op& op) {
  const std::string text = increment_text(history, op);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint32_t places_behind_point(ValueKind kind, std::string_view digits) {
  const std::size_t point = kind == ValueKind::Decimal ? digits.find('.') : digits.npos;
  return point == digits.npos ? 0 : static_cast<std::uint32_t>(digits.size() - point - 1);
}

std::optional<std::int64_t> in_units(Value number, std::string_view digits, std::uint32_t places) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  constexpr std::uint32_t kMostPlaces = 18;  // With more, no number but zero is below 2^59.
  std::string text =
      number.kind() == ValueKind::Integer ? std::to_string(number.number()) : std::string(digits);
  const std::uint32_t known = places_behind_point(number.kind(), text);
  std::erase(text, '.');
  if (places - known > kMostPlaces) return std::nullopt;
  text.append(places - known, '0');
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out <= -kMost || out >= kMost) return std::nullopt;
  return out;
}

CounterUnits::CounterUnits(const History& history) : h_(history) {
  for (const KeyVersion& entry : columns_of(h_).key_initial) {
    if (const auto row = counter_row(h_, entry.value)) note(row->delta);
  }
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const Op op = h_.op(OpId{i});
    if (is_predicate_read(op.kind)) {
      const PredicateRead& read = h_.predicate_read(op.id);
      if (!counter_read(h_, op.kind, read).is_null()) note(read.result);
    } else if (const auto row = counter_row(h_, op.value)) {
      note(row->delta);
    }
  }
}

void CounterUnits::note(Value number) {
  if (number.kind() != ValueKind::Decimal) return;
  places_ = std::max(places_, places_behind_point(number.kind(), h_.string(number)));
}

std::int64_t CounterUnits::of(Value number) const {
  if (places_ == 0 && number.kind() == ValueKind::Integer) return number.number();
  const bool small = number.kind() == ValueKind::Integer;
  return in_units(number, small ? std::string_view() : h_.string(number), places_).value_or(0);
}

Value counter_read(const History& history, OpKind kind, const PredicateRead& read) {
  if (kind != OpKind::Aggregate || read.aggregate != AggregateKind::Sum || !read.column.valid() ||
      history.column_name(read.column) != kDeltaColumn) {
    return Value::null();
  }
  const PredicateNode& node = history.predicate(read.predicate);
  if (node.kind != PredicateKind::Eq || !node.column.valid() ||
      history.column_name(node.column) != kCounterColumn) {
    return Value::null();
  }
  return history.operands(node)[0];
}

bool has_balances(const History& history) {
  const auto remarks = history.remarks();
  return std::any_of(remarks.begin(), remarks.end(), [](const Remark& remark) {
    return remark.name == "model" && remark.text == "bank";
  });
}

std::optional<std::int64_t> number_read(const History& history, const Op& op) {
  Value result = op.value;
  if (op.kind == OpKind::Aggregate) {
    const PredicateRead& read = history.predicate_read(op.id);
    if (counter_read(history, op.kind, read).is_null()) return std::nullopt;
    result = read.result;
  } else if (op.kind != OpKind::Read) {
    return std::nullopt;
  }
  if (result.kind() != ValueKind::Integer) return std::nullopt;
  return result.number();
}

std::string set_text(bool is_text, std::string_view name) {
  if (!is_text || is_plain_name(name)) return std::string(name);
  std::string out;
  append_json_string(out, name);
  return out;
}

bool has_untold_keys(const History& history, OpId read) {
  const OpKind kind = history.op(read).kind;
  if (!is_predicate_read(kind)) return false;
  const PredicateRead& details = history.predicate_read(read);
  return has_condition(kind) ? counter_read(history, kind, details).is_null()
                             : !details.has_version_set;
}

bool has_untold_keys(const History& history) {
  if (!history.has_predicate_reads()) return false;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    if (has_untold_keys(history, OpId{i})) return true;
  }
  return false;
}

std::string set_lower(std::string_view set_text) {
  return std::string(kHidden) + std::string(set_text) + std::string(kHasElement);
}

// Elements are JSON, which never begins with the last character of Unicode.
std::string set_upper(std::string_view set_text) {
  return set_lower(set_text) + "\xf4\x8f\xbf\xbf";
}

std::string_view set_of(std::string_view name) {
  if (!is_hidden(name)) return {};
  name = shown_name(name);
  std::size_t from = 0;
  if (!name.empty() && name[0] == '"') {
    for (from = 1; from < name.size() && name[from] != '"'; ++from) {
      if (name[from] == '\\') ++from;
    }
  }
  const std::size_t end = name.find(kHasElement, std::min(from, name.size()));
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
}

std::string_view set_of(const History& history, Value name) {
  return name.kind() == ValueKind::Text ? set_of(history.string(name)) : std::string_view();
}

std::string_view set_read(const History& history, OpKind kind, const PredicateRead& read) {
  if (kind != OpKind::Scan || read.lower.kind() != ValueKind::Text) return {};
  const std::string_view lower = history.string(read.lower);
  return lower.ends_with(kHasElement) ? set_of(lower) : std::string_view();
}

bool is_hidden(std::string_view name) { return name.starts_with(kHidden); }

std::string_view shown_name(std::string_view name) {
  while (is_hidden(name)) name.remove_prefix(kHidden.size());
  return name;
}

std::size_t named_keys(const History& history) {
  std::size_t out = 0;
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    const Value name = history.key_name(KeyId{k});
    out += name.kind() == ValueKind::Text && is_hidden(history.string(name)) ? 0 : 1;
  }
  return out;
}

Value shown_upper(const History& history, const PredicateRead& read) {
  const bool open = read.upper.kind() == ValueKind::Text && history.string(read.upper) == kHidden;
  return open ? Value::null() : read.upper;
}

PredicateId shown_condition(const History& history, PredicateId condition) {
  const PredicateNode& both = history.predicate(condition);
  if (both.kind != PredicateKind::And || history.children(both).size() != 2) return condition;
  const PredicateNode& named = history.predicate(PredicateId{history.children(both)[1]});
  if (named.kind != PredicateKind::Or || history.children(named).empty()) return condition;
  const PredicateNode& last = history.predicate(PredicateId{history.children(named).back()});
  if (last.kind != PredicateKind::Lt || last.column.valid()) return condition;
  const Value bound = history.operands(last)[0];
  const bool hides = bound.kind() == ValueKind::Text && history.string(bound) == kHidden;
  return hides ? PredicateId{history.children(both)[0]} : condition;
}

std::string set_json(std::string_view set_text) {
  const bool number = set_text.find_first_not_of("-0123456789") == set_text.npos;
  if (number || set_text.starts_with('"')) return std::string(set_text);
  std::string out;
  append_json_string(out, set_text);
  return out;
}

std::vector<bool> parts_of_counters_and_sets(const History& history) {
  std::vector<bool> out(history.key_count(), false);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Value name = history.key_name(KeyId{k});
    out[k] = name.kind() == ValueKind::Text && is_hidden(history.string(name));
  }
  return out;
}

}  // namespace ouro
