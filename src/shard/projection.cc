#include "shard/projection.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/access.h"
#include "history/moment.h"

namespace ouro::shard {
namespace {

// The same on every machine and in every build, as it says where keys are.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a.
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash ^ hash >> 32;
}

std::uint32_t shard_of(const History& history, Value name, std::uint32_t count) {
  return static_cast<std::uint32_t>(hash_of(history.text(name)) % count);
}

}  // namespace

std::string elsewhere_key(std::uint64_t number) { return fmt::format("{}{}", kElsewhere, number); }

std::string id_of_unnamed(std::uint64_t number) { return fmt::format("#{}", number + 1); }

Cut::Cut(const History& history, ShardCounts counts) : h_(history) {
  of_key_.reserve(history.key_count());
  for (std::size_t k = 0; k < history.key_count(); ++k) {
    of_key_.push_back(shard_of(history, history.key_name(KeyId{k}), counts.keys));
  }
  of_session_.reserve(history.session_count());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    of_session_.push_back(shard_of(history, history.session_name(SessionId{s}), counts.sessions));
  }
}

// The two halves of an operation stay together, where the second one is.
std::uint32_t Cut::keys_shard(const Op& op) const {
  return keys_shard(info(op.kind).first ? h_.op(OpId{op.id.index() + 1}).key : op.key);
}

// Lists are no rows, and which keys are lists must be known here, too. If keys hold something at
// first, they are rows from then on, whatever mentions them.
bool Cut::in_rows(const Op& op) const {
  return is_predicate_read(op.kind) || is_write(op.kind) || shows_list(op.kind, op.value) ||
         !h_.default_initial().is_null();
}

void Cut::project(TxnId txn, ShardId shard, std::vector<OpId>& ops) const {
  ops.clear();
  if (shard.kind == ShardKind::Sessions || shard.kind == ShardKind::Clocks) return;
  for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
    const Op op = h_.op(id);
    const bool first = info(op.kind).first;
    const bool in = shard.kind == ShardKind::Rows
                        ? in_rows(op) || (first && in_rows(h_.op(OpId{id.index() + 1})))
                        : !is_predicate_read(op.kind) && keys_shard(op) == shard.number - 1;
    if (in) ops.push_back(id);
    if (!first) continue;
    ++id.value;
    if (in) ops.push_back(id);
  }
}

// Shards of rows have all writes.
bool Cut::writes_elsewhere(TxnId txn, ShardId shard, const std::vector<OpId>& ops) const {
  const auto writes_here = [&](OpId op) { return is_write(h_.op(op).kind); };
  return shard.kind != ShardKind::Rows && std::none_of(ops.begin(), ops.end(), writes_here) &&
         writes(h_, txn);
}

}  // namespace ouro::shard
