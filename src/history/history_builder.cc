#include "ouro/history_builder.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <string>

#include "history/columns.h"
#include "history/decimal.h"
#include "history/input_error.h"
#include "history/real_time.h"
#include "history/session_order.h"
#include "history/storage.h"

namespace ouro {
namespace {

constexpr std::uint64_t kCountLimit = 0xfffffffe;  // Ids are below Id::kNone.

// Fills an optional column with `missing` up to `count` entries.
template <class T>
void backfill(Column<T>& column, std::size_t count, const T& missing) {
  if (column.size() < count) column.resize(count, missing);
}

// REQUIRES: `list` is not shorter than `prefix`.
bool starts_with(std::span<const Value> list, std::span<const Value> prefix) {
  return std::equal(prefix.begin(), prefix.end(), list.begin());
}

}  // namespace

HistoryBuilder::HistoryBuilder()
    : storage_(std::make_shared<Storage>()), interner_(std::make_unique<Interner>()) {}
HistoryBuilder::~HistoryBuilder() = default;
HistoryBuilder::HistoryBuilder(HistoryBuilder&&) noexcept = default;
HistoryBuilder& HistoryBuilder::operator=(HistoryBuilder&&) noexcept = default;

// ---- values ----

Value HistoryBuilder::integer(std::int64_t number) {
  if (Value::fits(number)) return Value::small(number);
  return intern(ValueKind::Wide, std::to_string(number));
}

Value HistoryBuilder::unsigned_integer(std::uint64_t number) {
  if (number <= static_cast<std::uint64_t>(INT64_MAX)) {
    return integer(static_cast<std::int64_t>(number));
  }
  return intern(ValueKind::Wide, std::to_string(number));
}

Value HistoryBuilder::text(std::string_view string) { return intern(ValueKind::Text, string); }

Value HistoryBuilder::decimal(std::string_view number) {
  const std::optional<std::string> plain = plain_decimal(number);
  return plain ? exact_number(without_trailing_zeros(*plain)) : Value::null();
}

Value HistoryBuilder::precise_decimal(std::string_view number) {
  const std::optional<std::string> plain = plain_decimal(number);
  return plain ? exact_number(*plain) : Value::null();
}

// REQUIRES: `digits` come from plain_decimal().
Value HistoryBuilder::exact_number(std::string_view digits) {
  if (digits.find('.') != std::string_view::npos) return intern(ValueKind::Decimal, digits);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return parsed.ec == std::errc() ? integer(number) : intern(ValueKind::Wide, digits);
}

Value HistoryBuilder::floating(double number) {
  return intern(ValueKind::Float, float_digits(number));
}

// All kinds in the pool of texts are bytes there. The kind is part of the hash, and of what the map
// holds (kPooledKinds · number in the pool, plus a number for the kind), since the text "99" is not
// the number 99. Entries whose hashes collide go to the next free hash.
Value HistoryBuilder::intern(ValueKind kind, std::string_view bytes) {
  constexpr std::uint64_t kPooledKinds = 4;
  const std::uint64_t code = kind == ValueKind::Text      ? 0
                             : kind == ValueKind::Wide    ? 1
                             : kind == ValueKind::Decimal ? 2
                                                          : 3;
  std::uint64_t hash = absl::HashOf(bytes, kind);
  for (;; ++hash) {
    const auto [at, added] =
        interner_->text_of_hash.try_emplace(hash, storage_->text_end.size() * kPooledKinds + code);
    const Value value = Value::from(kind, at->second / kPooledKinds);
    if (added) {
      storage_->text_bytes.append({bytes.data(), bytes.size()});
      storage_->text_end.push_back(storage_->text_bytes.size());
      return value;
    }
    if (at->second % kPooledKinds == code && storage_->string(value) == bytes) return value;
  }
}

Value HistoryBuilder::row(std::span<const NamedCell> cells) {
  std::vector<Cell> sorted;
  sorted.reserve(cells.size());
  for (const auto& [name, value] : cells) sorted.push_back({column(name), value});
  return intern_row(sorted);
}

Value HistoryBuilder::intern_row(std::vector<Cell>& cells) {
  std::sort(cells.begin(), cells.end());
  std::uint64_t hash = cells.size();
  for (const Cell& cell : cells) hash = absl::HashOf(hash, cell.column.value, cell.value.bits());
  for (;; ++hash) {
    const auto [at, added] = interner_->row_of_hash.try_emplace(
        hash, static_cast<std::uint32_t>(storage_->row_end.size()));
    const Value value = Value::from(ValueKind::Row, at->second);
    if (added) {
      storage_->cells.append(cells);
      storage_->row_end.push_back(storage_->cells.size());
      return value;
    }
    const auto known = storage_->row(value);
    if (std::equal(known.begin(), known.end(), cells.begin(), cells.end())) return value;
  }
}

// A read that continues a trunk of its key lengthens the trunk. So a key whose reads agree costs
// the memory of its longest read, however many reads there are.
Value HistoryBuilder::intern_list(KeyId key, std::span<const Value> elements) {
  if (elements.empty()) return Value::list(0, 0);
  const auto length = static_cast<std::uint32_t>(elements.size());
  auto& trunks = interner_->trunks;
  std::uint32_t last = Interner::kNoTrunk;
  const auto found = interner_->first_trunk.find(key);
  std::uint32_t trunk = found == interner_->first_trunk.end() ? Interner::kNoTrunk : found->second;
  for (int tried = 0; trunk != Interner::kNoTrunk; trunk = trunks[trunk].next, ++tried) {
    auto& known = trunks[trunk].elements;
    if (tried < Interner::kTrunksTried) {
      if (known.size() >= length) {
        if (starts_with(known, elements)) return Value::list(trunk, length);
      } else if (starts_with(elements, known)) {
        known.insert(known.end(), elements.begin() + static_cast<std::ptrdiff_t>(known.size()),
                     elements.end());
        return Value::list(trunk, length);
      }
    } else {
      break;
    }
    last = trunk;
  }
  const auto added = static_cast<std::uint32_t>(trunks.size());
  trunks.push_back({std::vector<Value>(elements.begin(), elements.end()), Interner::kNoTrunk});
  if (last == Interner::kNoTrunk) {
    interner_->first_trunk[key] = added;
  } else {
    trunks[added].next = trunks[last].next;
    trunks[last].next = added;
  }
  return Value::list(added, length);
}

// ---- names ----

bool HistoryBuilder::Interner::has_place(std::size_t number, std::size_t keys) {
  if (number < key_of_number.size()) return true;
  if (number >= kSmallNames || number / kNumbersPerKey > keys) return false;
  const std::size_t size = std::max(number + 1, 2 * key_of_number.size());
  key_of_number.resize(size);
  for (const auto& [bits, key] : key_of_name) {
    const Value name = Value::from_bits(bits);
    if (name.kind() != ValueKind::Integer || name.number() < 0) continue;
    const auto other = static_cast<std::size_t>(name.number());
    if (other < size) key_of_number[other] = key;
  }
  return true;
}

KeyId HistoryBuilder::key(Value name) {
  const std::size_t count = storage_->key_name.size();
  if (name.kind() == ValueKind::Integer && name.number() >= 0 &&
      interner_->has_place(static_cast<std::size_t>(name.number()), count)) {
    KeyId& known = interner_->key_of_number[static_cast<std::size_t>(name.number())];
    if (!known.valid()) {
      known = KeyId{count};
      storage_->key_name.push_back(name);
    }
    return known;
  }
  const auto [at, added] =
      interner_->key_of_name.try_emplace(name.bits(), KeyId{storage_->key_name.size()});
  if (added) storage_->key_name.push_back(name);
  return at->second;
}

void HistoryBuilder::prefetch_key(std::int64_t name) const {
  const Interner& known = *interner_;
  if (name >= 0 && static_cast<std::size_t>(name) < known.key_of_number.size()) {
    __builtin_prefetch(&known.key_of_number[static_cast<std::size_t>(name)]);
  } else if (Value::fits(name)) {
    known.key_of_name.prefetch(Value::small(name).bits());
  }
}

SessionId HistoryBuilder::session(Value name) {
  const auto [at, added] =
      interner_->session_of_name.try_emplace(name.bits(), SessionId{storage_->session_name.size()});
  if (added) storage_->session_name.push_back(name);
  return at->second;
}

SessionId HistoryBuilder::unknown_session() {
  storage_->session_name.push_back(Value::null());
  return SessionId{storage_->session_name.size() - 1};
}

ColumnId HistoryBuilder::column(std::string_view name) {
  const Value interned = text(name);
  const auto [at, added] = interner_->column_of_name.try_emplace(
      interned.bits(), ColumnId{storage_->column_name.size()});
  if (added) storage_->column_name.push_back(interned);
  return at->second;
}

std::string_view HistoryBuilder::string(Value text) const { return storage_->string(text); }
Value HistoryBuilder::key_name(KeyId key) const { return storage_->key_name[key.index()]; }

bool HistoryBuilder::fits_64_bits(Value integer) const {
  return integer.kind() == ValueKind::Integer || ouro::fits_64_bits(storage_->string(integer));
}

Value HistoryBuilder::cell(Value row, ColumnId column) const {
  if (row.kind() != ValueKind::Row) return Value::null();
  for (const Cell& cell : storage_->row(row)) {
    if (cell.column == column) return cell.value;
  }
  return Value::null();
}

void HistoryBuilder::file(std::string_view name, PlaceUnit unit) {
  storage_->files.emplace_back(name);
  storage_->place_unit = unit;
}

// ---- transactions ----

TxnId HistoryBuilder::begin_txn(SessionId session, std::uint64_t position) {
  interner_->followed_parts.clear();
  if (!interner_->open_parts.empty()) {  // A reader stopped at an error.
    interner_->open_parts.clear();
    interner_->undone_before.clear();
    interner_->undone_ops.clear();
    interner_->undone_of_key.clear();
  }
  Storage& s = *storage_;
  const TxnId txn{s.txn_session.size()};
  s.txn_first_op.push_back(static_cast<std::uint32_t>(s.op_kind.size()));
  s.txn_session.push_back(session);
  s.txn_status.push_back(TxnStatus::Committed);
  s.txn_position.push_back(position);
  if (s.files.size() > 1) {
    backfill(s.txn_file, txn.index(), std::uint32_t{0});
    s.txn_file.push_back(static_cast<std::uint32_t>(s.files.size() - 1));
  }
  TxnColumns<Column>::each_optional(
      [](const auto& missing, auto& column) {
        if (!column.empty()) column.push_back(missing);
      },
      s);
  return txn;
}

void HistoryBuilder::set_session(SessionId session) { storage_->txn_session.back() = session; }

void HistoryBuilder::status(TxnStatus status) { storage_->txn_status.back() = status; }

void HistoryBuilder::name(Value name) {
  backfill(storage_->txn_name, txn_count(), Value::null());
  storage_->txn_name.back() = name;
}

void HistoryBuilder::clocks(std::int64_t invoked, std::int64_t completed) {
  if (invoked != kNoClock) {
    backfill(storage_->invoked, txn_count(), kNoClock);
    storage_->invoked.back() = invoked;
  }
  if (completed != kNoClock) {
    backfill(storage_->completed, txn_count(), kNoClock);
    storage_->completed.back() = completed;
  }
}

void HistoryBuilder::inner_clocks(std::int64_t began, std::int64_t committing) {
  if (began != kNoClock) {
    backfill(storage_->began, txn_count(), kNoClock);
    storage_->began.back() = began;
  }
  if (committing != kNoClock) {
    backfill(storage_->committing, txn_count(), kNoClock);
    storage_->committing.back() = committing;
  }
}

void HistoryBuilder::timestamps(Timestamp start, Timestamp commit) {
  if (start != kNoTimestamp) {
    backfill(storage_->start_ts, txn_count(), kNoTimestamp);
    storage_->start_ts.back() = start;
  }
  if (commit != kNoTimestamp) {
    backfill(storage_->commit_ts, txn_count(), kNoTimestamp);
    storage_->commit_ts.back() = commit;
  }
}

void HistoryBuilder::level(Level level) {
  backfill(storage_->txn_level, txn_count(), kNoLevel);
  storage_->txn_level.back() = static_cast<std::uint8_t>(level);
}

void HistoryBuilder::sno(std::int64_t number) {
  backfill(storage_->txn_sno, txn_count(), kNoSno);
  storage_->txn_sno.back() = number;
}

std::size_t HistoryBuilder::txn_count() const { return storage_->txn_session.size(); }
std::size_t HistoryBuilder::op_count() const { return storage_->op_kind.size(); }

// ---- operations ----

OpId HistoryBuilder::add_op(OpKind kind, KeyId key, Value value, std::uint32_t line) {
  Storage& s = *storage_;
  assert(!s.txn_session.empty());
  const OpId op{s.op_kind.size()};
  const auto& parts = interner_->open_parts;
  if (!parts.empty() || !s.op_part.empty()) {
    if (!parts.empty()) kind = undone_kind(kind, key);
    backfill(s.op_part, op.index(), std::uint32_t{0});
    s.op_part.push_back(parts.empty() ? 0 : parts.back());
    if (!parts.empty() && is_undone(kind)) {
      interner_->undone_ops.push_back(op);
      ++interner_->undone_of_key[key];
    }
  }
  s.op_kind.push_back(kind);
  s.op_key.push_back(key);
  s.op_value.push_back(value);
  if (line != 0 || !s.op_line.empty()) {
    backfill(s.op_line, op.index(), std::uint32_t{0});
    s.op_line.push_back(line);
  }
  return op;
}

// What an operation becomes within an undone part. One that was copied from there already is.
OpKind HistoryBuilder::undone_kind(OpKind kind, KeyId key) const {
  switch (kind) {
    case OpKind::Write:
      return OpKind::UndoneWrite;
    case OpKind::Delete:
      return OpKind::UndoneDelete;
    case OpKind::Append:
      return OpKind::UndoneAppend;
    case OpKind::Read:
      return sees_undone(key) ? OpKind::ReadBack : kind;
    default:
      return kind;
  }
}

void HistoryBuilder::begin_undone() {
  auto& parts = interner_->open_parts;
  storage_->outer_part.push_back(parts.empty() ? 0 : parts.back());
  parts.push_back(static_cast<std::uint32_t>(storage_->outer_part.size()));
  interner_->undone_before.push_back(interner_->undone_ops.size());
}

void HistoryBuilder::end_undone() {
  auto& ops = interner_->undone_ops;
  for (; ops.size() > interner_->undone_before.back(); ops.pop_back()) {
    const auto of_key = interner_->undone_of_key.find(storage_->op_key[ops.back().index()]);
    if (--of_key->second == 0) interner_->undone_of_key.erase(of_key);
  }
  interner_->undone_before.pop_back();
  interner_->open_parts.pop_back();
}

bool HistoryBuilder::sees_undone(KeyId key) const {
  return key.valid() ? interner_->undone_of_key.contains(key) : !interner_->undone_ops.empty();
}

void HistoryBuilder::follow_parts(const History& history, OpId op) {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t part = history.undone_part(op); part != 0; part = history.outer_part(part)) {
    wanted.insert(wanted.begin(), part);
  }
  auto& followed = interner_->followed_parts;
  std::size_t same = 0;
  while (same < wanted.size() && same < followed.size() && followed[same] == wanted[same]) ++same;
  for (; followed.size() > same; followed.pop_back()) end_undone();
  for (; followed.size() < wanted.size(); followed.push_back(wanted[followed.size()])) {
    begin_undone();
  }
}

