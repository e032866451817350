#include "certify/rows.h"

#include <algorithm>

#include "history/value_order.h"

namespace ouro::recheck {
namespace {

bool selects(const History& history, const Op& op, KeyId key, Value value) {
  const PredicateRead& read = history.predicate_read(op.id);
  if (op.kind != OpKind::Scan) return evaluate(history, read.predicate, key, value) == Truth::True;
  const Value name = history.key_name(key);
  const bool below = !read.lower.is_null() && compare_values(history, name, read.lower) < 0;
  const bool above = !read.upper.is_null() && compare_values(history, name, read.upper) > 0;
  return !below && !above;
}

}  // namespace

std::string aggregate(const History& history, const PredicateRead& read,
                      const std::vector<KeyVersion>& rows) {
  std::size_t count = 0;
  std::int64_t sum = 0;
  bool summable = true;
  Value least;
  Value greatest;
  for (const KeyVersion& row : rows) {
    const bool whole = !read.column.valid();
    const Value value = whole ? history.key_name(row.key) : history.cell(row.value, read.column);
    if (value.is_null()) continue;
    summable = summable && value.kind() == ValueKind::Integer &&
               !__builtin_add_overflow(sum, value.number(), &sum);
    if (count == 0 || compare_values(history, value, least) < 0) least = value;
    if (count == 0 || compare_values(history, value, greatest) > 0) greatest = value;
    ++count;
  }
  switch (read.aggregate) {
    case AggregateKind::Count:
      return std::to_string(count);
    case AggregateKind::Min:
      return history.text(least);
    case AggregateKind::Max:
      return history.text(greatest);
    case AggregateKind::Sum:
      break;
  }
  if (count == 0) return "null";
  return summable ? std::to_string(sum) : "no number";
}

std::vector<Content> initial_contents(const History& history) {
  std::vector<Content> contents(history.key_count());
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    const bool list = op.kind == OpKind::Append || (op.kind == OpKind::Read && op.value.is_list());
    if (list) contents[op.key.index()].list = true;
  }
  for (std::size_t k = 0; k < contents.size(); ++k) {
    contents[k].value = history.initial(KeyId{k});
    contents[k].row = !contents[k].value.is_null() && !contents[k].list;
  }
  return contents;
}

void apply(const Op& write, Content& content) {
  if (write.kind == OpKind::Append) {
    content.elements.push_back(write.value);
    return;
  }
  content.value = write.value;
  content.row = write.kind == OpKind::Write && !write.value.is_null();
}

bool returned_right(const History& history, OpId id, const std::vector<Content>& contents) {
  const Op op = history.op(id);
  const PredicateRead& read = history.predicate_read(id);
  std::vector<KeyVersion> wanted;
  for (std::size_t k = 0; k < contents.size(); ++k) {
    const KeyId key{k};
    if (contents[k].row && selects(history, op, key, contents[k].value)) {
      wanted.push_back({key, contents[k].value});
    }
  }
  if (op.kind == OpKind::Aggregate) {
    return read.result.is_unobserved() ||
           aggregate(history, read, wanted) == history.text(read.result);
  }
  std::vector<KeyVersion> got;
  for (const KeyVersion& row : history.rows(read)) {
    const Content& content = contents[row.key.index()];
    if (content.list) continue;  // Lists are no rows.
    if (content.row || content.value != row.value) got.push_back(row);
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(got.begin(), got.end());
  return wanted == got;
}

}  // namespace ouro::recheck
