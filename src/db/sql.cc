#include "db/sql.h"

#include <fmt/format.h>

#include <charconv>

namespace ouro::db {

std::string where_text(const Where& where) {
  std::string text;
  for (const ColumnRange& range : where) {
    text += fmt::format("{}{} BETWEEN {} AND {}", text.empty() ? " WHERE " : " AND ",
                        kColumnNames[range.column], range.lower, range.upper);
  }
  return text;
}

std::string set_text(std::span<const Assignment> assignments) {
  std::string text;
  for (const Assignment& assignment : assignments) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", kColumnNames[assignment.column],
                        assignment.number);
  }
  return text;
}

std::vector<Number> parse_list(std::string_view text) {
  std::vector<Number> elements;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    Number element = 0;
    const auto [after, problem] = std::from_chars(at, end, element);
    if (problem != std::errc()) break;
    elements.push_back(element);
    at = after + 1;
  }
  return elements;
}

std::string_view isolation_text(std::string_view name) {
  if (name == "ru" || name == "read-uncommitted") return "READ UNCOMMITTED";
  if (name == "rc" || name == "read-committed") return "READ COMMITTED";
  if (name == "rr" || name == "repeatable-read") return "REPEATABLE READ";
  if (name == "ser" || name == "serializable") return "SERIALIZABLE";
  return {};
}

}  // namespace ouro::db