// Within an undone part a compare-and-set is a read and a write.
OpId HistoryBuilder::cas(KeyId key, Value expected, Value desired, bool succeeded,
                         std::uint32_t line) {
  if (succeeded && !interner_->open_parts.empty()) {
    const OpId read = add_op(OpKind::Read, key, expected, line);
    add_op(OpKind::Write, key, desired, line);
    return read;
  }
  const OpId first = add_op(succeeded ? OpKind::CasRead : OpKind::CasFailed, key, expected, line);
  add_op(succeeded ? OpKind::CasWrite : OpKind::CasUnwritten, key, desired, line);
  return first;
}
OpId HistoryBuilder::add(OpKind kind, KeyId key, Value value, std::uint32_t line) {
  return add_op(kind, key, value, line);
}
OpId HistoryBuilder::read(KeyId key, Value result, std::uint32_t line) {
  return add_op(OpKind::Read, key, result, line);
}
OpId HistoryBuilder::write(KeyId key, Value value, std::uint32_t line) {
  return add_op(OpKind::Write, key, value, line);
}
OpId HistoryBuilder::remove(KeyId key, Value tombstone, std::uint32_t line) {
  return add_op(OpKind::Delete, key, tombstone, line);
}
OpId HistoryBuilder::append(KeyId key, Value element, std::uint32_t line) {
  return add_op(OpKind::Append, key, element, line);
}
// Within an undone part, what it appended itself is left out at the end of the list: the rest is
// what the transaction saw otherwise. If the list does not end like that, it is a wrong ReadBack.
OpId HistoryBuilder::read_list(KeyId key, std::span<const Value> elements, std::uint32_t line) {
  if (!interner_->open_parts.empty() && sees_undone(key)) {
    const std::vector<Value> own = undone_appends(key);
    const bool fits = elements.size() >= own.size() &&
                      std::equal(own.begin(), own.end(), elements.end() - std::ssize(own));
    if (!fits || own.empty())
      return add_op(OpKind::ReadBack, key, intern_list(key, elements), line);
    const OpId read = add_op(OpKind::ReadBack, key,
                             intern_list(key, elements.first(elements.size() - own.size())), line);
    storage_->op_kind[read.index()] = OpKind::Read;
    return read;
  }
  return add_op(OpKind::Read, key, intern_list(key, elements), line);
}

