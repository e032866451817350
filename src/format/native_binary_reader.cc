#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/column.h"
#include "format/binary_sections.h"
#include "format/binary_validation.h"
#include "format/native_binary.h"

namespace ouro {
namespace {

// What a History read from .ouro points into: the bytes of the file, and the columns that are kept
// in another shape on disk.
struct Loaded {
  Column<char> bytes;
  std::vector<std::uint32_t> session_first;
  std::vector<TxnId> session_txns;
  std::vector<KeyVersion> key_initial, row_reads, version_sets;
  std::vector<PredicateRead> predicate_reads;
  std::vector<PredicateNode> predicate_nodes;
  std::vector<VersionOrder> version_orders;
  std::vector<Cell> cells;
  std::vector<std::string> files;
  std::vector<Remark> remarks;
};

class Reader {
 public:
  Reader(std::string name, unsigned threads)
      : name_(std::move(name)), threads_(threads), l_(std::make_shared<Loaded>()) {}

  Result<History> read(Input& input) {
    auto bytes = input.read_binary(threads_);
    if (!bytes.ok()) return std::move(bytes).error();
    l_->bytes = *std::move(bytes);
    if (auto status = read_table(); !status.ok()) return status.error();
    fill_columns();
    if (failed_) return *failed_;
    if (const auto fault = validate_columns(c_, threads_))
      return error_in(name_, *fault + damaged());
    index_sessions();
    l_->files.push_back(name_);
    c_.files = l_->files;
    return History(c_, l_);
  }

 private:
  static std::string damaged() { return "; the file is damaged, convert it again"; }

  Status read_table() {
    BinaryHeader header;
    const std::size_t size = l_->bytes.size();
    if (size < sizeof(header))
      return error_at_byte(name_, size, "the file ends within its header" + damaged());
    std::memcpy(&header, l_->bytes.data(), sizeof(header));
    if (std::memcmp(header.magic, kBinaryMagic, sizeof(kBinaryMagic)) != 0) {
      return error_at_byte(name_, 0, "this is no .ouro file");
    }
    if (header.version != kBinaryVersion && header.version != kBinaryVersionWithCas) {
      return error_at_byte(
          name_, 8,
          fmt::format("version {} of the format is not known; this program reads {} and {}",
                      header.version, kBinaryVersion, kBinaryVersionWithCas));
    }
    if (header.file_bytes != size) {
      return error_at_byte(name_, 16,
                           fmt::format("the file should have {} bytes but has {}{}",
                                       header.file_bytes, size, damaged()));
    }
    if (header.section_count > kSectionCount ||
        size - sizeof(header) < header.section_count * sizeof(SectionEntry)) {
      return error_at_byte(
          name_, 12, fmt::format("{} sections do not fit{}", header.section_count, damaged()));
    }
    for (std::uint32_t i = 0; i < header.section_count; ++i) {
      const std::size_t at = sizeof(header) + i * sizeof(SectionEntry);
      SectionEntry entry;
      std::memcpy(&entry, l_->bytes.data() + at, sizeof(entry));
      if (entry.id == 0 || entry.id > kSectionCount) {
        return error_at_byte(
            name_, at, fmt::format("unknown section {}; written by a newer version?", entry.id));
      }
      if (entry.offset % 8 != 0 || entry.offset > size || entry.entry_bytes == 0 ||
          entry.count > (size - entry.offset) / entry.entry_bytes) {
        return error_at_byte(
            name_, at, fmt::format("section {} does not fit the file{}", entry.id, damaged()));
      }
      if (table_[entry.id].count != 0) {
        return error_at_byte(name_, at,
                             fmt::format("section {} appears twice{}", entry.id, damaged()));
      }
      table_[entry.id] = entry;
    }
    return {};
  }

  // The section as it lies in the file.
  template <class T>
  std::span<const T> section(Section id) {
    const SectionEntry& entry = table_[static_cast<std::uint32_t>(id)];
    if (entry.count == 0) return {};
    if (entry.entry_bytes != sizeof(T)) {
      failed_ = error_in(name_, fmt::format("section {} has entries of {} bytes, expected {}{}",
                                            entry.id, entry.entry_bytes, sizeof(T), damaged()));
      return {};
    }
    return {reinterpret_cast<const T*>(l_->bytes.data() + entry.offset), entry.count};
  }

