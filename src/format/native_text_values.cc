// The part of NativeLineParser that parses values, rows and predicates.

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "format/binary_validation.h"
#include "format/native_text_line.h"

namespace ouro {
namespace {

// The operator that `word` names; PredicateKind::True if it names none.
PredicateKind predicate_kind(std::string_view word) {
  for (const PredicateInfo& row : kPredicateInfos) {
    if (row.word == word) return row.kind;
  }
  return PredicateKind::True;
}

}  // namespace

// ---- values ----

bool NativeLineParser::scalar(const Token& token, Value& out) {
  if (token.kind == TokenKind::Integer && Value::fits(token.number)) [[likely]] {
    out = Value::small(token.number);
    return true;
  }
  return odd_scalar(token, out);
}

bool NativeLineParser::odd_scalar(const Token& token, Value& out) {
  switch (token.kind) {
    case TokenKind::Nil:
      out = Value::null();
      return true;
    case TokenKind::String:
      out = b_.text(token.text);
      return true;
    case TokenKind::Integer:
      out = b_.integer(token.number);
      return true;
    case TokenKind::Number: {
      std::uint64_t large = 0;
      const char* last = token.text.data() + token.text.size();
      const auto [stop, code] = std::from_chars(token.text.data(), last, large);
      if (code != std::errc{} || stop != last) {
        return expected("an integer of at most 64 bits; write other numbers as strings");
      }
      out = b_.unsigned_integer(large);
      return true;
    }
    default:
      return expected("an integer, a string or null");
  }
}

bool NativeLineParser::name(const Token& token, Value& out) {
  return scalar(token, out) && (!out.is_null() || fail("expected a name: an integer or a string"));
}

bool NativeLineParser::value(Token& token, Value& out) {
  return token.kind == TokenKind::OpenMap ? row(token, out) : scalar(token, out);
}

bool NativeLineParser::row(Token& token, Value& out) {
  std::size_t count = 0;
  cells_.clear();
  for (;; ++count) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) break;
    for (std::size_t i = 0; i < count; ++i) {
      if (column_names_[i] == token.text) {
        return fail(fmt::format("column '{}' appears twice", token.text));
      }
    }
    if (count == column_names_.size()) column_names_.emplace_back();
    column_names_[count] = token.text;
    Value cell;
    if (!next(token) || !scalar(token, cell)) return false;
    cells_.emplace_back(std::string_view(), cell);
  }
  for (std::size_t i = 0; i < count; ++i) cells_[i].first = column_names_[i];
  out = b_.row(cells_);
  return true;
}

bool NativeLineParser::list(Token& token, std::vector<Value>& out) {
  out.clear();
  if (token.kind != TokenKind::OpenList) return expected("a list");
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    Value element;
    if (!value(token, element)) return false;
    out.push_back(element);
  }
}

bool NativeLineParser::key_versions(Token& token, std::vector<KeyVersion>& out) {
  constexpr std::string_view kExpected = "rows like [[\"k1\",1],[\"k2\",{\"c\":3}]]";
  out.clear();
  if (token.kind != TokenKind::OpenList) return expected(kExpected);
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    if (token.kind != TokenKind::OpenList) return expected(kExpected);
    Value key;
    Value version;
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return expected(kExpected);
    if (!name(token, key) || !next(token)) return false;
    if (token.kind == TokenKind::Close) return expected(kExpected);
    if (!value(token, version) || !next(token)) return false;
    if (token.kind != TokenKind::Close) return expected(kExpected);
    out.push_back({b_.key(key), version});
  }
}

bool NativeLineParser::version_set(Token& token, HistoryBuilder::Rows& rows) {
  if (token.kind != TokenKind::OpenMap) return expected("{\"versions\":[…]}");
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) return true;
    if (token.text != "versions") return fail(fmt::format("unknown field '{}'", token.text));
    if (!next(token) || !key_versions(token, versions_)) return false;
    rows.has_version_set = true;
    rows.version_set = versions_;
  }
}

// ---- predicate reads ----