std::vector<Value> HistoryBuilder::undone_appends(KeyId key) const {
  std::vector<Value> out;
  for (const OpId id : interner_->undone_ops) {
    const Op undone = op(id);
    if (undone.kind == OpKind::UndoneAppend && undone.key == key) out.push_back(undone.value);
  }
  return out;
}

Op HistoryBuilder::op(OpId id) const {
  const Storage& s = *storage_;
  return {id, s.op_kind[id.index()], s.op_key[id.index()], s.op_value[id.index()]};
}
void HistoryBuilder::set_value(OpId id, Value value) { storage_->op_value[id.index()] = value; }

OpId HistoryBuilder::add_predicate_read(OpKind kind, PredicateRead read, const Rows& rows) {
  Storage& s = *storage_;
  read.first_row = static_cast<std::uint32_t>(s.row_reads.size());
  read.row_count = static_cast<std::uint32_t>(rows.rows.size());
  read.has_version_set = rows.has_version_set;
  read.first_version = static_cast<std::uint32_t>(s.version_sets.size());
  read.version_count = static_cast<std::uint32_t>(rows.version_set.size());
  s.row_reads.append(rows.rows);
  s.version_sets.append(rows.version_set);
  s.predicate_reads.push_back(read);
  const auto number = static_cast<std::int64_t>(s.predicate_reads.size() - 1);
  return add_op(kind, KeyId{}, Value::small(number), 0);
}

