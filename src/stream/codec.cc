#include "stream/codec.h"

namespace ouro::stream {
namespace {

// What the columns of a decoded history point into.
struct Storage {
  std::vector<OpKind> op_kind;
  std::vector<KeyId> op_key;
  std::vector<Value> op_value;
  std::vector<std::uint32_t> op_line;
  std::vector<std::uint32_t> txn_first_op;
  std::vector<SessionId> txn_session;
  std::vector<TxnStatus> txn_status;
  std::vector<Value> txn_name;
  std::vector<std::int64_t> invoked, completed;
  std::vector<Timestamp> start_ts, commit_ts;
  std::vector<std::uint64_t> txn_position;
  std::vector<std::uint32_t> txn_file;
  std::vector<std::uint32_t> session_first;
  std::vector<TxnId> session_txns;
  std::vector<Value> session_name;
  std::vector<Value> key_name;
  std::vector<PredicateRead> predicate_reads;
  std::vector<KeyVersion> row_reads, version_sets;
  std::vector<PredicateNode> predicate_nodes;
  std::vector<std::uint32_t> predicate_children;
  std::vector<Value> predicate_operands;
  std::vector<char> text_bytes;
  std::vector<std::uint64_t> text_end;
  std::vector<Cell> cells;
  std::vector<std::uint64_t> row_end;
  std::vector<Value> elements;
  std::vector<std::uint64_t> trunk_end;
  std::vector<Value> column_name;
  std::vector<std::string> files;
};

// Calls `each` with every column of `c` and its vector in `s`, always in the same order.
template <class Each>
void for_each_column(HistoryColumns& c, Storage& s, const Each& each) {
  each(c.op_kind, s.op_kind);
  each(c.op_key, s.op_key);
  each(c.op_value, s.op_value);
  each(c.op_line, s.op_line);
  each(c.txn_first_op, s.txn_first_op);
  each(c.txn_session, s.txn_session);
  each(c.txn_status, s.txn_status);
  each(c.txn_name, s.txn_name);
  each(c.invoked, s.invoked);
  each(c.completed, s.completed);
  each(c.start_ts, s.start_ts);
  each(c.commit_ts, s.commit_ts);
  each(c.txn_position, s.txn_position);
  each(c.txn_file, s.txn_file);
  each(c.session_first, s.session_first);
  each(c.session_txns, s.session_txns);
  each(c.session_name, s.session_name);
  each(c.key_name, s.key_name);
  each(c.predicate_reads, s.predicate_reads);
  each(c.row_reads, s.row_reads);
  each(c.version_sets, s.version_sets);
  each(c.predicate_nodes, s.predicate_nodes);
  each(c.predicate_children, s.predicate_children);
  each(c.predicate_operands, s.predicate_operands);
  each(c.text_bytes, s.text_bytes);
  each(c.text_end, s.text_end);
  each(c.cells, s.cells);
  each(c.row_end, s.row_end);
  each(c.elements, s.elements);
  each(c.trunk_end, s.trunk_end);
  each(c.column_name, s.column_name);
}

}  // namespace

void encode(const History& history, Encoder& out) {
  HistoryColumns c = history.columns();
  Storage unused;
  for_each_column(c, unused, [&](const auto& column, const auto&) { out.array(column); });
  out.number(c.default_initial);
  out.number(c.place_unit);
  out.number<std::uint64_t>(c.files.size());
  for (const std::string& file : c.files) out.text(file);
}

std::shared_ptr<const History> decode_history(Decoder& in) {
  const auto storage = std::make_shared<Storage>();
  HistoryColumns c;
  for_each_column(c, *storage, [&]<class T>(std::span<const T>& column, std::vector<T>& vector) {
    vector = in.array<T>();
    column = vector;
  });
  c.default_initial = in.number<Value>();
  c.place_unit = in.number<PlaceUnit>();
  const auto files = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < files && in.ok(); ++i) storage->files.push_back(in.text());
  c.files = storage->files;
  if (!in.ok()) return std::make_shared<const History>();
  return std::make_shared<const History>(c, storage);
}

void Checksum::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (count_ % 8 == 0 && bytes.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      state_ = mixed(state_, word);
      bytes.remove_prefix(8);
      count_ += 8;
      continue;
    }
    pending_ |= std::uint64_t{static_cast<unsigned char>(bytes[0])} << 8 * (count_ % 8);
    bytes.remove_prefix(1);
    if (++count_ % 8 != 0) continue;
    state_ = mixed(state_, pending_);
    pending_ = 0;
  }
}

}  // namespace ouro::stream
