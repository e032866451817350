// A hash of what a history says, whatever format it came from, and in however many pieces.
//
// FNV-1a over 64-bit words with a final mix. Names, strings, rows, lists and predicates go in by
// content, as their handles depend on the order in which a reader met them; a list by the hash of
// its prefix of a trunk, so that the cost stays linear; a row by the sum over its cells, whose
// order is that in which columns were met. Only sessions go by number, from the first that has a
// transaction: formats name them as they like. Transactions and version orders are hashed apart,
// since the line of a version order may be anywhere among those of transactions.

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "history/columns.h"
#include "ouro/certificate.h"

namespace ouro {
namespace {

constexpr std::uint64_t kSeed = 0xcbf29ce484222325;

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = kSeed;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// The hashes of all values, keys, columns and predicates of one piece, each computed once.
class Contents {
 public:
  explicit Contents(const History& history) : h_(history), c_(columns_of(history)) {
    texts_.reserve(c_.text_end.size());
    for (std::size_t t = 0; t < c_.text_end.size(); ++t) {
      texts_.push_back(hash_of(h_.string(Value::from(ValueKind::Text, t))));
    }
    for (const Value name : c_.column_name) columns_.push_back(texts_[name.payload()]);
    add_rows();
    add_lists();
    keys_.reserve(h_.key_count());
    for (const Value name : c_.key_name) keys_.push_back(of(name));
    add_predicates();
  }

  [[nodiscard]] std::uint64_t of(Value value) const {
    const auto kind = static_cast<std::uint64_t>(value.kind());
    switch (value.kind()) {
      case ValueKind::Text:
      case ValueKind::Wide:
      case ValueKind::Decimal:
      case ValueKind::Float:
        return mix(texts_[value.payload()], kind);
      case ValueKind::Row:
        return mix(rows_[value.payload()], kind);
      case ValueKind::List: {
        if (value.length() == 0) return mix(kSeed, kind);
        const std::size_t first = value.trunk() == 0 ? 0 : c_.trunk_end[value.trunk() - 1];
        return mix(prefixes_[first + value.length() - 1], kind);
      }
      default:
        return mix(value.bits(), kind);
    }
  }
  [[nodiscard]] std::uint64_t of(KeyId key) const { return keys_[key.index()]; }
  [[nodiscard]] std::uint64_t of(ColumnId column) const {
    return column.valid() ? columns_[column.index()] : 0;
  }
  [[nodiscard]] std::uint64_t of(PredicateId predicate) const {
    return predicate.valid() ? predicates_[predicate.index()] : 0;
  }

 private:
  void add_rows() {
    rows_.reserve(c_.row_end.size());
    for (std::size_t r = 0; r < c_.row_end.size(); ++r) {
      std::uint64_t sum = kSeed;
      for (const Cell& cell : h_.row(Value::from(ValueKind::Row, r))) {
        sum += mix(mix(kSeed, of(cell.column)), of(cell.value));
      }
      rows_.push_back(sum);
    }
  }

  void add_lists() {
    prefixes_.reserve(c_.elements.size());
    for (std::size_t trunk = 0, at = 0; trunk < c_.trunk_end.size(); ++trunk) {
      std::uint64_t hash = kSeed;
      for (; at < c_.trunk_end[trunk]; ++at) {
        hash = mix(hash, of(c_.elements[at]));
        prefixes_.push_back(hash);
      }
    }
  }

  // The parts of a predicate come before it, so their hashes are known.
  void add_predicates() {
    predicates_.reserve(c_.predicate_nodes.size());
    for (const PredicateNode& node : c_.predicate_nodes) {
      const auto kind = static_cast<std::uint64_t>(node.kind);
      std::uint64_t hash = mix(mix(mix(kSeed, kind), of(node.column)), node.count);
      if (info(node.kind).has_children) {
        for (const std::uint32_t child : h_.children(node)) hash = mix(hash, predicates_[child]);
      } else if (info(node.kind).compares) {
        for (const Value operand : h_.operands(node)) hash = mix(hash, of(operand));
      }
      predicates_.push_back(hash);
    }
  }

  const History& h_;
  const HistoryColumns& c_;
  std::vector<std::uint64_t> texts_;
  std::vector<std::uint64_t> columns_;
  std::vector<std::uint64_t> rows_;
  // One per element, at the same index: of its trunk up to there.
  std::vector<std::uint64_t> prefixes_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> predicates_;
};

// What is known of all pieces so far, as hashes.
struct Known {
  std::uint64_t txn_count = 0;
  std::uint64_t op_count = 0;
  std::uint64_t txns = kSeed;
  std::uint64_t orders = kSeed;   // The version orders.
  std::uint64_t initial = kSeed;  // What keys hold at the start.
  // By key, if it holds something else.
  absl::flat_hash_map<std::uint64_t, std::uint64_t> own_initial;
  absl::flat_hash_map<std::uint64_t, std::uint64_t> sessions;  // By name: its number.
};

// Adds one piece.
class Adding {
 public:
  Adding(const History& piece, Known& known) : h_(piece), known_(known), contents_(piece) {}

