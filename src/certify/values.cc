#include "certify/values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace ouro::recheck {
namespace {

template <class Range, class Test>
bool all_of(const Range& range, const Test& test) {
  return std::all_of(range.begin(), range.end(), test);
}

template <class Range, class Test>
bool any_of(const Range& range, const Test& test) {
  return std::any_of(range.begin(), range.end(), test);
}

Scalar number_of(std::int64_t number) {
  Scalar out;
  out.family = Scalar::Family::Number;
  out.high = number < 0 ? -1 : 0;
  out.low = static_cast<std::uint64_t>(number);
  return out;
}

// Decimal digits, with or without a sign.
Scalar number_of(std::string_view digits) {
  constexpr std::size_t kShort = 18;  // So many digits take less than 64 bits.
  if (digits.find('.') == std::string_view::npos && digits.size() <= kShort) {
    return number_of(static_cast<std::int64_t>(std::stoll(std::string(digits))));
  }
  Scalar out;
  out.family = Scalar::Family::Number;
  out.other_number = true;
  out.size = Exact(digits);
  return out;
}

Scalar number_of(double number) {
  Scalar out;
  out.floating = true;
  out.number = number;
  out.family = Scalar::Family::Number;
  out.other_number = true;
  if (std::isnan(number)) {
    out.beyond = 2;
  } else if (std::isinf(number)) {
    out.beyond = number < 0 ? -1 : 1;
  } else {
    out.size = Exact::of_double(number);
  }
  return out;
}

// How large a number is that is not beyond all numbers.
Exact size_of(const Scalar& number) {
  if (number.other_number) return number.size;
  return Exact(std::to_string(static_cast<std::int64_t>(number.low)));
}

// As a floating-point number: itself, or the nearest one.
double rounded(const Scalar& number) {
  return number.floating ? number.number : std::strtod(size_of(number).text().c_str(), nullptr);
}

// One step of a calculation; nothing if a side is no number. Between exact numbers it is exact.
Scalar calculated(PredicateKind kind, const Scalar& a, const Scalar& b) {
  if (a.family != Scalar::Family::Number || b.family != Scalar::Family::Number) return {};
  if (a.floating || b.floating) {
    const double one = rounded(a);
    const double two = rounded(b);
    return number_of(kind == PredicateKind::Add        ? one + two
                     : kind == PredicateKind::Subtract ? one - two
                                                       : one * two);
  }
  Scalar out;
  out.family = Scalar::Family::Number;
  out.other_number = true;
  const Exact one = size_of(a);
  const Exact two = size_of(b);
  out.size = kind == PredicateKind::Add        ? Exact::sum(one, two)
             : kind == PredicateKind::Subtract ? Exact::sum(one, two.negated())
                                               : Exact::product(one, two);
  return out;
}

// A pattern as its parts: a character, any character, or any text.
struct Piece {
  enum class Kind : unsigned char { Character, One, Any };
  Kind kind = Kind::Character;
  std::string_view character;
};

std::size_t length_of_first(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && static_cast<unsigned char>(text[length]) >> 6 == 2) ++length;
  return length;
}

std::vector<Piece> pieces_of(std::string_view pattern) {
  std::vector<Piece> out;
  while (!pattern.empty()) {
    Piece piece;
    if (pattern[0] == '%') piece.kind = Piece::Kind::Any;
    if (pattern[0] == '_') piece.kind = Piece::Kind::One;
    if (pattern[0] == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    piece.character = pattern.substr(0, length_of_first(pattern));
    pattern.remove_prefix(piece.character.size());
    out.push_back(piece);
  }
  return out;
}

// Character by character: which numbers of pieces the text so far may be like.
bool is_like(std::string_view text, std::string_view pattern) {
  const std::vector<Piece> pieces = pieces_of(pattern);
  std::vector<bool> fits(pieces.size() + 1, false);
  const auto pass_any = [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (fits[i] && pieces[i].kind == Piece::Kind::Any) fits[i + 1] = true;
    }
  };
  fits[0] = true;
  pass_any();
  while (!text.empty()) {
    const std::string_view character = text.substr(0, length_of_first(text));
    text.remove_prefix(character.size());
    std::vector<bool> next(pieces.size() + 1, false);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!fits[i]) continue;
      if (pieces[i].kind == Piece::Kind::Any) {
        next[i] = true;
      } else if (pieces[i].kind == Piece::Kind::One || pieces[i].character == character) {
        next[i + 1] = true;
      }
    }
    fits = std::move(next);
    pass_any();
  }
  return fits.back();
}

