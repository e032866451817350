// HistoryBuilder::lower(): turns counters and sets into rows; commuting.h says how.

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "history/commuting.h"
#include "history/decimal.h"
#include "history/json_text.h"
#include "history/storage.h"

namespace ouro {

// Rewrites the operations of a builder, one after the other.
class HistoryBuilder::Lowering {
 public:
  explicit Lowering(HistoryBuilder& builder) : b_(builder), s_(*builder.storage_) {}

  Status run() {
    find_names();
    if (counters_.empty() && sets_.empty()) return {};
    if (s_.default_initial.is_list()) return {};
    hide_from_other_reads();
    find_places();
    for (auto& [key, counter] : counters_) {
      if (auto status = begin(key, counter); !status.ok()) return status;
    }
    Column<OpKind> kinds = std::exchange(s_.op_kind, {});
    Column<KeyId> keys = std::exchange(s_.op_key, {});
    Column<Value> values = std::exchange(s_.op_value, {});
    Column<std::uint32_t> lines = std::exchange(s_.op_line, {});
    Column<std::uint32_t> parts = std::exchange(s_.op_part, {});
    std::size_t op = 0;
    for (txn_ = 0; txn_ < s_.txn_first_op.size(); ++txn_) {
      const std::size_t end =
          txn_ + 1 < s_.txn_first_op.size() ? s_.txn_first_op[txn_ + 1] : kinds.size();
      s_.txn_first_op[txn_] = static_cast<std::uint32_t>(s_.op_kind.size());
      for (; op < end; ++op) {
        line_ = lines.empty() ? 0 : lines[op];
        const std::uint32_t part = parts.empty() ? 0 : parts[op];
        part_ = part;
        const std::size_t first = s_.op_kind.size();
        if (auto status = rewrite(kinds[op], keys[op], values[op]); !status.ok()) return status;
        if (parts.empty()) continue;
        while (s_.op_part.size() < s_.op_kind.size()) s_.op_part.push_back(0);
        for (std::size_t i = first; i < s_.op_kind.size(); ++i) s_.op_part[i] = part;
      }
    }
    clear_initials();
    return {};
  }

 private:
  struct Share {             // One of them.
    std::uint32_t part = 0;  // The undone part that it is in.
    std::int64_t delta = 0;
  };
  struct Counter {
    std::int64_t rows = 0;
    PredicateId predicate;
    KeyId mark;  // What an increment writes besides its row.
    // The row of the last transaction that incremented it, and what that has added so far.
    std::size_t txn = ~std::size_t{0};
    KeyId row;
    std::vector<Share> shares;  // In units of places_, as all numbers here.
  };

  [[nodiscard]] bool is_raw(std::size_t op, OpKind kind) const {
    if (s_.op_kind[op] != kind) return false;
    return kind == OpKind::Inc ? s_.op_value[op].kind() != ValueKind::Row
                               : set_name(s_.op_key[op]).empty();
  }
  // The set that a key is the row of an element of; "" if it is none.
  [[nodiscard]] std::string_view set_name(KeyId key) const {
    const Value name = s_.key_name[key.index()];
    return name.kind() == ValueKind::Text ? set_of(s_.string(name)) : std::string_view();
  }
  [[nodiscard]] std::string text_of(Value name) const {
    return name.kind() == ValueKind::Integer
               ? std::to_string(name.number())
               : set_text(name.kind() == ValueKind::Text, s_.string(name));
  }

  void find_names() {
    for (std::size_t i = 0; i < s_.op_kind.size(); ++i) {
      if (is_raw(i, OpKind::Inc)) counters_[s_.op_key[i]];
      if (is_raw(i, OpKind::Add)) sets_[s_.op_key[i]] = text_of(s_.key_name[s_.op_key[i].index()]);
    }
    absl::flat_hash_map<std::string, bool> scanned;
    for (const PredicateRead& read : s_.predicate_reads) {
      if (read.lower.kind() != ValueKind::Text) continue;
      const std::string_view lower = s_.string(read.lower);
      if (lower.ends_with(kHasElement)) scanned[std::string(set_of(lower))] = true;
    }
    if (scanned.empty()) return;
    for (std::size_t k = 0; k < s_.key_name.size(); ++k) {
      std::string text = text_of(s_.key_name[k]);
      if (scanned.contains(text)) sets_.try_emplace(KeyId{k}, std::move(text));
    }
  }