OpId HistoryBuilder::scan(Value lower, Value upper, const Rows& rows) {
  PredicateRead read;
  read.lower = lower;
  read.upper = upper;
  return add_predicate_read(OpKind::Scan, read, rows);
}

OpId HistoryBuilder::select(PredicateId predicate, const Rows& rows) {
  PredicateRead read;
  read.predicate = predicate;
  return add_predicate_read(OpKind::Select, read, rows);
}

OpId HistoryBuilder::aggregate(AggregateKind kind, ColumnId column, PredicateId predicate,
                               Value result, const Rows& rows) {
  PredicateRead read;
  read.predicate = predicate;
  read.aggregate = kind;
  read.column = column;
  read.result = result;
  return add_predicate_read(OpKind::Aggregate, read, rows);
}

// ---- predicates ----

PredicateId HistoryBuilder::always() {
  storage_->predicate_nodes.push_back({});
  return PredicateId{storage_->predicate_nodes.size() - 1};
}

PredicateId HistoryBuilder::combine(PredicateKind kind, std::span<const PredicateId> children) {
  Storage& s = *storage_;
  PredicateNode node{.kind = kind,
                     .column = {},
                     .first = static_cast<std::uint32_t>(s.predicate_children.size()),
                     .count = static_cast<std::uint32_t>(children.size())};
  for (const PredicateId child : children) s.predicate_children.push_back(child.value);
  s.predicate_nodes.push_back(node);
  return PredicateId{s.predicate_nodes.size() - 1};
}

