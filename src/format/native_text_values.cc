// The part of NativeLineParser that parses values, rows and predicates.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "format/binary_validation.h"
#include "format/native_text_line.h"
#include "history/decimal.h"

namespace ouro {
namespace {

constexpr std::string_view kFloat = "@float";  // Not the name of a column.

// The operator that `word` names; PredicateKind::True if it names none.
PredicateKind predicate_kind(std::string_view word) {
  for (const PredicateInfo& row : kPredicateInfos) {
    if (row.word == word) return row.kind;
  }
  return PredicateKind::True;
}

// Whether the sides of a comparison of this kind may be terms.
bool may_take_terms(PredicateKind plain) {
  return std::any_of(std::begin(kPredicateInfos), std::end(kPredicateInfos),
                     [&](const PredicateInfo& row) { return row.plain == plain; });
}

}  // namespace

// ---- values ----

bool NativeLineParser::scalar(Token& token, Value& out) {
  if (token.kind == TokenKind::Integer && Value::fits(token.number)) [[likely]] {
    out = Value::small(token.number);
    return true;
  }
  return odd_scalar(token, out);
}

bool NativeLineParser::odd_scalar(Token& token, Value& out) {
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
    case TokenKind::Number:
      out = b_.decimal(token.text);
      return !out.is_null() || refuse_digits();
    case TokenKind::True:
    case TokenKind::False:
      out = Value::boolean(token.kind == TokenKind::True);
      return true;
    case TokenKind::OpenMap:
      if (!next(token)) return false;
      if (token.kind != TokenKind::Close && token.text == kFloat) return floating(token, out);
      [[fallthrough]];
    default:
      return expected("a number, a string, true, false, null or {\"@float\":1.5}");
  }
}

bool NativeLineParser::refuse_digits() {
  return fail(
      fmt::format("a number has more than {} digits before or behind the point; write it as "
                  "a string",
                  HistoryBuilder::kMostDigits));
}

// What comes behind {"@float": up to the end of the map.
bool NativeLineParser::floating(Token& token, Value& out) {
  constexpr std::string_view kFloatShape =
      "a floating-point number of 64 bits like {\"@float\":1.5}, or \"NaN\", \"Infinity\" or "
      "\"-Infinity\" in its place";
  if (!next(token)) return false;
  const bool named = token.kind == TokenKind::String && !is_json_number(token.text);
  std::optional<double> number;
  if (token.kind == TokenKind::Integer) number = static_cast<double>(token.number);
  if (token.kind == TokenKind::Number || named) number = parse_float(token.text);
  if (!number) return expected(kFloatShape);
  out = b_.floating(*number);
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || expected(kFloatShape);
}

bool NativeLineParser::name(Token& token, Value& out) {
  if (!scalar(token, out)) return false;
  if (out.kind() == ValueKind::Integer || out.kind() == ValueKind::Text) return true;
  if (out.kind() == ValueKind::Wide && b_.fits_64_bits(out)) return true;
  return fail("expected a name: an integer of at most 64 bits or a string");
}

bool NativeLineParser::value(Token& token, Value& out) {
  return token.kind == TokenKind::OpenMap ? row(token, out) : scalar(token, out);
}

bool NativeLineParser::row(Token& token, Value& out) {
  bool is_set = false;
  if (!row_or_set(token, out, is_set)) return false;
  return !is_set || fail("only a read may have a set");
}

bool NativeLineParser::row_or_set(Token& token, Value& out, bool& is_set) {
  std::size_t count = 0;
  cells_.clear();
  for (;; ++count) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) break;
    if (token.text == kFloat) {
      return count == 0 ? floating(token, out) : fail("a row cannot have a column '@float'");
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (column_names_[i] == token.text) {
        return fail(fmt::format("column '{}' appears twice", token.text));
      }
    }
    if (count == column_names_.size()) column_names_.emplace_back();
    column_names_[count] = token.text;
    Value cell;
    if (!next(token)) return false;
    if (token.kind == TokenKind::OpenList && count == 0 && column_names_[0] == "set") {
      is_set = true;
      if (!list(token, values_) || !next(token)) return false;
      return token.kind == TokenKind::Close || expected("nothing but \"set\" in a set");
    }
    if (!scalar(token, cell)) return false;
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
  return next(token) && versions_of_set(token, rows);
}

