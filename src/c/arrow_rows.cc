#include "c/arrow_rows.h"

#include <absl/hash/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "c/handles.h"
#include "ouro/closest.h"

namespace ouro::c {

const std::string_view ArrowRows::kNames[kPlaces] = {
    "session", "txn",   "op",         "key",       "value",    "list",      "status",
    "invoked", "began", "committing", "completed", "start_ts", "commit_ts", "level"};

Status ArrowRows::open(const ArrowSchema& schema, const ArrowArray& batch) {
  if (std::string_view(schema.format) != "+s" || schema.n_children != batch.n_children) {
    return error_saying("the stream has no table; expected a column for each part of an operation");
  }
  for (Column& one : columns_) one = {};
  stated_.clear();
  for (std::int64_t i = 0; i < batch.n_children; ++i) {
    const char* given = schema.children[i]->name;
    const std::string_view name = given == nullptr ? "" : given;
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) {
      const std::string_view guess = closest(name, kNames);
      return error_saying(fmt::format("unknown column '{}'; {}", name,
                                      guess.empty()
                                          ? fmt::format("there are: {}", fmt::join(kNames, ", "))
                                          : fmt::format("did you mean '{}'?", guess)));
    }
    auto opened = ArrowColumn::open(*schema.children[i], *batch.children[i]);
    if (!opened.ok()) return opened.error();
    if (opened->length() < batch.length + batch.offset) {
      return error_saying(fmt::format("column '{}' is shorter than the table", name));
    }
    Column& column = columns_[found - std::begin(kNames)];
    if (column.data) return error_saying(fmt::format("column '{}' is there twice", name));
    column.data = *std::move(opened);
    if (const ArrowColumn* items = column.data->dictionary(); items != nullptr) {
      column.known.resize(static_cast<std::size_t>(items->length()));
    }
  }
  for (const Place needed : {Place::Session, Place::Txn, Place::Op, Place::Key}) {
    if (!column(needed).data) {
      return error_saying(
          fmt::format("there is no column '{}'", kNames[static_cast<std::size_t>(needed)]));
    }
  }
  const auto& list = column(Place::List).data;
  if (list && list->type() != ArrowType::List && list->type() != ArrowType::Null) {
    return error_saying("column 'list' has no lists");
  }
  for (auto place = static_cast<std::size_t>(Place::Status); place < kPlaces; ++place) {
    if (columns_[place].data) stated_.push_back(static_cast<Place>(place));
  }
  return {};
}

Status ArrowRows::add(const ArrowSchema& schema, const ArrowArray& batch) {
  if (Status status = open(schema, batch); !status.ok()) return status;
  // Columns may have been given or dropped in between only if the schema lied; it is one for all.
  attributes_.resize(stated_.size());
  for (std::int64_t i = 0; i < batch.length; ++i) {
    Status status = row(i + batch.offset);
    if (status.ok()) continue;
    Error error = status.error();
    error.what = fmt::format("row {}: {}", rows_before_ + i, error.what);
    return error;
  }
  rows_before_ += batch.length;
  return {};
}

Result<Value> ArrowRows::item_of(HistoryBuilder& builder, const ArrowColumn& data,
                                 std::int64_t at) {
  if (data.is_null(at)) return Value::null();
  if (const ArrowColumn* items = data.dictionary(); items != nullptr) {
    const auto index = data.index(at);
    if (!index) return error_saying("an index is outside of its dictionary");
    return items->is_null(*index) ? Value::null() : item_of(builder, *items, *index);
  }
  switch (data.type()) {
    case ArrowType::Boolean:
      return Value::boolean(data.boolean(at));
    case ArrowType::Signed: {
      const std::int64_t number = data.integer(at);
      return Value::fits(number) ? Value::small(number) : builder.integer(number);
    }
    case ArrowType::Unsigned:
      return builder.unsigned_integer(data.natural(at));
    case ArrowType::Float:
      return builder.floating(data.floating(at));
    case ArrowType::Text:
      return builder.text(data.text(at));
    case ArrowType::Null:
      return Value::null();
    default:
      return error_saying("a list stands where a single value is expected; name its column 'list'");
  }
}

Result<Value> ArrowRows::item(Place place, std::int64_t at) {
  Column& from = column(place);
  if (!from.data || from.data->is_null(at)) return Value::null();
  const ArrowColumn* items = from.data->dictionary();
  if (items == nullptr) return item_of(b_, *from.data, at);
  const auto index = from.data->index(at);
  if (!index) return error_saying("an index is outside of its dictionary");
  auto& known = from.known[static_cast<std::size_t>(*index)];
  if (!known) {
    const auto value = item_of(b_, *items, *index);
    if (!value.ok()) return value;
    known = *value;
  }
  return *known;
}