  [[nodiscard]] Error error(std::string what) const {
    return s_.error_about(std::min(txn_, s_.txn_session.size() - 1), std::move(what));
  }
  [[nodiscard]] std::string label(KeyId key) const { return text_of(s_.key_name[key.index()]); }

  // Makes the row of what a counter was at the start.
  Status begin(KeyId key, Counter& counter) {
    const auto own = b_.interner_->initial.find(key);
    Value initial = own == b_.interner_->initial.end() ? s_.default_initial : own->second;
    if (initial.is_null()) initial = Value::small(0);
    if (!units(initial)) {
      return error(fmt::format(
          "{} is a counter, so its initial value must be a number, and not too large", label(key)));
    }
    if (sets_.contains(key)) {
      return error(
          fmt::format("{} is used as a counter and as a set; use other keys for the one "
                      "or the other",
                      label(key)));
    }
    const Value name = s_.key_name[key.index()];
    counter.predicate =
        b_.compare(PredicateKind::Eq, b_.column(kCounterColumn), std::span(&name, 1));
    b_.initial(row_key(key, counter), row(key, initial));
    counter.mark = hidden_key(std::string(kHidden) + label(key));
    return {};
  }

  KeyId hidden_key(const std::string& name) { return b_.key(std::string(kHidden) + name); }

  // Makes the rows of counters and sets no rows to the predicate reads of the input.
  void hide_from_other_reads() {
    if (s_.predicate_reads.empty()) return;
    const Value end = b_.text(kHidden);
    const PredicateId named = named_keys(end);
    for (PredicateRead& read : s_.predicate_reads) {
      if (read.predicate.valid()) {
        if (is_lowered(read.predicate)) continue;
        const PredicateId both[] = {read.predicate, named};
        read.predicate = b_.combine(PredicateKind::And, both);
      } else if (read.upper.is_null()) {
        read.upper = end;
      }
    }
  }
  // Whether a condition is of a read of a counter, or asks for a key before kHidden already.
  [[nodiscard]] bool is_lowered(PredicateId condition) const {
    const auto node = [&](PredicateId id) { return s_.predicate_nodes[id.index()]; };
    const auto last = [&](const PredicateNode& n) {
      return node(PredicateId{s_.predicate_children[n.first + n.count - 1]});
    };
    const PredicateNode top = node(condition);
    if (top.kind == PredicateKind::Eq && top.column.valid()) {
      return s_.string(s_.column_name[top.column.index()]) == kCounterColumn;
    }
    if (top.kind != PredicateKind::And || top.count != 2) return false;
    const PredicateNode named = last(top);
    if (named.kind != PredicateKind::Or || named.count == 0) return false;
    const PredicateNode before = last(named);
    if (before.kind != PredicateKind::Lt || before.column.valid()) return false;
    const Value bound = s_.predicate_operands[before.first];
    return bound.kind() == ValueKind::Text && s_.string(bound) == kHidden;
  }
  // True of the keys before `end`, and of all that are numbers: a number is no less than a text.
  PredicateId named_keys(Value end) {
    const Value zero = Value::small(0);
    const PredicateId either[] = {
        b_.compare(PredicateKind::Lt, {}, std::span(&zero, 1)),
        b_.compare(PredicateKind::Ge, {}, std::span(&zero, 1)),
        b_.compare(PredicateKind::Lt, {}, std::span(&end, 1)),
    };
    return b_.combine(PredicateKind::Or, either);
  }