template <class T>
int sign(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Whether a comparison is true of values less than its operand, equal to it, and greater.
struct Sides {
  bool less = false;
  bool equal = false;
  bool greater = false;
};
Sides sides_of(PredicateKind comparison) {
  switch (comparison) {
    case PredicateKind::Eq:
      return {.equal = true};
    case PredicateKind::Ne:
      return {.less = true, .greater = true};
    case PredicateKind::Lt:
      return {.less = true};
    case PredicateKind::Le:
      return {.less = true, .equal = true};
    case PredicateKind::Gt:
      return {.greater = true};
    default:
      return {.equal = true, .greater = true};
  }
}

// The truth of predicates of one row.
class Judgement {
 public:
  Judgement(const History& history, KeyId key, Value row) : h_(history), key_(key), row_(row) {}

  // Whether the truth of `predicate` is `answer`; false also if it is unknown.
  [[nodiscard]] bool answers(PredicateId predicate, bool answer) const {
    const PredicateNode& node = h_.predicate(predicate);
    const auto part = [&](std::uint32_t id) { return answers(PredicateId{id}, answer); };
    switch (node.kind) {
      case PredicateKind::True:
        return answer;
      case PredicateKind::Not:
        return answers(PredicateId{h_.children(node)[0]}, !answer);
      case PredicateKind::And:  // True if all are, false as soon as one is.
        return answer ? all_of(h_.children(node), part) : any_of(h_.children(node), part);
      case PredicateKind::Or:
        return answer ? any_of(h_.children(node), part) : all_of(h_.children(node), part);
      case PredicateKind::IsNull:
        return cell(node).is_null() == answer;
      case PredicateKind::Like:
        return cell(node).kind() == ValueKind::Text &&
               is_like(h_.string(cell(node)), h_.string(h_.operands(node)[0])) == answer;
      case PredicateKind::EqTerms:
      case PredicateKind::NeTerms:
      case PredicateKind::LtTerms:
      case PredicateKind::LeTerms:
      case PredicateKind::GtTerms:
      case PredicateKind::GeTerms:
        return compares_terms(node, answer);
      default:
        return compares(node, answer);
    }
  }

 private:
  [[nodiscard]] Value cell(const PredicateNode& node) const {
    return node.column.valid() ? h_.cell(row_, node.column) : h_.key_name(key_);
  }

  // The value of a term; of the family None if it is null, or a calculation with what is no number.
  [[nodiscard]] Scalar term(PredicateId id) const {
    const PredicateNode& node = h_.predicate(id);
    if (node.kind == PredicateKind::Constant) return scalar_of(h_, h_.operands(node)[0]);
    if (node.kind == PredicateKind::Column) return scalar_of(h_, cell(node));
    const auto parts = h_.children(node);
    Scalar out = term(PredicateId{parts[0]});
    for (const std::uint32_t part : parts.subspan(1)) {
      out = calculated(node.kind, out, term(PredicateId{part}));
    }
    return out.family == Scalar::Family::Number ? out : Scalar{};
  }

  [[nodiscard]] bool compares_terms(const PredicateNode& node, bool answer) const {
    const Scalar left = term(PredicateId{h_.children(node)[0]});
    const Scalar right = term(PredicateId{h_.children(node)[1]});
    if (left.family == Scalar::Family::None || left.family != right.family) return false;
    const Sides sides = sides_of(static_cast<PredicateKind>(
        static_cast<int>(node.kind) - static_cast<int>(PredicateKind::EqTerms) +
        static_cast<int>(PredicateKind::Eq)));
    const int order = compared(left, right);
    return (order < 0 ? sides.less : order == 0 ? sides.equal : sides.greater) == answer;
  }

  [[nodiscard]] bool compares(const PredicateNode& node, bool answer) const {
    const auto operands = h_.operands(node);
    const Scalar left = scalar_of(h_, cell(node));
    const auto says = [&](const Sides& sides, Value operand) {
      const Scalar right = scalar_of(h_, operand);
      if (left.family == Scalar::Family::None || left.family != right.family) return false;
      const int order = compared(left, right);
      const bool good = order < 0 ? sides.less : order == 0 ? sides.equal : sides.greater;
      return good == answer;
    };
    switch (node.kind) {
      case PredicateKind::Between: {
        const bool low = says(sides_of(PredicateKind::Ge), operands[0]);
        const bool high = says(sides_of(PredicateKind::Le), operands[1]);
        return answer ? low && high : low || high;
      }
      case PredicateKind::In: {
        const auto equal = [&](Value operand) {
          return says(sides_of(PredicateKind::Eq), operand);
        };
        return answer ? any_of(operands, equal) : all_of(operands, equal);
      }
      default:
        return says(sides_of(node.kind), operands[0]);
    }
  }

  const History& h_;
  KeyId key_;
  Value row_;
};

}  // namespace

Scalar scalar_of(const History& history, Value value) {
  Scalar out;
  switch (value.kind()) {
    case ValueKind::Null:
    case ValueKind::Unobserved:
      return out;
    case ValueKind::Integer:
      return number_of(value.number());
    case ValueKind::Wide:
    case ValueKind::Decimal:
      return number_of(history.string(value));
    case ValueKind::Float:
      return number_of(std::strtod(std::string(history.string(value)).c_str(), nullptr));
    case ValueKind::Text:
      out.family = Scalar::Family::Text;
      out.text = history.string(value);
      return out;
    case ValueKind::Boolean:
      out.family = Scalar::Family::Boolean;
      out.low = value.truth() ? 1 : 0;
      return out;
    default:
      out.family = Scalar::Family::Other;
      out.low = value.bits();
      return out;
  }
}

int compared(const Scalar& a, const Scalar& b) {
  if (a.family != b.family) return sign(a.family, b.family);
  if (a.family == Scalar::Family::Text) return sign(a.text, b.text);
  if (!a.other_number && !b.other_number) {
    return a.high != b.high ? sign(a.high, b.high) : sign(a.low, b.low);
  }
  if (a.beyond != 0 || b.beyond != 0) return sign(a.beyond, b.beyond);
  return Exact::compare(size_of(a), size_of(b));
}

bool less(const History& history, Value a, Value b) {
  return compared(scalar_of(history, a), scalar_of(history, b)) < 0;
}

bool before(const History& history, Value a, Value b) {
  const int order = compared(scalar_of(history, a), scalar_of(history, b));
  if (order != 0) return order < 0;
  return a.kind() != ValueKind::Float && b.kind() == ValueKind::Float;
}

bool in_range(const History& history, const PredicateRead& scan, KeyId key) {
  const Value name = history.key_name(key);
  if (!scan.lower.is_null() && less(history, name, scan.lower)) return false;
  return scan.upper.is_null() || !less(history, scan.upper, name);
}

bool is_settled(const History& history, PredicateId predicate, KeyId key, Value row, bool answer) {
  return Judgement(history, key, row).answers(predicate, answer);
}

}  // namespace ouro::recheck