Status ArrowRows::row(std::int64_t at) {
  const auto session = item(Place::Session, at);
  if (!session.ok()) return session.error();
  const auto txn = item(Place::Txn, at);
  if (!txn.ok()) return txn.error();
  if (any_ && *txn == txn_ && *session == session_) {
    if (Status status = same_attributes(at); !status.ok()) return status;
  } else if (Status status = begin(at, *session, *txn); !status.ok()) {
    return status;
  }
  return operation(at);
}

Status ArrowRows::begin(std::int64_t at, Value session, Value txn) {
  const auto is_name = [](Value value) {
    return value.kind() == ValueKind::Integer || value.kind() == ValueKind::Wide ||
           value.kind() == ValueKind::Text;
  };
  if (!is_name(session)) return error_saying("expected a session: an integer or a text");
  if (!is_name(txn)) return error_saying("expected a txn: an integer or a text");
  if (!seen_.insert(txn).second) {
    return error_saying(
        "the transaction was there before; the rows of a transaction stand together, in one "
        "session");
  }
  b_.begin_txn(b_.session(session));
  b_.name(txn);
  any_ = true;
  session_ = session;
  txn_ = txn;
  for (std::size_t i = 0; i < stated_.size(); ++i) {
    const auto said = stated(stated_[i], at);
    if (!said.ok()) return said.error();
    attributes_[i] = *said;
  }
  return attributes(at);
}

// Clocks are no values: large ones would fill the pool of the history.
Result<ArrowRows::Stated> ArrowRows::stated(Place place, std::int64_t at) {
  const ArrowColumn& data = *column(place).data;
  if (data.is_null(at)) return Stated{};
  if (data.dictionary() == nullptr && data.type() == ArrowType::Signed) {
    return Stated{.null = false, .bits = static_cast<std::uint64_t>(data.integer(at))};
  }
  if (data.dictionary() == nullptr && data.type() == ArrowType::Text) {
    return Stated{.null = false, .bits = absl::HashOf(data.text(at))};
  }
  const auto value = item(place, at);
  if (!value.ok()) return value.error();
  return Stated{.null = false, .bits = value->bits()};
}

Status ArrowRows::same_attributes(std::int64_t at) {
  for (std::size_t i = 0; i < stated_.size(); ++i) {
    const auto said = stated(stated_[i], at);
    if (!said.ok()) return said.error();
    if (*said == attributes_[i]) continue;
    return error_saying(fmt::format("'{}' differs from the first row of the transaction",
                                    kNames[static_cast<std::size_t>(stated_[i])]));
  }
  return {};
}

Status ArrowRows::clock(Place place, std::int64_t at, std::int64_t& out) {
  const Column& from = column(place);
  out = kNoClock;
  if (!from.data || from.data->is_null(at)) return {};
  const std::string_view name = kNames[static_cast<std::size_t>(place)];
  if (from.data->dictionary() != nullptr || from.data->type() != ArrowType::Signed) {
    return error_saying(fmt::format("expected '{}' to be a signed integer", name));
  }
  out = from.data->integer(at);
  if (out != kNoClock) return {};
  return error_saying(
      fmt::format("a '{}' of {} means that there is none; leave it null", name, kNoClock));
}

Status ArrowRows::attributes(std::int64_t at) {
  constexpr Place kClocks[] = {Place::Invoked,   Place::Began,   Place::Committing,
                               Place::Completed, Place::StartTs, Place::CommitTs};
  std::int64_t read[std::size(kClocks)];
  for (std::size_t i = 0; i < std::size(kClocks); ++i) {
    if (Status status = clock(kClocks[i], at, read[i]); !status.ok()) return status;
  }
  const auto [invoked, began, committing, completed, start, commit] = read;
  b_.clocks(invoked, completed);
  if (began != kNoClock || committing != kNoClock) b_.inner_clocks(began, committing);
  b_.timestamps({start, 0}, {commit, 0});
  if (Status done = status(at); !done.ok()) return done;
  return level(at);
}