  // A new key for a row of a counter.
  KeyId row_key(KeyId key, Counter& counter) {
    for (std::string plus = "+";; plus += '+') {
      const std::size_t before = s_.key_name.size();
      const KeyId made = hidden_key(label(key) + plus + std::to_string(counter.rows));
      if (made.index() < before) continue;  // A key of the input is called so.
      ++counter.rows;
      return made;
    }
  }
  Value row(KeyId key, Value delta) {
    const NamedCell cells[] = {{kCounterColumn, s_.key_name[key.index()]}, {kDeltaColumn, delta}};
    return b_.row(cells);
  }

  Status rewrite(OpKind kind, KeyId key, Value value) {
    if (key.valid()) {
      if (const auto found = counters_.find(key); found != counters_.end()) {
        return on_counter(kind, key, found->second, value);
      }
      if (const auto found = sets_.find(key); found != sets_.end()) {
        return on_set(kind, key, found->second, value);
      }
    }
    b_.add_op(kind, key, value, line_);
    return {};
  }

  // Finds places_, the most digits behind the point that a number of a counter has.
  void find_places() {
    const auto note = [&](Value value) {
      if (value.kind() != ValueKind::Decimal) return;
      places_ = std::max(places_, places_behind_point(value.kind(), s_.string(value)));
    };
    note(s_.default_initial);
    for (const auto& [key, initial] : b_.interner_->initial) {
      if (counters_.contains(key)) note(initial);
    }
    for (std::size_t i = 0; i < s_.op_kind.size(); ++i) {
      if (s_.op_value[i].kind() == ValueKind::Decimal && counters_.contains(s_.op_key[i])) {
        note(s_.op_value[i]);
      }
    }
  }
  // An exact number as an integer; nothing if it is another value, or too large.
  [[nodiscard]] std::optional<std::int64_t> units(Value value) const {
    if (!is_exact_number(value.kind())) return std::nullopt;
    if (places_ == 0 && value.kind() == ValueKind::Integer) return value.number();
    const bool small = value.kind() == ValueKind::Integer;
    return in_units(value, small ? std::string_view() : s_.string(value), places_);
  }
  // The other way round.
  [[nodiscard]] Value number(std::int64_t units) {
    if (places_ == 0) return Value::small(units);
    const std::string unit = Decimal::unit(places_).text();
    return b_.decimal((Decimal(units) * Decimal::of(unit)).text());
  }
  static constexpr std::int64_t kTooLarge = std::int64_t{1} << 61;

  // What the transaction at hand has added to a counter, of what its part sees; nothing if that is
  // too large.
  [[nodiscard]] std::optional<std::int64_t> added(const Counter& counter) const {
    std::int64_t sum = 0;
    for (const Share& share : counter.shares) {
      std::uint32_t part = part_;
      while (part > share.part) part = s_.outer_part[part - 1];
      if (part != share.part) continue;
      sum += share.delta;  // Neither is near the end of 64 bits.
      if (!Value::fits(sum)) return std::nullopt;
    }
    return sum;
  }

  Status on_counter(OpKind kind, KeyId key, Counter& counter, Value value) {
    if (kind == OpKind::Inc) {
      if (counter.txn != txn_) {
        counter.row = row_key(key, counter);
        counter.txn = txn_;
        counter.shares.clear();
      }
      counter.shares.push_back({part_, units(value).value_or(kTooLarge)});
      const auto delta = added(counter);
      if (!delta) return error(fmt::format("the increments of {} are too large", label(key)));
      const Value made = row(key, number(*delta));
      b_.add_op(part_ == 0 ? OpKind::Inc : OpKind::UndoneWrite, counter.row, made, line_);
      if (part_ != 0) return {};
      b_.add_op(OpKind::IncMark, counter.mark, Value::small(counter.rows), line_);
      return {};
    }
    if (kind != OpKind::Read) {
      return error(
          fmt::format("{} is a counter, so it can be incremented and read, and nothing "
                      "else; use another key",
                      label(key)));
    }
    if (value.is_null()) value = Value::small(0);
    if (!value.is_unobserved() && !units(value)) {
      return error(
          fmt::format("{} is a counter, so a read of it returns a number, which is not too "
                      "large",
                      label(key)));
    }
    b_.aggregate(AggregateKind::Sum, b_.column(kDeltaColumn), counter.predicate, value, {});
    if (!s_.op_line.empty()) s_.op_line.back() = line_;
    return {};
  }

