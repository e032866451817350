#include "ouro/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "history/columns.h"
#include "history/commuting.h"
#include "history/decimal.h"
#include "history/json_text.h"

namespace ouro {
namespace {

// The columns of an empty history.
const HistoryColumns& empty() {
  static constexpr std::uint32_t kOffsets[1] = {0};
  static const HistoryColumns columns = [] {
    HistoryColumns none;
    none.txn_first_op = kOffsets;
    none.session_first = kOffsets;
    return none;
  }();
  return columns;
}

// Whether a name can stand in a message without quotes.
bool plain(std::string_view name) {
  if (name.empty() || name == "null" || (name[0] >= '0' && name[0] <= '9') || name[0] == '-') {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || c == '/';
  });
}

}  // namespace

std::string Place::to_string() const {
  switch (unit) {
    case PlaceUnit::Line:
      return fmt::format("{}:{}", file, position);
    case PlaceUnit::Byte:
      return fmt::format("{}: byte {}", file, position);
    case PlaceUnit::None:
      break;
  }
  return std::string(file);
}

History::History(std::shared_ptr<const HistoryColumns> all)
    : op_kind_(all->op_kind),
      op_key_(all->op_key),
      op_value_(all->op_value),
      op_part_(all->op_part),
      txn_first_op_(all->txn_first_op),
      txn_session_(all->txn_session),
      txn_status_(all->txn_status),
      invoked_(all->invoked),
      began_(all->began),
      committing_(all->committing),
      completed_(all->completed),
      start_ts_(all->start_ts),
      commit_ts_(all->commit_ts),
      session_first_(all->session_first),
      session_txns_(all->session_txns),
      key_name_(all->key_name),
      predicate_reads_(all->predicate_reads),
      row_reads_(all->row_reads),
      version_sets_(all->version_sets),
      predicate_nodes_(all->predicate_nodes),
      predicate_children_(all->predicate_children),
      predicate_operands_(all->predicate_operands),
      all_(std::move(all)) {}

// The columns of the empty history live as long as the program, so nothing owns them.
History::History()
    : History(std::shared_ptr<const HistoryColumns>(std::shared_ptr<const void>(), &empty())) {}

History HistoryAccess::history(const HistoryColumns& columns, std::shared_ptr<const void> owner) {
  struct Owned {
    HistoryColumns columns;
    std::shared_ptr<const void> owner;
  };
  const auto owned = std::make_shared<const Owned>(Owned{columns, std::move(owner)});
  return History(std::shared_ptr<const HistoryColumns>(owned, &owned->columns));
}

std::uint32_t History::outer_part(std::uint32_t part) const { return all_->outer_part[part - 1]; }

bool History::still_holds(OpId write, OpId later) const {
  const std::uint32_t wanted = undone_part(write);
  std::uint32_t part = undone_part(later);
  // Parts within others have greater numbers.
  while (part > wanted) part = outer_part(part);
  return part == wanted;
}

Value History::txn_name(TxnId txn) const {
  return all_->txn_name.empty() ? Value::null() : all_->txn_name[txn.index()];
}

std::optional<Level> History::level(TxnId txn) const {
  if (all_->txn_level.empty() || all_->txn_level[txn.index()] == kNoLevel) return std::nullopt;
  return static_cast<Level>(all_->txn_level[txn.index()]);
}

std::optional<std::int64_t> History::sno(TxnId txn) const {
  if (all_->txn_sno.empty() || all_->txn_sno[txn.index()] == kNoSno) return std::nullopt;
  return all_->txn_sno[txn.index()];
}

bool History::has_snos() const { return !all_->txn_sno.empty(); }

bool History::states_levels() const {
  return std::any_of(all_->txn_level.begin(), all_->txn_level.end(),
                     [](std::uint8_t level) { return level != kNoLevel; });
}

Value History::session_name(SessionId session) const { return all_->session_name[session.index()]; }
bool History::has_session(TxnId txn) const { return !session_name(session(txn)).is_null(); }

Value History::default_initial() const { return all_->default_initial; }

std::span<const VersionOrder> History::version_orders() const { return all_->version_orders; }

std::span<const TxnId> History::version_writers(const VersionOrder& order) const {
  if (all_->version_txn.empty()) return {};
  return all_->version_txn.subspan(order.first, order.count);
}

std::span<const Value> History::versions(const VersionOrder& order) const {
  return all_->versions.subspan(order.first, order.count);
}

std::string_view History::column_name(ColumnId column) const {
  return string(all_->column_name[column.index()]);
}

std::span<const Remark> History::remarks() const { return all_->remarks; }

std::string_view History::read_as() const { return all_->read_as; }

std::size_t History::file_count() const { return all_->files.size(); }

TxnId History::txn_of(OpId op) const {
  const auto after = std::upper_bound(txn_first_op_.begin(), txn_first_op_.end(), op.value);
  return TxnId{static_cast<std::size_t>(after - txn_first_op_.begin() - 1)};
}

Value History::initial(KeyId key) const {
  const auto at =
      std::lower_bound(all_->key_initial.begin(), all_->key_initial.end(), key,
                       [](const KeyVersion& entry, KeyId wanted) { return entry.key < wanted; });
  return at != all_->key_initial.end() && at->key == key ? at->value : all_->default_initial;
}

std::string_view History::string(Value value) const {
  const auto bytes = piece(all_->text_bytes, all_->text_end, value.payload());
  return {bytes.data(), bytes.size()};
}

double History::floating(Value value) const { return float_of(string(value)); }

std::span<const Cell> History::row(Value value) const {
  return piece(all_->cells, all_->row_end, value.payload());
}

std::span<const Value> History::list(Value value) const {
  if (value.length() == 0) return {};
  return piece(all_->elements, all_->trunk_end, value.trunk()).first(value.length());
}

Value History::cell(Value value, ColumnId column) const {
  if (value.kind() != ValueKind::Row) return Value::null();
  const auto cells = row(value);
  const auto at =
      std::lower_bound(cells.begin(), cells.end(), column,
                       [](const Cell& cell, ColumnId wanted) { return cell.column < wanted; });
  return at != cells.end() && at->column == column ? at->value : Value::null();
}

std::string History::text(Value value) const {
  std::string out;
  append_json(out, *this, value);
  return out;
}

std::string History::label(Value name) const {
  if (name.kind() != ValueKind::Text) return text(name);
  const std::string_view shown = shown_name(string(name));
  if (plain(shown)) return std::string(shown);
  std::string out;
  append_json_string(out, shown);
  return out;
}

Place History::place(TxnId txn) const {
  Place place;
  if (!txn.valid() || all_->files.empty()) return place;
  place.file = all_->files[all_->txn_file.empty() ? 0 : all_->txn_file[txn.index()]];
  if (!all_->txn_position.empty()) {
    place.unit = all_->place_unit;
    place.position = all_->txn_position[txn.index()];
  }
  return place;
}

Place History::place(OpId op) const {
  Place place = this->place(txn_of(op));
  if (!all_->op_line.empty()) {
    place.unit = PlaceUnit::Line;
    place.position = all_->op_line[op.index()];
  }
  return place;
}

std::string_view History::file() const {
  return all_->files.empty() ? std::string_view() : std::string_view(all_->files[0]);
}

}  // namespace ouro
