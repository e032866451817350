// The part of NativeLineParser that parses updates and deletes by predicate.
//
// Each becomes a read of the rows that it found, and a write of each of them. If the rows were
// recorded as they were, the read is a select. If only their keys are known, or what became of
// them, it is a count of these rows, that all of them were there, were selected and, of an update,
// were such that the assignments give what was recorded; and a count of the others that the
// predicate selects: none. Each count depends on rows that the other does not depend on, so both
// together say as much as one operation that sees all rows.

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <utility>

#include "format/native_text_line.h"

namespace ouro {

// ["update", predicate, assignments, rows] or ["delete", predicate, rows]
bool NativeLineParser::change_op(std::string_view word, Token& token) {
  const bool update = word == "update";
  const auto part = [&] {
    if (!next(token)) return false;
    return token.kind != TokenKind::Close ||
           fail(fmt::format("operation '{}' has too few parts", word));
  };
  PredicateId condition;
  if (!part() || !predicate(token, 0, condition)) return false;
  assignments_.clear();
  if (update && (!part() || !assignments(token))) return false;
  rows_.clear();
  if (!part()) return false;
  bool known_rows = true;
  if (token.kind == TokenKind::OpenMap) {
    known_rows = false;
    if (!changed_rows(token, update)) return false;
  } else if (token.kind == TokenKind::Integer) {
    if (token.number != 0) {
      return fail(
          update ? "an update that changed rows must tell which; give [[key, row as it was], …] or "
                   "{\"new\":[[key, row as it is], …]} instead of their number"
                 : "a delete that deleted rows must tell which; give [[key, row as it was], …] or "
                   "{\"keys\":[key, …]} instead of their number");
    }
  } else if (!key_versions(token, rows_)) {
    return false;
  }
  if (!fit_for_change(word, update) || !add_changes(update, known_rows, condition)) return false;
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || fail(fmt::format("too many parts in '{}'", word));
}

// {"column": term, …}
bool NativeLineParser::assignments(Token& token) {
  if (token.kind != TokenKind::OpenMap) return expected("assignments like {\"price\":7}");
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) break;
    const std::string name(token.text);
    if (name == "@key" || name == "@float") {
      return fail(fmt::format("'{}' cannot be assigned to", name));
    }
    HistoryBuilder::Assignment one;
    one.column = b_.column(name);
    for (const auto& known : assignments_) {
      if (known.column == one.column) return fail(fmt::format("column '{}' appears twice", name));
    }
    if (!next(token)) return false;
    if (token.kind == TokenKind::String) {  // Here a string is a value, not the name of a column.
      const Value text = b_.text(token.text);
      one.term = b_.compare(PredicateKind::Constant, {}, std::span(&text, 1));
    } else if (!term(token, 0, one.term)) {
      return false;
    }
    assignments_.push_back(one);
  }
  return !assignments_.empty() || fail("an update without assignments");
}

// {"new":[[key, row], …]} of an update, {"keys":[key, …]} of a delete: into rows_.
bool NativeLineParser::changed_rows(Token& token, bool update) {
  const std::string_view wanted = update ? "new" : "keys";
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close || token.text != wanted) {
    return expected(update ? "{\"new\":[[key, row], …]}" : "{\"keys\":[key, …]}");
  }
  if (!next(token)) return false;
  if (update ? !key_versions(token, rows_) : !keys_alone(token)) return false;
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || fail(fmt::format("expected '}}' behind \"{}\"", wanted));
}

bool NativeLineParser::keys_alone(Token& token) {
  if (token.kind != TokenKind::OpenList) return expected("a list of keys");
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    Value key;
    if (!name(token, key)) return false;
    rows_.push_back({b_.key(key), Value::null()});
  }
}

// Whether rows_ can be what one statement changed.
bool NativeLineParser::fit_for_change(std::string_view word, bool update) {
  absl::flat_hash_set<KeyId> keys;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!keys.insert(rows_[i].key).second) {
      return fail(fmt::format("row {} of '{}' has the key of a row before; each is changed once",
                              i + 1, word));
    }
    if (update && rows_[i].value.kind() != ValueKind::Row) {
      return fail(
          fmt::format("row {} of 'update' is no object of columns like {{\"price\":7}}", i + 1));
    }
  }
  return true;
}

bool NativeLineParser::add_changes(bool update, bool known_rows, PredicateId condition) {
  if (known_rows) {
    HistoryBuilder::Rows rows;
    rows.rows = rows_;
    b_.select(condition, rows);
  } else {
    const auto count = [&](PredicateId which, std::size_t number) {
      b_.aggregate(AggregateKind::Count, ColumnId{}, which,
                   Value::small(static_cast<std::int64_t>(number)), {});
    };
    std::vector<KeyId> keys;
    for (const KeyVersion& row : rows_) keys.push_back(row.key);
    std::vector<PredicateId> each;
    for (const KeyVersion& row : rows_) {
      if (update) each.push_back(b_.becomes(condition, row.key, row.value, assignments_));
    }
    if (!rows_.empty()) {
      count(update ? b_.combine(PredicateKind::Or, each) : b_.among(condition, keys), keys.size());
    }
    count(rows_.empty() ? condition : b_.except(condition, keys), 0);
  }
  for (const KeyVersion& row : rows_) {
    if (!update) {
      b_.remove(row.key, Value::null());
    } else if (!known_rows) {
      b_.write(row.key, row.value);
    } else if (const auto now = b_.assigned(row.key, row.value, assignments_)) {
      b_.write(row.key, *now);
    } else {
      return refuse_digits();
    }
  }
  return true;
}

}  // namespace ouro