  Status on_set(OpKind kind, KeyId key, const std::string& set, Value value) {
    if (kind == OpKind::Add) {
      const std::string name = set_lower(set) + json(value);
      b_.add_op(part_ == 0 ? OpKind::Add : OpKind::UndoneWrite, b_.key(name), value, line_);
      return {};
    }
    if (kind == OpKind::Read && value.is_unobserved()) return {};
    if (kind == OpKind::Read && value.is_null()) {
      b_.scan(b_.text(set_lower(set)), b_.text(set_upper(set)), {});
      if (!s_.op_line.empty()) s_.op_line.back() = line_;
      return {};
    }
    return error(
        fmt::format("{} is a set, so elements can be added to it, and it can be read like "
                    "[\"r\",\"s\",{{\"set\":[1,2]}}], and nothing else; use another key",
                    label(key)));
  }

  [[nodiscard]] std::string json(Value element) const { return b_.element_json(element); }

  // Rows of counters and sets are absent at first, whatever other keys are; and counters and sets
  // themselves are no rows.
  void clear_initials() {
    auto& initial = b_.interner_->initial;
    const bool given = !s_.default_initial.is_null();
    for (const auto& [key, counter] : counters_) {
      if (given || initial.contains(key)) initial[key] = Value::null();
    }
    if (!given) return;
    for (const auto& [key, set] : sets_) initial[key] = Value::null();
    for (std::size_t k = 0; k < s_.key_name.size(); ++k) {
      const Value name = s_.key_name[k];
      if (name.kind() != ValueKind::Text || !is_hidden(s_.string(name))) continue;
      initial.try_emplace(KeyId{k}, Value::null());
    }
  }

  HistoryBuilder& b_;
  Storage& s_;
  absl::flat_hash_map<KeyId, Counter> counters_;
  absl::flat_hash_map<KeyId, std::string> sets_;  // Their set_text().
  std::uint32_t places_ = 0;
  std::size_t txn_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t part_ = 0;  // Of the operation at hand.
};

Status HistoryBuilder::lower() { return Lowering(*this).run(); }

std::string HistoryBuilder::element_json(Value element) const {
  if (element.kind() == ValueKind::Integer) return std::to_string(element.number());
  std::string out;
  if (element.kind() == ValueKind::Text) {
    append_json_string(out, storage_->string(element));
  } else {
    out = storage_->string(element);  // Wide: its digits.
  }
  return out;
}

OpId HistoryBuilder::inc(KeyId counter, Value delta, std::uint32_t line) {
  return add_op(OpKind::Inc, counter, delta, line);
}

OpId HistoryBuilder::add_element(KeyId set, Value element, std::uint32_t line) {
  return add_op(OpKind::Add, set, element, line);
}

OpId HistoryBuilder::read_set(KeyId set, std::span<const Value> elements) {
  const Value name = storage_->key_name[set.index()];
  const std::string text = name.kind() == ValueKind::Integer
                               ? std::to_string(name.number())
                               : set_text(name.kind() == ValueKind::Text, storage_->string(name));
  std::vector<KeyVersion> rows;
  rows.reserve(elements.size());
  for (const Value element : elements) {
    rows.push_back({key(set_lower(text) + element_json(element)), element});
  }
  return scan(this->text(set_lower(text)), this->text(set_upper(text)), {.rows = rows});
}

}  // namespace ouro
