#include "explain/source.h"

#include <algorithm>

namespace ouro {
namespace {

bool is_shown(const History& history, const Op& write, const KeyVersion& seen) {
  if (write.key != seen.key) return false;
  if (!seen.value.is_list()) return write.value == seen.value;
  const auto list = history.list(seen.value);
  return std::find(list.begin(), list.end(), write.value) != list.end();
}

OpId last_shown(const History& history, TxnId writer, std::span<const KeyVersion> seen) {
  for (OpId id = history.end_op(writer); id > history.first_op(writer);) {
    --id.value;
    const Op write = history.op(id);
    if (!is_write(write.kind)) continue;
    const auto shows = [&](const KeyVersion& each) { return is_shown(history, write, each); };
    if (std::any_of(seen.begin(), seen.end(), shows)) return id;
  }
  return OpId{};
}

}  // namespace

OpId write_behind(const History& history, TxnId writer, OpId read) {
  const Op op = history.op(read);
  if (!is_predicate_read(op.kind)) {
    const KeyVersion seen{op.key, op.value};
    return last_shown(history, writer, {&seen, 1});
  }
  const PredicateRead& details = history.predicate_read(read);
  const OpId row = last_shown(history, writer, history.rows(details));
  return row.valid() ? row : last_shown(history, writer, history.version_set(details));
}

bool is_seen(const History& history, OpId write, OpId read) {
  const Op wrote = history.op(write);
  const Op op = history.op(read);
  if (!is_write(wrote.kind) || is_write(op.kind)) return false;
  if (!is_predicate_read(op.kind)) return is_shown(history, wrote, {op.key, op.value});
  const PredicateRead& details = history.predicate_read(read);
  const auto shows = [&](const KeyVersion& each) { return is_shown(history, wrote, each); };
  const auto rows = history.rows(details);
  const auto seen = history.version_set(details);
  return std::any_of(rows.begin(), rows.end(), shows) ||
         std::any_of(seen.begin(), seen.end(), shows);
}

}  // namespace ouro