  template <class A, class B, class T>
  std::span<const T> zip(Section first, Section second, std::vector<T>& out) {
    const auto a = section<A>(first);
    const auto b = section<B>(second);
    if (a.size() != b.size()) {
      failed_ = error_in(
          name_, fmt::format("sections {} and {} differ in length{}", static_cast<int>(first),
                             static_cast<int>(second), damaged()));
      return {};
    }
    out.reserve(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out.push_back({a[i], b[i]});
    return out;
  }

  void fill_columns() {
    c_.op_kind = section<OpKind>(Section::OpKind);
    c_.op_key = section<KeyId>(Section::OpKey);
    c_.op_value = section<Value>(Section::OpValue);
    c_.txn_first_op = section<std::uint32_t>(Section::TxnFirstOp);
    c_.txn_session = section<SessionId>(Section::TxnSession);
    c_.txn_status = section<TxnStatus>(Section::TxnStatus);
    c_.txn_name = section<Value>(Section::TxnName);
    c_.invoked = section<std::int64_t>(Section::Invoked);
    c_.completed = section<std::int64_t>(Section::Completed);
    c_.start_ts = section<Timestamp>(Section::StartTs);
    c_.commit_ts = section<Timestamp>(Section::CommitTs);
    c_.session_name = section<Value>(Section::SessionName);
    c_.key_name = section<Value>(Section::KeyName);
    const auto initial = section<Value>(Section::DefaultInitial);
    if (!initial.empty()) c_.default_initial = initial[0];
    c_.key_initial = zip<KeyId, Value>(Section::InitialKey, Section::InitialValue, l_->key_initial);
    c_.row_reads = zip<KeyId, Value>(Section::RowKey, Section::RowValue, l_->row_reads);
    c_.version_sets =
        zip<KeyId, Value>(Section::VersionSetKey, Section::VersionSetValue, l_->version_sets);
    c_.cells = zip<ColumnId, Value>(Section::CellColumn, Section::CellValue, l_->cells);
    c_.predicate_children = section<std::uint32_t>(Section::PredicateChildren);
    c_.predicate_operands = section<Value>(Section::PredicateOperands);
    c_.versions = section<Value>(Section::Versions);
    c_.text_bytes = section<char>(Section::TextBytes);
    c_.text_end = section<std::uint64_t>(Section::TextEnd);
    c_.row_end = section<std::uint64_t>(Section::RowEnd);
    c_.elements = section<Value>(Section::Elements);
    c_.trunk_end = section<std::uint64_t>(Section::TrunkEnd);
    c_.column_name = section<Value>(Section::ColumnName);
    fill_structs();
    fill_remarks();
  }

  void fill_structs() {
    for (const DiskPredicateRead& read : section<DiskPredicateRead>(Section::PredicateReads)) {
      PredicateRead out;
      out.lower = Value::from_bits(read.lower);
      out.upper = Value::from_bits(read.upper);
      out.result = Value::from_bits(read.result);
      out.predicate = PredicateId{read.predicate};
      out.column = ColumnId{read.column};
      out.aggregate = static_cast<AggregateKind>(std::min<std::uint32_t>(read.aggregate, 255));
      out.has_version_set = read.has_version_set != 0;
      out.first_row = read.first_row;
      out.row_count = read.row_count;
      out.first_version = read.first_version;
      out.version_count = read.version_count;
      l_->predicate_reads.push_back(out);
    }
    c_.predicate_reads = l_->predicate_reads;
    for (const DiskQuad& node : section<DiskQuad>(Section::PredicateNodes)) {
      l_->predicate_nodes.push_back(
          {static_cast<PredicateKind>(std::min<std::uint32_t>(node.a, 255)), ColumnId{node.b},
           node.c, node.d});
    }
    c_.predicate_nodes = l_->predicate_nodes;
    for (const DiskQuad& order : section<DiskQuad>(Section::VersionOrders)) {
      l_->version_orders.push_back({KeyId{order.a}, order.b != 0, order.c, order.d});
    }
    c_.version_orders = l_->version_orders;
  }

  void fill_remarks() {
    const auto bytes = section<char>(Section::Remarks);
    std::vector<std::string> texts(1);
    for (const char c : bytes) {
      if (c == '\0') {
        texts.emplace_back();
      } else {
        texts.back() += c;
      }
    }
    for (std::size_t i = 0; i + 2 < texts.size(); i += 2) {
      l_->remarks.push_back({texts[i], texts[i + 1]});
    }
    c_.remarks = l_->remarks;
  }

  void index_sessions() {
    l_->session_first.assign(c_.session_name.size() + 1, 0);
    for (const SessionId session : c_.txn_session) ++l_->session_first[session.index() + 1];
    for (std::size_t i = 1; i < l_->session_first.size(); ++i) {
      l_->session_first[i] += l_->session_first[i - 1];
    }
    l_->session_txns.resize(c_.txn_session.size());
    std::vector<std::uint32_t> next(l_->session_first.begin(), l_->session_first.end() - 1);
    for (std::size_t t = 0; t < c_.txn_session.size(); ++t) {
      l_->session_txns[next[c_.txn_session[t].index()]++] = TxnId{t};
    }
    c_.session_first = l_->session_first;
    c_.session_txns = l_->session_txns;
  }

  std::string name_;
  unsigned threads_;
  std::shared_ptr<Loaded> l_;
  HistoryColumns c_;
  std::array<SectionEntry, kSectionCount + 1> table_{};
  std::optional<Error> failed_;
};

}  // namespace

bool detect_native_binary(std::string_view head) {
  return head.substr(0, sizeof(kBinaryMagic)) ==
         std::string_view(kBinaryMagic, sizeof(kBinaryMagic));
}

Result<History> read_native_binary(Input& input, unsigned threads) {
  return Reader(input.name(), threads).read(input);
}

}  // namespace ouro