Status ArrowRows::status(std::int64_t at) {
  constexpr std::string_view kWords[] = {"committed", "aborted", "unknown"};
  constexpr TxnStatus kStatuses[] = {TxnStatus::Committed, TxnStatus::Aborted, TxnStatus::Unknown};
  const auto value = item(Place::Status, at);
  if (!value.ok()) return value.error();
  if (value->is_null()) return {};
  const std::string_view word = value->kind() == ValueKind::Text ? b_.string(*value) : "";
  const auto* found = std::find(std::begin(kWords), std::end(kWords), word);
  if (found == std::end(kWords)) {
    return error_saying("expected 'status' to be committed, aborted or unknown");
  }
  b_.status(kStatuses[found - std::begin(kWords)]);
  return {};
}

Status ArrowRows::level(std::int64_t at) {
  const auto value = item(Place::Level, at);
  if (!value.ok()) return value.error();
  if (value->is_null()) return {};
  const bool text = value->kind() == ValueKind::Text;
  const auto known = text ? find_level(b_.string(*value)) : std::nullopt;
  if (!known || *known == Level::Mixed) return error_saying("expected 'level' to name a level");
  b_.level(*known);
  return {};
}

Result<std::optional<ArrowRows::Word>> ArrowRows::word(std::int64_t at) {
  constexpr std::string_view kShort[] = {"r", "w", "append", "d", "inc", "add"};
  constexpr std::string_view kLong[] = {"read", "write", "append", "delete", "inc", "add"};
  const ArrowColumn& ops = *column(Place::Op).data;
  if (ops.is_null(at)) return std::optional<Word>();
  if (ops.type() == ArrowType::Null) return std::optional<Word>();
  if (ops.type() != ArrowType::Text) return error_saying("expected 'op' to be a text");
  std::string_view text;
  if (ops.dictionary() == nullptr) {
    text = ops.text(at);
  } else {
    const auto value = item(Place::Op, at);
    if (!value.ok()) return value.error();
    if (value->is_null()) return std::optional<Word>();
    text = b_.string(*value);
  }
  for (std::size_t i = 0; i < std::size(kShort); ++i) {
    if (text == kShort[i] || text == kLong[i]) return std::optional(static_cast<Word>(i));
  }
  return error_saying(
      fmt::format("unknown operation '{}'; expected r, w, append, d, inc or add; "
                  "give others as lines",
                  text));
}

Status ArrowRows::read_list(KeyId key, std::int64_t at) {
  const ArrowColumn& lists = *column(Place::List).data;
  const ArrowColumn::Range range = lists.range(at);
  if (range.begin < 0 || range.end < range.begin || range.end > lists.items().length()) {
    return error_saying("the list lies outside of its items");
  }
  elements_.clear();
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const auto element = item_of(b_, lists.items(), i);
    if (!element.ok()) return element.error();
    elements_.push_back(*element);
  }
  b_.read_list(key, elements_);
  return {};
}

Status ArrowRows::operation(std::int64_t at) {
  const auto word = this->word(at);
  if (!word.ok()) return word.error();
  if (!*word) return {};  // A transaction without operations.
  const auto name = item(Place::Key, at);
  if (!name.ok()) return name.error();
  if (name->kind() != ValueKind::Integer && name->kind() != ValueKind::Text &&
      name->kind() != ValueKind::Wide) {
    return error_saying("expected a key: an integer or a text");
  }
  const KeyId key = b_.key(*name);
  const Column& lists = column(Place::List);
  if (lists.data && lists.data->type() == ArrowType::List && !lists.data->is_null(at)) {
    if (**word != Word::Read) return error_saying("only a read may have a list");
    return read_list(key, at);
  }
  const auto value = item(Place::Value, at);
  if (!value.ok()) return value.error();
  return add_op(**word, key, *value);
}

Status ArrowRows::add_op(Word word, KeyId key, Value value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  const bool whole = value.kind() == ValueKind::Integer;
  switch (word) {
    case Word::Read:
      b_.read(key, value);
      return {};
    case Word::Write:
      b_.write(key, value);
      return {};
    case Word::Append:
      b_.append(key, value);
      return {};
    case Word::Delete:
      b_.remove(key, value);
      return {};
    case Word::Inc:
      if (!whole || value.number() <= -kMost || value.number() >= kMost) {
        return error_saying("expected the 'value' of an 'inc' to be an integer");
      }
      b_.inc(key, value);
      return {};
    case Word::Add:
      if (!whole && value.kind() != ValueKind::Text) {
        return error_saying("expected the 'value' of an 'add' to be an integer or a text");
      }
      b_.add_element(key, value);
      return {};
  }
  return {};
}

}  // namespace ouro::c
