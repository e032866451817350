#include <algorithm>
#include <cstring>
#include <vector>

#include "format/binary_sections.h"
#include "format/native_binary.h"

namespace ouro {
namespace {

// Collects the sections, then writes them behind their table.
class Sections {
 public:
  explicit Sections(std::uint32_t version) : version_(version) {}

  template <class T>
  void add(Section id, std::span<const T> column) {
    if (column.empty()) return;
    table_.push_back({static_cast<std::uint32_t>(id), sizeof(T), 0, column.size()});
    bytes_.push_back({reinterpret_cast<const char*>(column.data()), column.size_bytes()});
  }

  Status write(Output& output) {
    BinaryHeader header{};
    std::memcpy(header.magic, kBinaryMagic, sizeof(kBinaryMagic));
    header.version = version_;
    header.section_count = static_cast<std::uint32_t>(table_.size());
    std::uint64_t at = sizeof(header) + table_.size() * sizeof(SectionEntry);
    for (std::size_t i = 0; i < table_.size(); ++i) {
      at = aligned(at);
      table_[i].offset = at;
      at += bytes_[i].size();
    }
    header.file_bytes = at;
    put({reinterpret_cast<const char*>(&header), sizeof(header)}, output);
    put({reinterpret_cast<const char*>(table_.data()), table_.size() * sizeof(SectionEntry)},
        output);
    for (std::size_t i = 0; i < table_.size(); ++i) {
      output.buffer().append(table_[i].offset - written_, '\0');
      written_ = table_[i].offset;
      constexpr std::size_t kPiece = 1 << 20;
      for (std::string_view rest = bytes_[i]; !rest.empty();
           rest.remove_prefix(std::min(kPiece, rest.size()))) {
        put(rest.substr(0, kPiece), output);
        if (auto status = output.drain(); !status.ok()) return status;
      }
    }
    return {};
  }

 private:
  static std::uint64_t aligned(std::uint64_t at) {
    return (at + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
  }
  void put(std::string_view bytes, Output& output) {
    output.buffer().append(bytes);
    written_ += bytes.size();
  }

  std::uint32_t version_;
  std::vector<SectionEntry> table_;
  std::vector<std::string_view> bytes_;
  std::uint64_t written_ = 0;
};

// Structs with padding go to disk as two columns.
struct SplitVersions {
  explicit SplitVersions(std::span<const KeyVersion> versions) {
    for (const KeyVersion& version : versions) {
      keys.push_back(version.key);
      values.push_back(version.value);
    }
  }
  std::vector<KeyId> keys;
  std::vector<Value> values;
};

template <class T>
std::span<const T> view(const std::vector<T>& column) {
  return column;
}

std::vector<DiskPredicateRead> disk_reads(std::span<const PredicateRead> reads) {
  std::vector<DiskPredicateRead> out;
  for (const PredicateRead& read : reads) {
    out.push_back({read.lower.bits(), read.upper.bits(), read.result.bits(), read.predicate.value,
                   read.column.value, static_cast<std::uint32_t>(read.aggregate),
                   read.has_version_set ? 1u : 0u, read.first_row, read.row_count,
                   read.first_version, read.version_count});
  }
  return out;
}

}  // namespace

Result<WriteReport> write_native_binary(const History& history, Output& output) {
  const HistoryColumns& c = history.columns();
  const bool has_cas =
      std::any_of(c.op_kind.begin(), c.op_kind.end(), [](OpKind kind) { return info(kind).first; });
  Sections sections(has_cas ? kBinaryVersionWithCas : kBinaryVersion);
  sections.add(Section::OpKind, c.op_kind);
  sections.add(Section::OpKey, c.op_key);
  sections.add(Section::OpValue, c.op_value);
  sections.add(Section::TxnFirstOp, c.txn_first_op);
  sections.add(Section::TxnSession, c.txn_session);
  sections.add(Section::TxnStatus, c.txn_status);
  sections.add(Section::TxnName, c.txn_name);
  sections.add(Section::Invoked, c.invoked);
  sections.add(Section::Completed, c.completed);
  sections.add(Section::StartTs, c.start_ts);
  sections.add(Section::CommitTs, c.commit_ts);
  sections.add(Section::SessionName, c.session_name);
  sections.add(Section::KeyName, c.key_name);
  sections.add(Section::DefaultInitial, std::span(&c.default_initial, 1));
  const SplitVersions initial(c.key_initial);
  sections.add(Section::InitialKey, view(initial.keys));
  sections.add(Section::InitialValue, view(initial.values));
  const auto reads = disk_reads(c.predicate_reads);
  sections.add(Section::PredicateReads, view(reads));
  const SplitVersions rows(c.row_reads);
  sections.add(Section::RowKey, view(rows.keys));
  sections.add(Section::RowValue, view(rows.values));
  const SplitVersions version_sets(c.version_sets);
  sections.add(Section::VersionSetKey, view(version_sets.keys));
  sections.add(Section::VersionSetValue, view(version_sets.values));
  std::vector<DiskQuad> nodes;
  for (const PredicateNode& node : c.predicate_nodes) {
    nodes.push_back(
        {static_cast<std::uint32_t>(node.kind), node.column.value, node.first, node.count});
  }
  sections.add(Section::PredicateNodes, view(nodes));
  sections.add(Section::PredicateChildren, c.predicate_children);
  sections.add(Section::PredicateOperands, c.predicate_operands);
  std::vector<DiskQuad> orders;
  for (const VersionOrder& order : c.version_orders) {
    orders.push_back({order.key.value, order.complete ? 1u : 0u, order.first, order.count});
  }
  sections.add(Section::VersionOrders, view(orders));
  sections.add(Section::Versions, c.versions);
  sections.add(Section::TextBytes, c.text_bytes);
  sections.add(Section::TextEnd, c.text_end);
  std::vector<ColumnId> cell_columns;
  std::vector<Value> cell_values;
  for (const Cell& cell : c.cells) {
    cell_columns.push_back(cell.column);
    cell_values.push_back(cell.value);
  }
  sections.add(Section::CellColumn, view(cell_columns));
  sections.add(Section::CellValue, view(cell_values));
  sections.add(Section::RowEnd, c.row_end);
  sections.add(Section::Elements, c.elements);
  sections.add(Section::TrunkEnd, c.trunk_end);
  sections.add(Section::ColumnName, c.column_name);
  std::vector<char> remarks;
  for (const Remark& remark : c.remarks) {
    for (const std::string& text : {remark.name, remark.text}) {
      remarks.insert(remarks.end(), text.begin(), text.end());
      remarks.push_back('\0');
    }
  }
  sections.add(Section::Remarks, view(remarks));
  if (auto status = sections.write(output); !status.ok()) return status.error();
  return WriteReport{};
}

}  // namespace ouro