PredicateId HistoryBuilder::compare(PredicateKind kind, ColumnId column,
                                    std::span<const Value> operands) {
  Storage& s = *storage_;
  PredicateNode node{.kind = kind,
                     .column = column,
                     .first = static_cast<std::uint32_t>(s.predicate_operands.size()),
                     .count = static_cast<std::uint32_t>(operands.size())};
  s.predicate_operands.append(operands);
  s.predicate_nodes.push_back(node);
  return PredicateId{s.predicate_nodes.size() - 1};
}

// ---- the whole history ----

void HistoryBuilder::default_initial(Value value) { storage_->default_initial = value; }
void HistoryBuilder::initial(KeyId key, Value value) { interner_->initial[key] = value; }

void HistoryBuilder::version_order(KeyId key, std::span<const Value> versions, bool complete) {
  storage_->version_orders.push_back(
      {.key = key,
       .complete = complete,
       .first = static_cast<std::uint32_t>(storage_->versions.size()),
       .count = static_cast<std::uint32_t>(versions.size())});
  storage_->versions.append(versions);
}

void HistoryBuilder::version_order(KeyId key, std::span<const NamedVersion> versions, bool complete,
                                   std::uint64_t position) {
  std::vector<Value> listed;
  const std::size_t first = storage_->versions.size();
  const std::size_t files = storage_->files.size();
  for (const auto& [value, name] : versions) {
    if (!name.is_null()) {
      interner_->named_versions.push_back({first + listed.size(), key, position,
                                           static_cast<std::uint32_t>(files == 0 ? 0 : files - 1)});
    }
    listed.push_back(name.is_null() ? value : name);
  }
  version_order(key, listed, complete);
}

