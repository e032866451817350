#include "shard/lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/input_error.h"

namespace ouro::shard {

Lookup::Lookup(ShardCounts counts, std::optional<ShardId> shard, std::vector<Told>& all,
               stream::Copier& copier)
    : counts_(counts), shard_(shard), all_(all), copier_(copier) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    Told& told = all[i];
    if (shard && told.shard != *shard) continue;
    told.txns.resize(told.finding->txns.size());
    told.ops.resize(told.finding->ops.size());
    for (std::size_t k = 0; k < told.txns.size(); ++k) {
      wanted_[told.finding->txns[k]].uses.push_back({i, k});
    }
  }
}

Status Lookup::add(const std::shared_ptr<const History>& piece) {
  const History& h = *piece;
  std::optional<Cut> cut;
  for (std::size_t t = 0; t < h.txn_count() && !wanted_.empty(); ++t) {
    const TxnId txn{t};
    const Value name = h.txn_name(txn);
    const std::string id = name.is_null() ? '"' + id_of_unnamed(txns_ + t) + '"' : h.text(name);
    const auto found = wanted_.find(id);
    if (found == wanted_.end()) continue;
    if (found->second.known) {
      return error_at(h.place(txn),
                      fmt::format("id {} names several transactions, and one of them is part of a "
                                  "violation; give each an id of its own",
                                  id));
    }
    found->second.known = true;
    if (!cut) cut.emplace(h, counts_);
    if (!take({piece, txn}, *cut, found->second)) {
      return error_at(h.place(txn), fmt::format("transaction {} is not as it was when the verdicts "
                                                "were made; split the history again",
                                                id));
    }
  }
  txns_ += h.txn_count();
  ops_ += h.op_count();
  return {};
}

std::optional<std::string> Lookup::missing() const {
  for (const auto& [id, wanted] : wanted_) {
    if (!wanted.known) return id;
  }
  return std::nullopt;
}

// Copies the transaction. False: it lacks an operation.
bool Lookup::take(const stream::Source& source, const Cut& cut, const Wanted& wanted) {
  const Found found{txns_ + source.txn.value, ops_ + source.history->first_op(source.txn).value,
                    TxnId{copier_.builder().txn_count()}, copier_.builder().op_count()};
  copier_.add(source);
  for (const Use& use : wanted.uses) {
    Told& told = all_[use.told];
    told.txns[use.txn] = found;
    for (std::size_t i = 0; i < told.ops.size(); ++i) {
      const ShardFinding::Where& where = told.finding->ops[i];
      if (where.txn != use.txn) continue;
      const auto op = op_of(source, cut, told.shard, where.op);
      if (!op) return false;
      told.ops[i] = *op;
    }
  }
  return true;
}

// Where an operation of a projected transaction stands in the transaction of the source.
std::optional<std::uint32_t> Lookup::op_of(const stream::Source& source, const Cut& cut,
                                           ShardId shard, std::uint32_t op) const {
  const History& h = *source.history;
  const std::uint32_t first = h.first_op(source.txn).value;
  if (shard_) return op < h.end_op(source.txn).value - first ? std::optional(op) : std::nullopt;
  std::vector<OpId> ops;
  cut.project(source.txn, shard, ops);
  const std::uint32_t before = cut.writes_elsewhere(source.txn, shard, ops) ? 1 : 0;
  if (op < before || op - before >= ops.size()) return std::nullopt;
  return ops[op - before].value - first;
}

}  // namespace ouro::shard
