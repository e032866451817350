#include "certify/segments.h"

#include <algorithm>
#include <cstdlib>

#include "history/columns.h"

namespace ouro::recheck {

Stored::Stored(const History& history, Value value) : plain_(value) {
  if (is_pooled_text(value.kind())) {
    text_ = std::make_shared<const std::string>(history.string(value));
  } else if (value.kind() == ValueKind::Row) {
    Cells cells;
    for (const Cell& cell : history.row(value)) {
      cells.emplace_back(history.column_name(cell.column), Stored(history, cell.value));
    }
    std::sort(cells.begin(), cells.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    cells_ = std::make_shared<const Cells>(std::move(cells));
  }
}

Value Stored::in(HistoryBuilder& builder) const {
  switch (plain_.kind()) {
    case ValueKind::Text:
      return builder.text(*text_);
    case ValueKind::Wide:
    case ValueKind::Decimal:
      return builder.decimal(*text_);
    case ValueKind::Float:
      return builder.floating(std::strtod(text_->c_str(), nullptr));
    case ValueKind::Row: {
      std::vector<HistoryBuilder::NamedCell> cells;
      for (const auto& [name, value] : *cells_) cells.emplace_back(name, value.in(builder));
      return builder.row(cells);
    }
    default:
      return plain_;
  }
}

bool Stored::operator==(const Stored& other) const {
  if (plain_.kind() != other.plain_.kind()) return false;
  if (text_ != nullptr) return *text_ == *other.text_;
  if (cells_ != nullptr) return *cells_ == *other.cells_;
  return plain_ == other.plain_;
}

bool copy_txn(const History& history, TxnId txn, HistoryBuilder& builder) {
  const auto copied = [&](Value value) { return Stored(history, value).in(builder); };
  builder.begin_txn(history.has_session(txn)
                        ? builder.session(copied(history.session_name(history.session(txn))))
                        : builder.unknown_session(),
                    history.place(txn).position);
  builder.status(history.status(txn));
  if (const auto level = history.level(txn)) builder.level(*level);
  builder.timestamps(history.start_ts(txn).value_or(kNoTimestamp),
                     history.commit_ts(txn).value_or(kNoTimestamp));
  builder.clocks(history.invoked(txn).value_or(kNoClock),
                 history.completed(txn).value_or(kNoClock));
  builder.inner_clocks(history.began(txn).value_or(kNoClock),
                       history.committing(txn).value_or(kNoClock));
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    const Op op = history.op(id);
    if (is_predicate_read(op.kind) || op.value.is_list() || op.kind == OpKind::Append ||
        op.kind == OpKind::UndoneAppend || op.kind == OpKind::Inc || op.kind == OpKind::Add) {
      return false;
    }
    builder.follow_parts(history, id);
    builder.add(op.kind, builder.key(copied(history.key_name(op.key))), copied(op.value));
  }
  return true;
}

std::string session_of(const History& history, TxnId txn) {
  if (!history.has_session(txn)) return {};
  return history.text(history.session_name(history.session(txn)));
}

bool has_writes(const History& history, TxnId txn) {
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    if (is_write(history.op(id).kind)) return true;
  }
  return false;
}

}  // namespace ouro::recheck