void HistoryBuilder::remark(std::string_view name, std::string_view text) {
  storage_->remarks.push_back({std::string(name), std::string(text)});
}

Result<History> HistoryBuilder::freeze() && {
  Storage& s = *storage_;
  if (auto status = lower(); !status.ok()) return status.error();
  if (auto status = find_named_versions(); !status.ok()) return status.error();
  if (s.op_kind.size() > kCountLimit || s.txn_session.size() > kCountLimit ||
      s.row_reads.size() > kCountLimit || s.version_sets.size() > kCountLimit) {
    Error error;
    error.file = s.files.empty() ? "" : s.files[0];
    error.what = "the history has more than 4294967294 operations; split it";
    return error;
  }
  if (const auto wrong = first_clock_disorder(
          {s.invoked.span(), s.began.span(), s.committing.span(), s.completed.span()})) {
    return s.error_about(
        wrong->txn, "the transaction " + wrong->what + "; correct its clocks, or leave one out");
  }
  s.txn_first_op.push_back(static_cast<std::uint32_t>(s.op_kind.size()));

  const SessionIndex sessions =
      index_sessions(s.session_name.size(), s.txn_session.span(), s.txn_sno.span());
  if (const auto fault = first_sno_fault(sessions, s.txn_sno.span())) {
    return s.error_about(fault->txn.index(), fault->what);
  }
  s.session_first.append(sessions.first);
  s.session_txns.append(sessions.txns);

  for (const auto& [key, value] : interner_->initial) s.key_initial.push_back({key, value});
  std::sort(s.key_initial.begin(), s.key_initial.end());
  for (const auto& trunk : interner_->trunks) {
    s.elements.append(trunk.elements);
    s.trunk_end.push_back(s.elements.size());
  }
  interner_.reset();
  OpColumns<Column>::each([](auto& column) { column.shrink(); }, s);
  const HistoryColumns view = s.view();
  return history_of(view, std::move(storage_));
}

// ---- storage ----

// Columns keep their memory, as about as many transactions come next.
void HistoryBuilder::Storage::keep_names() {
  const auto clear = [](auto& column) { column.clear(); };
  OpColumns<Column>::each(clear, *this);
  PartColumns<Column>::each(clear, *this);
  TxnColumns<Column>::each(clear, *this);
  PredicateReadColumns<Column>::each(clear, *this);
  PredicateColumns<Column>::each(clear, *this);
  VersionOrderColumns<Column>::each(clear, *this);
  files.clear();
  remarks.clear();
  default_initial = Value::null();
  place_unit = PlaceUnit::None;
}

Error HistoryBuilder::Storage::error_about(std::size_t txn, std::string what) const {
  return error_in(txn_file.empty() ? 0 : txn_file[txn], txn_position[txn], std::move(what));
}

Error HistoryBuilder::Storage::error_in(std::size_t file, std::uint64_t position,
                                        std::string what) const {
  Place place;
  if (file < files.size()) place.file = files[file];
  if (place_unit != PlaceUnit::None) place.position = position;
  place.unit = place_unit;
  return error_at(place, std::move(what));
}

std::string_view HistoryBuilder::Storage::string(Value value) const {
  const auto bytes = piece(text_bytes.span(), text_end.span(), value.payload());
  return {bytes.data(), bytes.size()};
}

std::span<const Cell> HistoryBuilder::Storage::row(Value value) const {
  return piece(cells.span(), row_end.span(), value.payload());
}

HistoryColumns HistoryBuilder::Storage::view() const {
  HistoryColumns c;
  for_each_column([](auto& view, const auto& column) { view = column.span(); }, c, *this);
  c.default_initial = default_initial;
  c.place_unit = place_unit;
  c.files = files;
  c.remarks = remarks;
  return c;
}

}  // namespace ouro
