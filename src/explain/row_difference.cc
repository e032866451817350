#include "explain/row_difference.h"

#include <algorithm>

#include "history/access.h"

namespace ouro {
namespace {

// The elements of a JSON array, as they are written.
std::vector<std::string_view> elements_of(std::string_view array) {
  std::vector<std::string_view> out;
  std::size_t depth = 0;
  std::size_t first = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const char c = array[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    const bool closes = c == ']' || c == '}';
    if (closes) --depth;
    const bool ends = (c == ',' && depth == 1) || (closes && depth == 0);
    if (ends && i > first) out.push_back(array.substr(first, i - first));
    if (c == '[' || c == '{') ++depth;
    if ((c == ',' || c == '[') && depth == 1) first = i + 1;
  }
  return out;
}

}  // namespace

std::string row_text(const History& history, const KeyVersion& row) {
  return '[' + history.text(history.key_name(row.key)) + ',' + history.text(row.value) + ']';
}

RowDifference row_difference(const History& history, OpId read, std::string_view expected) {
  const std::vector<std::string_view> wanted = elements_of(expected);
  RowDifference out;
  std::vector<std::string> returned;
  for (const KeyVersion& row : history.rows(history.predicate_read(read))) {
    returned.push_back(row_text(history, row));
    if (std::find(wanted.begin(), wanted.end(), returned.back()) == wanted.end()) {
      out.surplus.push_back(row);
    }
  }
  for (const std::string_view row : wanted) {
    if (std::find(returned.begin(), returned.end(), row) == returned.end()) {
      out.missed.emplace_back(row);
    }
  }
  return out;
}

OpId write_of_row(const History& history, const std::vector<OpId>& ops, std::string_view row) {
  const auto makes = [&](OpId id) {
    const Op op = history.op(id);
    return writes_register(op.kind) && row_text(history, {op.key, op.value}) == row;
  };
  const auto at = std::find_if(ops.rbegin(), ops.rend(), makes);
  return at == ops.rend() ? OpId{} : *at;
}

}  // namespace ouro