// A version set from its first name on.
bool NativeLineParser::versions_of_set(Token& token, HistoryBuilder::Rows& rows) {
  for (;;) {
    if (token.kind == TokenKind::Close) return true;
    if (token.text != "versions") return fail(fmt::format("unknown field '{}'", token.text));
    if (!next(token) || !key_versions(token, versions_)) return false;
    rows.has_version_set = true;
    rows.version_set = versions_;
    if (!next(token)) return false;
  }
}

// A map where the result of an aggregate is expected: a floating-point number, or the version set
// if the result is left out. Moves `part` on in that case.
bool NativeLineParser::result_or_versions(Token& token, Value& result, HistoryBuilder::Rows& rows,
                                          std::size_t& part) {
  if (!next(token)) return false;
  if (token.kind != TokenKind::Close && token.text == kFloat) return floating(token, result);
  ++part;
  return versions_of_set(token, rows);
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
        if (!adds_up(kind) || token.kind != TokenKind::Number) return scalar(token, result);
        result = b_.precise_decimal(token.text);  // Zeros at its end tell how precise it is.
        return !result.is_null() || refuse_digits();
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
    if (shape[count] == Result && token.kind == TokenKind::OpenMap) {
      if (!result_or_versions(token, result, rows, count)) return false;
      continue;
    }
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
  if (token.kind != TokenKind::String) return expected("count, sum, min, max or avg");
  const std::string_view word = token.text;
  for (std::size_t i = 0; i < kAggregateKindCount; ++i) {
    out = static_cast<AggregateKind>(i);
    if (ouro::name(out) == word) return true;
  }
  return fail(fmt::format("unknown aggregate '{}'; expected count, sum, min, max or avg", word));
}

// ---- predicates ----

bool NativeLineParser::predicate(Token& token, std::uint32_t depth, PredicateId& out) {
  constexpr std::string_view kExpected =
      "a predicate: true, or one of and, or, not, eq, ne, lt, le, gt, ge, between, in, is_null, "
      "like";
  if (depth >= kMaxPredicateDepth) return fail("the predicate is nested too deeply");
  if (token.kind == TokenKind::True) {
    out = b_.always();
    return true;
  }
  if (token.kind != TokenKind::OpenMap) return expected(kExpected);
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) return expected(kExpected);
  const PredicateKind kind = predicate_kind(token.text);
  if (kind == PredicateKind::True || info(kind).term) {
    return fail(fmt::format("unknown operator '{}'; expected {}", token.text, kExpected));
  }
  if (!next(token)) return false;
  const bool combines = info(kind).has_children;
  const bool takes_terms = may_take_terms(kind);
  if (combines      ? !combination(kind, token, depth, out)
      : takes_terms ? !two_sides(kind, token, depth, out)
                    : !comparison(kind, token, out)) {
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
  if (kind == PredicateKind::Like && count == 2 && operands[0].kind() != ValueKind::Text) {
    return fail("the pattern of \"like\" must be a string");
  }
  const std::size_t wanted = kind == PredicateKind::Between ? 3 : 2;
  if (count != wanted) {
    return fail(fmt::format("a comparison needs a column and {} value(s)", wanted - 1));
  }
  out = b_.compare(kind, compared, operands);
  return true;
}