bool NativeLineParser::predicate_op(std::string_view word, Token& token) {
  // The parts that come after the word, in order.
  enum class Part { Lower, Upper, Kind, Column, Predicate, Result, Rows, VersionSet };
  using enum Part;
  static constexpr Part kScan[] = {Lower, Upper, Rows, VersionSet};
  static constexpr Part kSelect[] = {Predicate, Rows, VersionSet};
  static constexpr Part kAggregate[] = {Kind, Column, Predicate, Result, VersionSet};
  const std::span<const Part> shape = word == "scan"     ? std::span<const Part>(kScan)
                                      : word == "select" ? std::span<const Part>(kSelect)
                                                         : std::span<const Part>(kAggregate);
  Value lower, upper;
  Value result = Value::unobserved();  // If the result of an aggregate is missing.
  AggregateKind kind = AggregateKind::Count;
  ColumnId aggregated;
  PredicateId condition;
  HistoryBuilder::Rows rows;
  rows_.clear();
  const auto read_part = [&](Part part) {
    switch (part) {
      case Lower:
        return scalar(token, lower);
      case Upper:
        return scalar(token, upper);
      case Kind:
        return aggregate_kind(token, kind);
      case Column:
        return token.kind == TokenKind::Nil || column(token, aggregated);
      case Predicate:
        return predicate(token, 0, condition);
      case Result:
        return scalar(token, result);
      case Rows:
        return key_versions(token, rows_);
      default:
        return version_set(token, rows);
    }
  };
  std::size_t count = 0;
  for (;; ++count) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) break;
    if (count >= shape.size()) return fail(fmt::format("too many parts in '{}'", word));
    if (shape[count] == Result && token.kind == TokenKind::OpenMap) ++count;
    if (!read_part(shape[count])) return false;
  }
  const std::size_t least = shape.size() - (word == "aggregate" ? 2 : 1);
  if (count < least) return fail(fmt::format("operation '{}' has too few parts", word));
  rows.rows = rows_;
  if (word == "scan") {
    b_.scan(lower, upper, rows);
  } else if (word == "select") {
    b_.select(condition, rows);
  } else {
    b_.aggregate(kind, aggregated, condition, result, rows);
  }
  return true;
}

bool NativeLineParser::aggregate_kind(const Token& token, AggregateKind& out) {
  if (token.kind != TokenKind::String) return expected("count, sum, min or max");
  const std::string_view word = token.text;
  for (std::size_t i = 0; i < kAggregateKindCount; ++i) {
    out = static_cast<AggregateKind>(i);
    if (ouro::name(out) == word) return true;
  }
  return fail(fmt::format("unknown aggregate '{}'; expected count, sum, min or max", word));
}

// ---- predicates ----

bool NativeLineParser::predicate(Token& token, std::uint32_t depth, PredicateId& out) {
  constexpr std::string_view kExpected =
      "a predicate: true, or one of and, or, not, eq, ne, lt, le, gt, ge, between, in, is_null";
  if (depth >= kMaxPredicateDepth) return fail("the predicate is nested too deeply");
  if (token.kind == TokenKind::True) {
    out = b_.always();
    return true;
  }
  if (token.kind != TokenKind::OpenMap) return expected(kExpected);
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) return expected(kExpected);
  const PredicateKind kind = predicate_kind(token.text);
  if (kind == PredicateKind::True) {
    return fail(fmt::format("unknown operator '{}'; expected {}", token.text, kExpected));
  }
  if (!next(token)) return false;
  const bool combines = info(kind).has_children;
  if (combines ? !combination(kind, token, depth, out) : !comparison(kind, token, out)) {
    return false;
  }
  if (!next(token)) return false;
  return token.kind == TokenKind::Close ||
         fail("a predicate has one operator; use \"and\" for several");
}

bool NativeLineParser::combination(PredicateKind kind, Token& token, std::uint32_t depth,
                                   PredicateId& out) {
  std::vector<PredicateId> children;
  if (kind == PredicateKind::Not) {
    if (!predicate(token, depth + 1, children.emplace_back())) return false;
  } else {
    if (token.kind != TokenKind::OpenList) return expected("a list of predicates");
    for (;;) {
      if (!next(token)) return false;
      if (token.kind == TokenKind::Close) break;
      if (!predicate(token, depth + 1, children.emplace_back())) return false;
    }
  }
  out = b_.combine(kind, children);
  return true;
}

// ["column", operand…], for `in` ["column", [operand…]], for `is_null` the column alone.
bool NativeLineParser::comparison(PredicateKind kind, Token& token, PredicateId& out) {
  ColumnId compared;
  std::vector<Value> operands;
  if (kind == PredicateKind::IsNull) {
    if (!column(token, compared)) return false;
    out = b_.compare(kind, compared, operands);
    return true;
  }
  if (token.kind != TokenKind::OpenList) return expected("[\"column\", value]");
  std::size_t count = 0;
  for (;; ++count) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) break;
    if (count == 0) {
      if (!column(token, compared)) return false;
    } else if (kind == PredicateKind::In) {
      if (count > 1 || !list(token, operands)) return fail("expected [\"column\", [value, …]]");
    } else if (!scalar(token, operands.emplace_back())) {
      return false;
    }
  }
  const std::size_t wanted = kind == PredicateKind::Between ? 3 : 2;
  if (count != wanted) {
    return fail(fmt::format("a comparison needs a column and {} value(s)", wanted - 1));
  }
  out = b_.compare(kind, compared, operands);
  return true;
}

bool NativeLineParser::column(const Token& token, ColumnId& out) {
  if (token.kind != TokenKind::String) return expected("a column's name");
  if (token.text != "@key") out = b_.column(token.text);
  return true;
}

}  // namespace ouro
