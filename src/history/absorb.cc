// HistoryBuilder::absorb(): joins two builders, so that threads can build parts of one history.
//
// Ids and pooled values of the other builder are translated through tables that are filled once per
// distinct name, so the loop over operations does no hashing. A builder that is filled and absorbed
// again and again keeps its names and these tables, since most keys of a block of input were in the
// blocks before it, too.

#include <span>
#include <utility>
#include <vector>

#include "history/storage.h"

namespace ouro {
namespace {

// Appends the optional column `from`, of `from_count` transactions or operations, to `to`, of
// `to_count`. Either column may be empty because nobody has a value; `missing` fills the gap then.
template <class T>
void append_optional(Column<T>& to, std::size_t to_count, const Column<T>& from,
                     std::size_t from_count, const T& missing) {
  if (to.empty() && from.empty()) return;
  to.resize(to_count, missing);
  to.append(from.span());
  to.resize(to_count + from_count, missing);
}

template <class T>
std::uint32_t count_of(const T& column) {
  return static_cast<std::uint32_t>(column.size());
}

}  // namespace

// Moves the parts of `from` into `into`. REQUIRES: the functions are called in the order of their
// declaration, once each. Each shifts indices by the size that the column they point into has so
// far, so that column must not have grown yet.
class HistoryBuilder::Translator {
 public:
  Translator(HistoryBuilder& into, HistoryBuilder& from);

  void add_ops();
  void add_txns();
  void add_predicate_reads();
  void add_predicates();
  void add_versions();

 private:
  [[nodiscard]] Value scalar(Value value);
  [[nodiscard]] Value value(Value value);
  [[nodiscard]] Value list(KeyId key, Value value);
  [[nodiscard]] KeyVersion version(const KeyVersion& version);
  [[nodiscard]] KeyId key(KeyId key) const { return names_.keys[key.index()]; }
  void translate_rows();

  HistoryBuilder& into_;
  HistoryBuilder& from_;
  Storage& to_;     // Of into_.
  Storage& other_;  // Of from_.
  const std::size_t txns_before_;
  const std::size_t ops_before_;

  // From ids and values of `from_` to those of `into_`.
  Interner::Translation& names_;
  std::vector<Value> rows_;      // By Value::payload() of a row.
  std::vector<Value> elements_;  // Scratch: the elements of the list that list() translates.
};

HistoryBuilder::Translator::Translator(HistoryBuilder& into, HistoryBuilder& from)
    : into_(into),
      from_(from),
      to_(*into.storage_),
      other_(*from.storage_),
      txns_before_(into.txn_count()),
      ops_before_(into.op_count()),
      names_(from.interner_->translation) {
  if (names_.into.lock() != into.storage_) names_ = {};
  names_.into = into.storage_;
  names_.texts.resize(other_.text_end.size(), Value::unobserved());
  names_.keys.reserve(other_.key_name.size());
  for (std::size_t i = names_.keys.size(); i < other_.key_name.size(); ++i)
    names_.keys.push_back(into_.key(scalar(other_.key_name[i])));
  for (std::size_t i = names_.sessions.size(); i < other_.session_name.size(); ++i) {
    const Value name = other_.session_name[i];
    names_.sessions.push_back(name.is_null() ? into_.unknown_session()
                                             : into_.session(scalar(name)));
  }
  for (std::size_t i = names_.columns.size(); i < other_.column_name.size(); ++i)
    names_.columns.push_back(into_.column(other_.string(other_.column_name[i])));
  translate_rows();
}

void HistoryBuilder::Translator::translate_rows() {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < other_.row_end.size(); ++i) {
    cells.clear();
    for (const Cell& cell : other_.row(Value::from(ValueKind::Row, i))) {
      cells.push_back({names_.columns[cell.column.index()], scalar(cell.value)});
    }
    rows_.push_back(into_.intern_row(cells));
  }
}

// Several kinds share the pool of texts, and only the handle tells which of them an entry is. So
// entries are translated when the first handle of them comes.
Value HistoryBuilder::Translator::scalar(Value value) {
  if (!is_pooled_text(value.kind())) return value;
  Value& known = names_.texts[value.payload()];
  if (known.is_unobserved()) known = into_.intern(value.kind(), other_.string(value));
  return known;
}

Value HistoryBuilder::Translator::value(Value value) {
  return value.kind() == ValueKind::Row ? rows_[value.payload()] : scalar(value);
}

Value HistoryBuilder::Translator::list(KeyId key, Value value) {
  elements_.clear();
  if (value.length() != 0) {
    const auto& trunk = from_.interner_->trunks[value.trunk()].elements;
    for (std::uint32_t i = 0; i < value.length(); ++i) elements_.push_back(this->value(trunk[i]));
  }
  return into_.intern_list(key, elements_);
}

KeyVersion HistoryBuilder::Translator::version(const KeyVersion& version) {
  return {key(version.key), value(version.value)};
}

