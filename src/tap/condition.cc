#include "tap/condition.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "tap/values.h"

namespace ouro::tapping {
namespace {

using Node = JsonTree::Node;
using Kind = Condition::Kind;

constexpr int kDeepest = 50;  // Predicates nest at most 64 deep.

std::string member_text(Node node, std::string_view name) {
  const auto text = node.member(name).text();
  return text ? std::string(*text) : "";
}

Node last(Node list) {
  Node found;
  if (list.is_list()) list.for_each([&](Node node) { found = node; });
  return found;
}

// The integer at `location` of the text: the tree does not tell zero from negative numbers.
std::string integer_at(std::string_view sql, std::int64_t location) {
  if (location < 0 || static_cast<std::size_t>(location) >= sql.size()) return "";
  std::string number;
  for (const char c : sql.substr(static_cast<std::size_t>(location))) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number += c;
    } else if (c == '-' && number.empty()) {
      number = "-";
    } else if (!(std::isspace(static_cast<unsigned char>(c)) != 0 && number == "-")) {
      break;
    }
  }
  return number;
}

// Whether a cast to the type makes no other value of one that it accepts.
bool keeps_value(Node type) {
  static constexpr std::array<std::string_view, 6> known = {"int2", "int4",    "int8",
                                                            "text", "varchar", "uuid"};
  const std::string name = member_text(last(type.member("names")).member("String"), "sval");
  return !type.member("typmods").exists() && !type.member("arrayBounds").exists() &&
         std::find(known.begin(), known.end(), name) != known.end();
}

// Reads conditions; `column` is the one that all of them are about.
class Reader {
 public:
  explicit Reader(std::string_view sql) : sql_(sql) {}

  bool read(Node node, int depth, Condition& out) {
    if (depth > kDeepest) return false;
    if (const Node several = node.member("BoolExpr"); several.exists()) {
      return combination(several, depth, out);
    }
    if (node.member("ColumnRef").exists()) {  // A column that is true or false itself.
      out.kind = Kind::Compare;
      out.sign = "eq";
      out.operands.push_back({.text = "true", .keyword = true});
      return about(node);
    }
    const Node expression = node.member("A_Expr");
    return expression.exists() && comparison(expression, out);
  }

  [[nodiscard]] const std::string& column() const { return column_; }

 private:
  bool combination(Node node, int depth, Condition& out) {
    const std::string word = member_text(node, "boolop");
    out.kind = word == "AND_EXPR" ? Kind::And : word == "OR_EXPR" ? Kind::Or : Kind::Not;
    bool all = node.member("args").is_list();
    if (all) {
      node.member("args").for_each(
          [&](Node part) { all = all && read(part, depth + 1, out.parts.emplace_back()); });
    }
    return all && !out.parts.empty();
  }

  bool comparison(Node node, Condition& out) {
    const std::string kind = member_text(node, "kind");
    const std::string sign = member_text(last(node.member("name")).member("String"), "sval");
    const Node left = node.member("lexpr");
    const Node right = node.member("rexpr");
    if (kind == "AEXPR_OP") return simple(sign, left, right, out);
    const bool negated = kind == "AEXPR_NOT_BETWEEN" || sign == "<>" || sign == "!~~";
    Condition inner;
    if (kind == "AEXPR_IN") {
      inner.kind = Kind::In;
    } else if (kind == "AEXPR_BETWEEN" || kind == "AEXPR_NOT_BETWEEN") {
      inner.kind = Kind::Between;
    } else if (kind == "AEXPR_LIKE" && (sign == "~~" || sign == "!~~")) {
      inner.kind = Kind::Like;
    } else {
      return false;
    }
    if (!about(left)) return false;
    bool all = true;
    const auto take = [&](Node operand) {
      all = all && read_operand(sql_, operand, inner.operands.emplace_back());
    };
    const Node items = right.member("List").member("items");
    if (inner.kind == Kind::Like) {
      take(right);
    } else if (items.is_list()) {
      items.for_each(take);
    } else {
      return false;
    }
    if (negated) {
      out.kind = Kind::Not;
      out.parts.push_back(std::move(inner));
    } else {
      out = std::move(inner);
    }
    return all;
  }

