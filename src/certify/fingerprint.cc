// A hash of what a history says, whatever format it came from.
//
// FNV-1a over 64-bit words with a final mix. Strings, rows and lists go in by content, as their
// handles depend on the order in which a reader met them; a list by the hash of its prefix of a
// trunk, so that the cost stays linear.

#include <string_view>
#include <vector>

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

class Fingerprint {
 public:
  explicit Fingerprint(const History& history) : h_(history), c_(history.columns()) {
    texts_.reserve(c_.text_end.size());
    for (std::size_t t = 0; t < c_.text_end.size(); ++t) {
      texts_.push_back(hash_of(h_.string(Value::from(ValueKind::Text, t))));
    }
    rows_.reserve(c_.row_end.size());
    for (std::size_t r = 0; r < c_.row_end.size(); ++r) {
      std::uint64_t hash = kSeed;
      for (const Cell& cell : h_.row(Value::from(ValueKind::Row, r))) {
        hash = mix(mix(hash, hash_of(h_.column_name(cell.column))), value(cell.value));
      }
      rows_.push_back(hash);
    }
    prefixes_.reserve(c_.elements.size());
    for (std::size_t trunk = 0, at = 0; trunk < c_.trunk_end.size(); ++trunk) {
      std::uint64_t hash = kSeed;
      for (; at < c_.trunk_end[trunk]; ++at) {
        hash = mix(hash, value(c_.elements[at]));
        prefixes_.push_back(hash);
      }
    }
  }

  std::uint64_t whole() {
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      add(value(h_.key_name(KeyId{k})));
      add(value(h_.initial(KeyId{k})));
    }
    for (std::size_t t = 0; t < h_.txn_count(); ++t) txn(TxnId{t});
    predicates();
    for (const VersionOrder& order : h_.version_orders()) version_order(order);
    return hash_;
  }

 private:
  void add(std::uint64_t word) { hash_ = mix(hash_, word); }

  [[nodiscard]] std::uint64_t value(Value value) const {
    const auto kind = static_cast<std::uint64_t>(value.kind());
    switch (value.kind()) {
      case ValueKind::Text:
      case ValueKind::Wide:
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

  void txn(TxnId txn) {
    add(h_.session(txn).value);
    add(static_cast<std::uint64_t>(h_.status(txn)));
    for (const auto clock : {h_.invoked(txn), h_.completed(txn)}) {
      add(static_cast<std::uint64_t>(clock.value_or(kNoClock)));
    }
    if (const auto start = h_.start_ts(txn)) timestamp('s', *start);
    if (const auto commit = h_.commit_ts(txn)) timestamp('c', *commit);
    add(h_.end_op(txn).value - h_.first_op(txn).value);
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      add(static_cast<std::uint64_t>(op.kind));
      if (is_predicate_read(op.kind)) {
        predicate_read(h_.predicate_read(id));
      } else {
        add(op.key.value);
        add(value(op.value));
      }
    }
  }

  // Histories without any hash as if there were no such thing.
  void timestamp(char which, Timestamp timestamp) {
    add(static_cast<std::uint64_t>(which));
    add(static_cast<std::uint64_t>(timestamp.physical));
    add(static_cast<std::uint64_t>(timestamp.logical));
  }

  void predicate_read(const PredicateRead& read) {
    for (const Value part : {read.lower, read.upper, read.result}) add(value(part));
    add(static_cast<std::uint64_t>(read.aggregate));
    add(read.column.valid() ? hash_of(h_.column_name(read.column)) : 0);
    add(read.predicate.value);
    for (const auto versions : {h_.rows(read), h_.version_set(read)}) {
      add(versions.size());
      for (const KeyVersion& version : versions) {
        add(version.key.value);
        add(value(version.value));
      }
    }
  }

  void version_order(const VersionOrder& order) {
    add(order.key.value);
    add(order.complete ? 1 : 0);
    add(order.count);
    for (const Value version : h_.versions(order)) add(value(version));
  }

  void predicates() {
    for (const PredicateNode& node : c_.predicate_nodes) {
      add(static_cast<std::uint64_t>(node.kind));
      add(node.column.valid() ? hash_of(h_.column_name(node.column)) : 0);
      add(node.count);
    }
    for (const std::uint32_t child : c_.predicate_children) add(child);
    for (const Value operand : c_.predicate_operands) add(value(operand));
  }

  const History& h_;
  const HistoryColumns& c_;
  std::vector<std::uint64_t> texts_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> prefixes_;  // Beside HistoryColumns::elements.
  std::uint64_t hash_ = kSeed;
};

}  // namespace

std::uint64_t fingerprint(const History& history) { return Fingerprint(history).whole(); }

}  // namespace ouro