// [left, right], of which left is a column's name, or either is a term.
bool NativeLineParser::two_sides(PredicateKind kind, Token& token, std::uint32_t depth,
                                 PredicateId& out) {
  constexpr std::string_view kSides = "[\"column\", value]";
  if (token.kind != TokenKind::OpenList) return expected(kSides);
  ColumnId compared;
  Value operand;
  std::optional<PredicateId> left, right;
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) return fail("a comparison needs a column and 1 value(s)");
  if (token.kind == TokenKind::String) {
    if (!column(token, compared)) return false;
  } else if (!term(token, depth + 1, left.emplace())) {
    return false;
  }
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) return fail("a comparison needs a column and 1 value(s)");
  if (token.kind != TokenKind::OpenMap) {
    if (!scalar(token, operand)) return false;
  } else if (!term(token, depth + 1, right.emplace())) {
    return false;
  }
  if (!next(token)) return false;
  if (token.kind != TokenKind::Close) return fail("a comparison needs a column and 1 value(s)");
  if (!left && !right) {
    out = b_.compare(kind, compared, std::span(&operand, 1));
    return true;
  }
  if (!left) left = b_.compare(PredicateKind::Column, compared, {});
  if (!right) right = b_.compare(PredicateKind::Constant, {}, std::span(&operand, 1));
  out = b_.compare_terms(kind, *left, *right);
  return true;
}

// A term: a number, true, false or null; or an object with one name: col, const, @float, +, - or *.
bool NativeLineParser::term(Token& token, std::uint32_t depth, PredicateId& out) {
  constexpr std::string_view kTerm =
      "a term: a value, {\"col\":\"c\"}, {\"const\":\"text\"}, or {\"+\":[term, …]}, - or *";
  if (depth >= kMaxPredicateDepth) return fail("the predicate is nested too deeply");
  Value constant;
  ColumnId named;
  if (token.kind == TokenKind::String) {  // Texts cannot be calculated with.
    if (!column(token, named)) return false;
    out = b_.compare(PredicateKind::Column, named, {});
    return true;
  }
  if (token.kind != TokenKind::OpenMap) {
    if (!scalar(token, constant)) return false;
    out = b_.compare(PredicateKind::Constant, {}, std::span(&constant, 1));
    return true;
  }
  if (!next(token)) return false;
  if (token.kind == TokenKind::Close) return expected(kTerm);
  if (token.text == kFloat) {
    if (!floating(token, constant)) return false;
    out = b_.compare(PredicateKind::Constant, {}, std::span(&constant, 1));
    return true;
  }
  const PredicateKind kind = predicate_kind(token.text);
  const bool is_column = kind == PredicateKind::Column;
  const bool is_constant = token.text == "const";
  const bool calculates = info(kind).term && info(kind).takes_terms;
  if (!is_column && !is_constant && !calculates) {
    return fail(fmt::format("unknown term '{}'; expected {}", token.text, kTerm));
  }
  if (!next(token)) return false;
  if (is_column) {
    if (!column(token, named)) return false;
    out = b_.compare(kind, named, {});
  } else if (is_constant) {
    if (!scalar(token, constant)) return false;
    out = b_.compare(PredicateKind::Constant, {}, std::span(&constant, 1));
  } else if (!calculation(kind, token, depth, out)) {
    return false;
  }
  if (!next(token)) return false;
  return token.kind == TokenKind::Close || fail("a term has one operator");
}

bool NativeLineParser::calculation(PredicateKind kind, Token& token, std::uint32_t depth,
                                   PredicateId& out) {
  if (token.kind != TokenKind::OpenList) return expected("a list of terms");
  std::vector<PredicateId> parts;
  for (;;) {
    if (!next(token)) return false;
    if (token.kind == TokenKind::Close) break;
    if (!term(token, depth + 1, parts.emplace_back())) return false;
  }
  const bool two = kind == PredicateKind::Subtract;
  if (parts.size() < 2 || (two && parts.size() > 2)) {
    return fail(fmt::format("'{}' needs {} terms", info(kind).word, two ? "two" : "at least two"));
  }
  out = b_.combine(kind, parts);
  return true;
}

bool NativeLineParser::column(const Token& token, ColumnId& out) {
  if (token.kind != TokenKind::String) return expected("a column's name");
  if (token.text != "@key") out = b_.column(token.text);
  return true;
}

}  // namespace ouro