  bool simple(const std::string& sign, Node left, Node right, Condition& out) {
    struct Sign {
      std::string_view sql, word, turned;
    };
    static constexpr std::array<Sign, 6> known = {{{"=", "eq", "eq"},
                                                   {"<>", "ne", "ne"},
                                                   {"<", "lt", "gt"},
                                                   {"<=", "le", "ge"},
                                                   {">", "gt", "lt"},
                                                   {">=", "ge", "le"}}};
    const auto* const found = std::find_if(known.begin(), known.end(),
                                           [&](const Sign& each) { return each.sql == sign; });
    if (found == known.end()) return false;
    const bool turned = column_of(left).empty();
    out.kind = Kind::Compare;
    out.sign = turned ? found->turned : found->word;
    return read_operand(sql_, turned ? left : right, out.operands.emplace_back()) &&
           about(turned ? right : left);
  }

  // Whether `node` is the column that the others were about, too.
  bool about(Node node) {
    const std::string column = column_of(node);
    if (column.empty() || (!column_.empty() && column_ != column)) return false;
    column_ = column;
    return true;
  }

  std::string_view sql_;
  std::string column_;
};

std::string named(std::string_view word, const std::string& arguments) {
  std::string out = "{";
  put_json_text(out, word);
  return out + ':' + arguments + '}';
}

}  // namespace

bool read_operand(std::string_view sql, Node node, Operand& operand) {
  for (int depth = 0; depth < 4 && node.member("TypeCast").exists(); ++depth) {
    if (!keeps_value(node.member("TypeCast").member("typeName"))) return false;
    node = node.member("TypeCast").member("arg");
  }
  if (const Node parameter = node.member("ParamRef"); parameter.exists()) {
    operand.parameter = static_cast<int>(parameter.member("number").integer().value_or(0));
    return operand.parameter > 0;
  }
  const Node constant = node.member("A_Const");
  if (!constant.exists() || constant.member("isnull").exists()) return false;
  operand.at = constant.member("location").integer().value_or(-1);
  if (constant.member("ival").exists()) {
    operand.text = integer_at(sql, constant.member("location").integer().value_or(-1));
    return !operand.text.empty();
  }
  if (constant.member("boolval").exists()) {
    operand.keyword = true;
    operand.text = constant.member("boolval").member("boolval").is_true() ? "true" : "false";
    return true;
  }
  if (!constant.member("sval").exists()) return false;
  operand.text = member_text(constant.member("sval"), "sval");
  return true;
}

std::string column_of(Node node) {
  return member_text(last(node.member("ColumnRef").member("fields")).member("String"), "sval");
}

std::optional<Where> read_condition(std::string_view sql, Node node) {
  Where where;
  if (!node.exists()) return where;
  Reader reader(sql);
  if (!reader.read(node, 0, where.condition)) return std::nullopt;
  where.column = reader.column();
  return where;
}

void for_each_operand(Condition& condition, const std::function<void(Operand&)>& visit) {
  std::vector<Condition*> pending = {&condition};
  while (!pending.empty()) {
    Condition* const each = pending.back();
    pending.pop_back();
    for (Operand& operand : each->operands) visit(operand);
    for (Condition& part : each->parts) pending.push_back(&part);
  }
}

std::optional<std::string> predicate_text(const Condition& condition, const ConditionTerms& terms) {
  std::string name;
  put_json_text(name, terms.name);
  std::string list;  // The parts or values, between commas.
  const auto add = [&](const std::optional<std::string>& text) {
    if (text) list += (list.empty() ? "" : ",") + *text;
    return text.has_value();
  };
  bool all = true;
  for (const Condition& part : condition.parts) all = all && add(predicate_text(part, terms));
  for (const Operand& operand : condition.operands) all = all && add(terms.value_of(operand));
  const bool orders =
      condition.kind == Kind::Between ||
      (condition.kind == Kind::Compare && condition.sign != "eq" && condition.sign != "ne");
  if (!all || (orders && !terms.ordered)) return std::nullopt;
  switch (condition.kind) {
    case Kind::All:
      return named("not", named("is_null", name));
    case Kind::And:
      return named("and", '[' + list + ']');
    case Kind::Or:
      return named("or", '[' + list + ']');
    case Kind::Not:
      return named("not", list);
    case Kind::Compare:
      return named(condition.sign, '[' + name + ',' + list + ']');
    case Kind::Between:
      return named("between", '[' + name + ',' + list + ']');
    case Kind::In:
      return named("in", '[' + name + ",[" + list + "]]");
    case Kind::Like:
      if (!terms.textual) return std::nullopt;
      return named("like", '[' + name + ',' + list + ']');
  }
  return std::nullopt;
}

}  // namespace ouro::tapping
