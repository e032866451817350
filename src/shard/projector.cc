// Projector: copies each transaction to the shards that have a part of it.

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/parallel.h"
#include "history/columns.h"
#include "history/commuting.h"
#include "history/input_error.h"
#include "ouro/shard.h"
#include "shard/projection.h"
#include "stream/copier.h"

namespace ouro {
namespace {

using shard::Cut;

Error error_of(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

// "#12", and "#3.12" if there are places.
bool looks_unnamed(const History& history, Value id, bool places) {
  if (id.kind() != ValueKind::Text) return false;
  const std::string_view text = history.string(id);
  return text.size() > 1 && text.starts_with('#') &&
         text.find_first_not_of(places ? ".0123456789" : "0123456789", 1) == text.npos;
}

}  // namespace

struct Projector::State {
  ShardCounts counts;
  std::vector<ShardId> shards;
  std::uint64_t txns = 0;
  std::uint64_t pieces = 0;
  bool has_predicate_reads = false;
  bool has_clocks = false;
  bool has_commuting = false;  // Counters or sets.

  std::span<const std::string> places;  // Of the piece that is being added.

  Status look_at(const History& piece);
  void project(const std::shared_ptr<const History>& piece, const Cut& cut, std::size_t shard,
               stream::Copier& to) const;
  // What transaction number `t` of the piece, if it has no id, and its key elsewhere are called.
  [[nodiscard]] std::string id_of(std::size_t t) const {
    return places.empty() ? shard::id_of_unnamed(txns + t) : '#' + places[t];
  }
  [[nodiscard]] std::string key_elsewhere(std::size_t t) const {
    return places.empty() ? shard::elsewhere_key(txns + t)
                          : std::string(shard::kElsewhere) + places[t];
  }
};

// Refuses what cannot be split.
Status Projector::State::look_at(const History& piece) {
  ++pieces;
  for (std::size_t k = 0; k < piece.key_count(); ++k) {
    const Value name = piece.key_name(KeyId{k});
    if (name.kind() != ValueKind::Text) continue;
    const std::string_view text = piece.string(name);
    has_commuting |= is_hidden(text);
    if (text.starts_with(shard::kElsewhere)) {
      return error_of(
          fmt::format("key \"{}\" begins like names that shards need themselves; rename it", text));
    }
  }
  if (has_commuting && pieces > 1) {
    return error_of(
        "the history has counters or sets, and is read piece by piece, in which their reads look "
        "like reads of registers; convert it to .ouro, which is read as a whole");
  }
  for (std::size_t t = 0; t < piece.txn_count(); ++t) {
    const TxnId txn{t};
    if (looks_unnamed(piece, piece.txn_name(txn), !places.empty())) {
      return error_at(piece.place(txn),
                      fmt::format("id {} looks like the ones that shards give to transactions "
                                  "without ids; rename it",
                                  piece.text(piece.txn_name(txn))));
    }
  }
  const HistoryColumns& c = columns_of(piece);
  has_predicate_reads |= piece.has_predicate_reads();
  has_clocks |=
      !c.invoked.empty() || !c.completed.empty() || !c.began.empty() || !c.committing.empty();
  return {};
}

void Projector::State::project(const std::shared_ptr<const History>& piece, const Cut& cut,
                               std::size_t number, stream::Copier& to) const {
  const History& h = *piece;
  const ShardId shard = shards[number];
  to.say_initial(h, h.default_initial());
  const bool rows = shard.kind == ShardKind::Rows;
  if (rows || shard.kind == ShardKind::Keys) {
    for (const KeyVersion& own : columns_of(h).key_initial) {
      if (rows || cut.keys_shard(own.key) == shard.number - 1)
        to.say_initial(h, own.key, own.value);
    }
  }
  std::vector<OpId> ops;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn{t};
    if (shard.kind == ShardKind::Sessions &&
        cut.sessions_shard(h.session(txn)) != shard.number - 1) {
      continue;
    }
    cut.project(txn, shard, ops);
    if (ops.empty() && (rows || shard.kind == ShardKind::Keys)) continue;
    HistoryBuilder& builder = to.builder();
    to.begin({piece, txn});
    if (h.txn_name(txn).is_null()) builder.name(builder.text(id_of(t)));
    if (shard.kind == ShardKind::Clocks) to.add_clocks({piece, txn});
    if (cut.writes_elsewhere(txn, shard, ops)) {
      builder.remove(builder.key(key_elsewhere(t)), Value::null());
    }
    for (const OpId op : ops) to.add_op(h, op);
  }
}

Projector::Projector(ShardCounts counts, std::uint64_t before) : state_(std::make_unique<State>()) {
  state_->counts = counts;
  state_->txns = before;
  for (std::uint32_t k = 1; k <= counts.keys; ++k) state_->shards.push_back({ShardKind::Keys, k});
  state_->shards.push_back({ShardKind::Rows, 1});
  for (std::uint32_t s = 1; s <= counts.sessions; ++s) {
    state_->shards.push_back({ShardKind::Sessions, s});
  }
  state_->shards.push_back({ShardKind::Clocks, 1});
}
Projector::Projector(Projector&&) noexcept = default;
Projector& Projector::operator=(Projector&&) noexcept = default;
Projector::~Projector() = default;

std::span<const ShardId> Projector::shards() const { return state_->shards; }
bool Projector::has_predicate_reads() const { return state_->has_predicate_reads; }
bool Projector::has_clocks() const { return state_->has_clocks; }

Result<std::vector<History>> Projector::add(const History& piece,
                                            std::span<const std::string> places) {
  assert(places.empty() || places.size() == piece.txn_count());
  state_->places = places;
  if (auto status = state_->look_at(piece); !status.ok()) return std::move(status).error();
  const auto shared = std::make_shared<const History>(piece);
  const Cut cut(*shared, state_->counts);
  std::vector<Result<History>> made(state_->shards.size(), History());
  const std::size_t parts = std::min<std::size_t>(thread_count(0), made.size());
  for_each_part(parts, [&](std::size_t part) {
    for (std::size_t i = part; i < made.size(); i += parts) {
      stream::Copier copier;
      state_->project(shared, cut, i, copier);
      made[i] = copier.freeze();
    }
  });
  std::vector<History> out;
  for (Result<History>& history : made) {
    if (!history.ok()) return std::move(history).error();
    out.push_back(*std::move(history));
  }
  state_->txns += piece.txn_count();
  return out;
}

}  // namespace ouro
