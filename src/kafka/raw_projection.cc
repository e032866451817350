#include "kafka/raw_projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "history/columns.h"
#include "history/commuting.h"
#include "ouro/format.h"
#include "shard/projection.h"

namespace ouro::kafka {
namespace {

// For each transaction of `piece`, the place of its message. `first_lines` says where the messages
// begin in the text of the piece.
std::vector<std::string> places_of(const History& piece, std::int32_t partition,
                                   std::span<const RawMessage> messages,
                                   std::span<const std::uint64_t> first_lines) {
  std::vector<std::string> places;
  places.reserve(piece.txn_count());
  std::size_t message = 0;
  std::size_t within = 0;  // The number of the transaction in its message, from 1.
  for (std::size_t t = 0; t < piece.txn_count(); ++t) {
    const std::uint64_t line = piece.place(TxnId{t}).position;
    const auto after = std::upper_bound(first_lines.begin(), first_lines.end(), line);
    const auto here = static_cast<std::size_t>(after - first_lines.begin()) - 1;
    within = here == message ? within + 1 : 1;
    message = here;
    places.push_back(fmt::format("{}.{}", partition, messages[here].offset));
    if (within > 1) places.back() += fmt::format(".{}", within);
  }
  return places;
}

bool takes_part(const History& history, TxnId txn) {
  const TxnStatus status = history.status(txn);
  return status == TxnStatus::Committed ||
         (status == TxnStatus::Unknown && history.commit_ts(txn).has_value());
}

bool has_commuting(const History& piece) {
  for (std::size_t k = 0; k < piece.key_count(); ++k) {
    const Value name = piece.key_name(KeyId{k});
    if (name.kind() == ValueKind::Text && is_hidden(piece.string(name))) return true;
  }
  return false;
}

}  // namespace

RawProjection::RawProjection(ShardCounts counts, std::optional<std::int64_t> initial,
                             std::string topic)
    : counts_(counts), rules_{.durable = false, .initial = initial}, topic_(std::move(topic)) {}

std::vector<ShardPart> RawProjection::project(std::int32_t partition,
                                              std::span<const RawMessage> messages) const {
  auto all = try_all(partition, messages);
  if (all.ok()) return *std::move(all);
  // One of them is wrong, or they do not go together. The others still count.
  std::vector<ShardPart> parts;
  for (const RawMessage& message : messages) {
    auto alone = try_all(partition, std::span(&message, 1));
    if (!alone.ok()) {
      alone = missing(fmt::format("{}, partition {}, offset {}: {}", topic_, partition,
                                  message.offset, alone.error().what));
    }
    for (ShardPart& part : *alone) parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<ShardPart> RawProjection::missing(const std::string& why) const {
  std::vector<ShardPart> parts;
  for (const ShardId shard : shards_of(counts_)) {
    parts.push_back({.shard = shard, .counts = counts_, .missing = serving::reason_of(why)});
  }
  return parts;
}

Result<std::vector<ShardPart>> RawProjection::try_all(std::int32_t partition,
                                                      std::span<const RawMessage> messages) const {
  std::string text;
  std::vector<std::uint64_t> first_lines;
  std::uint64_t line = 1;
  for (const RawMessage& message : messages) {
    if (message.text.size() > kMostBytes) {
      return Error{.file = {}, .line = {}, .offset = {}, .what = "is larger than 8 MB"};
    }
    first_lines.push_back(line);
    text += message.text;
    if (!text.ends_with('\n')) text += '\n';
    line += static_cast<std::uint64_t>(std::count(message.text.begin(), message.text.end(), '\n')) +
            (message.text.ends_with('\n') ? 0 : 1);
  }
  const auto parsed = serving::parse_batch(text, Format::Native, topic_, rules_);
  if (!parsed.ok()) return parsed.error();
  const History& piece = *parsed->history;
  return parts_of(piece, places_of(piece, partition, messages, first_lines));
}

Result<std::vector<ShardPart>> RawProjection::parts_of(const History& piece,
                                                       std::span<const std::string> places) const {
  if (has_commuting(piece)) {
    return Error{.file = {},
                 .line = {},
                 .offset = {},
                 .what =
                     "has counters or sets, whose reads look like those of registers in other "
                     "messages"};
  }
  Projector projector(counts_);
  const auto projected = projector.add(piece, places);
  if (!projected.ok()) return projected.error();
  // The operations of the whole, by the shard of sessions that has the transaction.
  std::vector<std::uint64_t> operations(counts_.sessions, 0);
  const shard::Cut cut(piece, counts_);
  for (std::size_t t = 0; t < piece.txn_count(); ++t) {
    const TxnId txn{t};
    if (!takes_part(piece, txn)) continue;
    operations[cut.sessions_shard(piece.session(txn))] +=
        piece.end_op(txn).value - piece.first_op(txn).value;
  }
  std::vector<ShardPart> parts;
  for (std::size_t i = 0; i < projected->size(); ++i) {
    const History& history = (*projected)[i];
    const ShardId shard = projector.shards()[i];
    const bool initials = !columns_of(history).key_initial.empty();
    if (history.txn_count() == 0 && !initials) continue;
    if (shard.kind == ShardKind::Clocks && !projector.has_clocks()) continue;
    ShardPart part{.shard = shard, .counts = counts_};
    if (shard.kind == ShardKind::Sessions) part.operations = operations[shard.number - 1];
    if (const auto printed = print_history(history, Format::Native, part.text); !printed.ok()) {
      return printed.error();
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace ouro::kafka
