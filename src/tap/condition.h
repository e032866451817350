// What a statement asks of rows in its WHERE: constants, parameters, and conditions that predicates
// of histories can say (docs/predicates.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_tree.h"

namespace ouro::tapping {

// What a column is compared with.
struct Operand {
  int parameter = 0;  // $1 is 1. Zero: `text` is a constant.
  std::string text;
  std::int64_t at = -1;  // Where in the SQL the constant begins; negative: not known.
  bool keyword = false;  // TRUE or FALSE.
};

// A condition on one column of a table.
struct Condition {
  enum class Kind : std::uint8_t { All, And, Or, Not, Compare, Between, In, Like };
  Kind kind = Kind::All;  // All: there is no WHERE.
  std::string sign;       // Of Compare: as predicates call it, "eq" or "lt".
  std::vector<Operand> operands;
  std::vector<Condition> parts;
};
// The condition, and the column that it is about; that of All is empty.
struct Where {
  std::string column;
  Condition condition;
};

// A constant or a parameter, perhaps with a type, from a parse tree; false for anything else.
[[nodiscard]] bool read_operand(std::string_view sql, JsonTree::Node node, Operand& operand);
// The column that `node` names, whatever table it says that it is of; empty if it is none.
[[nodiscard]] std::string column_of(JsonTree::Node node);
// The WHERE of a statement, if predicates can say it. `node` need not exist.
[[nodiscard]] std::optional<Where> read_condition(std::string_view sql, JsonTree::Node node);
void for_each_operand(Condition& condition, const std::function<void(Operand&)>& visit);

// The JSON of a predicate that says the same of rows that have the value of the column as `name`.
// `value_of` gives the JSON of an operand, or nothing if that is no value of the column's type;
// `ordered` and `textual`: whether predicates order such values as the database does, and whether
// they have patterns. Nothing if the predicate cannot be said.
struct ConditionTerms {
  std::string name;
  std::function<std::optional<std::string>(const Operand&)> value_of;
  bool ordered = false;
  bool textual = false;
};
[[nodiscard]] std::optional<std::string> predicate_text(const Condition& condition,
                                                        const ConditionTerms& terms);

}  // namespace ouro::tapping