  void run() {
    const HistoryColumns& c = columns_of(h_);
    if (known_.txn_count == 0) known_.initial = contents_.of(c.default_initial);
    for (const KeyVersion& own : c.key_initial) {
      known_.own_initial[contents_.of(own.key)] = contents_.of(own.value);
    }
    for (std::size_t t = 0; t < h_.txn_count(); ++t) txn(TxnId{t});
    for (const VersionOrder& order : h_.version_orders()) version_order(order);
    known_.txn_count += h_.txn_count();
    known_.op_count += h_.op_count();
  }

 private:
  void add(std::uint64_t word) { known_.txns = mix(known_.txns, word); }

  std::uint64_t number(SessionId session) {
    constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
    if (h_.session_name(session).is_null()) return kUnknown;
    const std::uint64_t name = contents_.of(h_.session_name(session));
    return known_.sessions.try_emplace(name, known_.sessions.size()).first->second;
  }

  void txn(TxnId txn) {
    add(number(h_.session(txn)));
    add(static_cast<std::uint64_t>(h_.status(txn)));
    for (const auto clock : {h_.invoked(txn), h_.completed(txn)}) {
      add(static_cast<std::uint64_t>(clock.value_or(kNoClock)));
    }
    if (const auto clock = h_.began(txn)) timestamp('b', {*clock, 0});
    if (const auto clock = h_.committing(txn)) timestamp('a', {*clock, 0});
    if (const auto start = h_.start_ts(txn)) timestamp('s', *start);
    if (const auto commit = h_.commit_ts(txn)) timestamp('c', *commit);
    if (const auto level = h_.level(txn)) timestamp('l', {static_cast<std::int64_t>(*level), 0});
    if (const auto sno = h_.sno(txn)) timestamp('n', {*sno, 0});
    add(h_.end_op(txn).value - h_.first_op(txn).value);
    std::vector<std::uint32_t> parts;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      undone_parts(id, parts);
      add(static_cast<std::uint64_t>(op.kind));
      if (is_predicate_read(op.kind)) {
        predicate_read(h_.predicate_read(id));
      } else {
        add(contents_.of(op.key));
        add(contents_.of(op.value));
      }
    }
  }

  // Where undone parts end and begin before operation `id`; `open` are those around the one before.
  // Their numbers do not matter, and neither do parts without operations.
  void undone_parts(OpId id, std::vector<std::uint32_t>& open) {
    std::vector<std::uint32_t> around;
    for (auto part = h_.undone_part(id); part != 0; part = h_.outer_part(part)) {
      around.insert(around.begin(), part);
    }
    if (around == open) return;
    const auto differ = std::mismatch(around.begin(), around.end(), open.begin(), open.end());
    add('u');
    add(static_cast<std::uint64_t>(open.end() - differ.second));
    add(static_cast<std::uint64_t>(around.end() - differ.first));
    open = std::move(around);
  }

  // Called only for timestamps that are there: a history without any has the hash that it would
  // have if there were no such thing.
  void timestamp(char which, Timestamp timestamp) {
    add(static_cast<std::uint64_t>(which));
    add(static_cast<std::uint64_t>(timestamp.physical));
    add(static_cast<std::uint64_t>(timestamp.logical));
  }

  void predicate_read(const PredicateRead& read) {
    for (const Value part : {read.lower, read.upper, read.result}) add(contents_.of(part));
    add(static_cast<std::uint64_t>(read.aggregate));
    add(contents_.of(read.column));
    add(contents_.of(read.predicate));
    for (const auto versions : {h_.rows(read), h_.version_set(read)}) {
      add(versions.size());
      for (const KeyVersion& version : versions) {
        add(contents_.of(version.key));
        add(contents_.of(version.value));
      }
    }
  }

  void version_order(const VersionOrder& order) {
    const auto add_word = [this](std::uint64_t word) { known_.orders = mix(known_.orders, word); };
    add_word(contents_.of(order.key));
    add_word(order.complete ? 1 : 0);
    add_word(order.count);
    for (const Value version : h_.versions(order)) add_word(contents_.of(version));
    for (const TxnId writer : h_.version_writers(order)) add_word(writer.value);
  }

  const History& h_;
  Known& known_;
  const Contents contents_;
};

}  // namespace

struct HistoryIdentity::State : Known {};

HistoryIdentity::HistoryIdentity() : state_(std::make_unique<State>()) {}
HistoryIdentity::HistoryIdentity(HistoryIdentity&&) noexcept = default;
HistoryIdentity& HistoryIdentity::operator=(HistoryIdentity&&) noexcept = default;
HistoryIdentity::~HistoryIdentity() = default;

void HistoryIdentity::add(const History& piece) { Adding(piece, *state_).run(); }
std::uint64_t HistoryIdentity::txns() const { return state_->txn_count; }
std::uint64_t HistoryIdentity::ops() const { return state_->op_count; }

// A key whose own initial value is the common one is like the others. The map has no order, so
// hashes are added up.
std::uint64_t HistoryIdentity::fingerprint() const {
  const State& s = *state_;
  std::uint64_t own = 0;
  for (const auto& [key, initial] : s.own_initial) {
    if (initial != s.initial) own += mix(mix(kSeed, key), initial);
  }
  return mix(mix(mix(mix(kSeed, s.initial), own), s.txns), s.orders);
}

std::uint64_t fingerprint(const History& history) {
  HistoryIdentity identity;
  identity.add(history);
  return identity.fingerprint();
}

}  // namespace ouro