void HistoryBuilder::Translator::add_ops() {
  const auto predicate_reads = static_cast<std::int64_t>(to_.predicate_reads.size());
  const std::size_t count = other_.op_kind.size();
  to_.op_kind.append(other_.op_kind.span());
  KeyId* op_key = to_.op_key.extend(count);
  Value* op_value = to_.op_value.extend(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = other_.op_value[i];
    if (is_predicate_read(other_.op_kind[i])) {
      op_key[i] = KeyId{};
      op_value[i] = Value::small(predicate_reads + value.number());
      continue;
    }
    op_key[i] = key(other_.op_key[i]);
    const ValueKind kind = value.kind();
    if (kind == ValueKind::Integer || kind == ValueKind::Null || kind == ValueKind::Unobserved) {
      op_value[i] = value;  // The same in every history.
    } else {
      op_value[i] = value.is_list() ? list(op_key[i], value) : this->value(value);
    }
  }
  append_optional(to_.op_line, ops_before_, other_.op_line, count, std::uint32_t{0});
  const auto parts = static_cast<std::uint32_t>(to_.outer_part.size());
  const auto moved = [&](std::uint32_t part) { return part == 0 ? 0 : part + parts; };
  for (std::uint32_t& part : other_.op_part) part = moved(part);
  append_optional(to_.op_part, ops_before_, other_.op_part, count, std::uint32_t{0});
  for (const std::uint32_t outer : other_.outer_part) to_.outer_part.push_back(moved(outer));
}

void HistoryBuilder::Translator::add_txns() {
  const std::size_t added = other_.txn_session.size();
  for (const std::uint32_t first : other_.txn_first_op) {
    to_.txn_first_op.push_back(first + static_cast<std::uint32_t>(ops_before_));
  }
  for (const SessionId id : other_.txn_session)
    to_.txn_session.push_back(names_.sessions[id.index()]);
  to_.txn_status.append(other_.txn_status.span());
  for (Value& name : other_.txn_name) name = scalar(name);
  TxnColumns<Column>::each_optional(
      [&](const auto& missing, auto& to, const auto& from) {
        append_optional(to, txns_before_, from, added, missing);
      },
      to_, other_);
  to_.txn_position.append(other_.txn_position.span());
  if (to_.files.size() > 1) {
    to_.txn_file.resize(txns_before_, 0);
    to_.txn_file.resize(txns_before_ + added, static_cast<std::uint32_t>(to_.files.size() - 1));
  }
}

void HistoryBuilder::Translator::add_predicate_reads() {
  const std::uint32_t nodes = count_of(to_.predicate_nodes);
  const std::uint32_t rows = count_of(to_.row_reads);
  const std::uint32_t versions = count_of(to_.version_sets);
  for (PredicateRead read : other_.predicate_reads) {
    read.lower = scalar(read.lower);
    read.upper = scalar(read.upper);
    read.result = value(read.result);
    if (read.column.valid()) read.column = names_.columns[read.column.index()];
    if (read.predicate.valid()) read.predicate.value += nodes;
    read.first_row += rows;
    read.first_version += versions;
    to_.predicate_reads.push_back(read);
  }
  for (const KeyVersion& row : other_.row_reads) to_.row_reads.push_back(version(row));
  for (const KeyVersion& seen : other_.version_sets) to_.version_sets.push_back(version(seen));
}

void HistoryBuilder::Translator::add_predicates() {
  const std::uint32_t nodes = count_of(to_.predicate_nodes);
  const std::uint32_t children = count_of(to_.predicate_children);
  const std::uint32_t operands = count_of(to_.predicate_operands);
  for (PredicateNode node : other_.predicate_nodes) {
    node.first += info(node.kind).has_children ? children : operands;
    if (node.column.valid()) node.column = names_.columns[node.column.index()];
    to_.predicate_nodes.push_back(node);
  }
  for (const std::uint32_t child : other_.predicate_children) {
    to_.predicate_children.push_back(child + nodes);
  }
  for (const Value operand : other_.predicate_operands) {
    to_.predicate_operands.push_back(value(operand));
  }
}

void HistoryBuilder::Translator::add_versions() {
  const std::uint32_t versions = count_of(to_.versions);
  for (VersionOrder order : other_.version_orders) {
    order.key = key(order.key);
    order.first += versions;
    to_.version_orders.push_back(order);
  }
  for (const Value version : other_.versions) to_.versions.push_back(value(version));
  const std::uint32_t file = to_.files.empty() ? 0 : count_of(to_.files) - 1;
  for (const auto& [version, id, position, _] : from_.interner_->named_versions) {
    into_.interner_->named_versions.push_back({version + versions, key(id), position, file});
  }
  for (const auto& [id, initial] : from_.interner_->initial) {
    into_.interner_->initial[key(id)] = value(initial);
  }
  if (!other_.default_initial.is_null()) to_.default_initial = value(other_.default_initial);
}

void HistoryBuilder::absorb(HistoryBuilder&& other) {
  Translator translator(*this, other);
  translator.add_ops();
  translator.add_txns();
  translator.add_predicate_reads();
  translator.add_predicates();
  translator.add_versions();
  for (Remark& remark : other.storage_->remarks) storage_->remarks.push_back(std::move(remark));
  other.forget_txns();
}

// Names are kept only while they are few: a builder that sees ever new texts would otherwise grow
// without end. Rows are not translated incrementally, so with rows nothing is kept.
void HistoryBuilder::forget_txns() {
  constexpr std::size_t kKeysKept = 1 << 20;
  constexpr std::size_t kTextsKept = 1 << 16;
  constexpr std::size_t kTextBytesKept = 1 << 22;
  const Storage& s = *storage_;
  if (s.key_name.size() > kKeysKept || s.session_name.size() > kKeysKept ||
      s.text_end.size() > kTextsKept || s.text_bytes.size() > kTextBytesKept ||
      !s.row_end.empty()) {
    *this = HistoryBuilder();
    return;
  }
  storage_->keep_names();
  interner_->initial.clear();
  interner_->named_versions.clear();
  interner_->first_trunk.clear();
  interner_->trunks.clear();
}

}  // namespace ouro
