#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "format/binary_sections.h"
#include "format/native_binary.h"
#include "history/columns.h"
#include "history/decimal.h"

namespace ouro {
namespace {

// Collects the sections, then writes the header, the table and the sections.
class Sections {
 public:
  explicit Sections(std::uint32_t version) : version_(version) {}

  // The functions that for_each_section() calls.
  template <class T>
  void plain(Section id, std::span<const T> column) {
    if (column.empty()) return;
    table_.push_back({static_cast<std::uint32_t>(id), sizeof(T), 0, column.size()});
    bytes_.push_back({reinterpret_cast<const char*>(column.data()), column.size_bytes()});
  }
  template <class T>
  void split(Section first, Section second, std::span<const T> column) {
    std::vector<decltype(id_of(T{}))> ids;
    std::vector<Value> values;
    for (const T& entry : column) {
      ids.push_back(id_of(entry));
      values.push_back(entry.value);
    }
    keep(first, std::move(ids));
    keep(second, std::move(values));
  }
  template <class T>
  void shaped(Section id, std::span<const T> column) {
    std::vector<decltype(to_disk(T{}))> out;
    for (const T& entry : column) out.push_back(to_disk(entry));
    keep(id, std::move(out));
  }
  void value(Section id, const Value& value) { plain(id, std::span(&value, 1)); }
  void remarks(Section id, std::span<const Remark> remarks) {
    std::vector<char> out;
    for (const Remark& remark : remarks) {
      for (const std::string& text : {remark.name, remark.text}) {
        out.insert(out.end(), text.begin(), text.end());
        out.push_back('\0');
      }
    }
    keep(id, std::move(out));
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
  static KeyId id_of(const KeyVersion& version) { return version.key; }
  static ColumnId id_of(const Cell& cell) { return cell.column; }
  // Adds a section whose entries were made for the file.
  template <class T>
  void keep(Section id, std::vector<T> column) {
    const auto kept = std::make_shared<const std::vector<T>>(std::move(column));
    kept_.push_back(kept);
    plain(id, std::span<const T>(*kept));
  }
  static std::uint64_t aligned(std::uint64_t at) {
    return (at + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
  }
  void put(std::string_view bytes, Output& output) {
    output.buffer().append(bytes);
    written_ += bytes.size();
  }

  std::uint32_t version_;
  std::vector<SectionEntry> table_;
  std::vector<std::string_view> bytes_;            // Of each section in table_.
  std::vector<std::shared_ptr<const void>> kept_;  // Owns what keep() was given.
  std::uint64_t written_ = 0;                      // Bytes of the file so far.
};

// Older programs know neither these kinds of values, nor integers of more than 64 bits.
bool is_newer(const HistoryColumns& c, Value value) {
  if (value.kind() == ValueKind::Wide) {
    const auto digits = piece(c.text_bytes, c.text_end, value.payload());
    return !fits_64_bits({digits.data(), digits.size()});
  }
  return value.kind() == ValueKind::Boolean || value.kind() == ValueKind::Decimal ||
         value.kind() == ValueKind::Float;
}
bool is_newer(const HistoryColumns& c, const KeyVersion& version) {
  return is_newer(c, version.value);
}
bool is_newer(const HistoryColumns&, OpKind kind) {
  constexpr std::uint32_t kOlder = (2u << static_cast<unsigned>(OpKind::CasUnwritten)) - 1;
  return !is_among(kind, kOlder);
}
bool is_newer(const HistoryColumns&, const PredicateNode& node) {
  const PredicateInfo& row = info(node.kind);
  return row.kind == PredicateKind::Like || row.takes_terms || row.term;
}
bool is_newer(const HistoryColumns& c, const Cell& cell) { return is_newer(c, cell.value); }
bool is_newer(const HistoryColumns& c, const PredicateRead& read) {
  return read.aggregate == AggregateKind::Avg || is_newer(c, read.lower) ||
         is_newer(c, read.upper) || is_newer(c, read.result);
}

// The oldest version of the format that has all that the history has.
std::uint32_t version_for(const HistoryColumns& c) {
  if (!c.txn_sno.empty()) return kBinaryVersionWithSnos;
  if (!c.txn_level.empty()) return kBinaryVersionWithLevels;
  bool newer = is_newer(c, c.default_initial) || !c.outer_part.empty() || !c.version_txn.empty();
  newer |= std::any_of(c.session_name.begin(), c.session_name.end(),
                       [](Value name) { return name.is_null(); });
  const auto note = [&](const auto& column) {
    newer = newer || std::any_of(column.begin(), column.end(),
                                 [&](const auto& entry) { return is_newer(c, entry); });
  };
  note(c.op_kind);
  note(c.op_value);
  note(c.key_initial);
  note(c.predicate_reads);
  note(c.row_reads);
  note(c.version_sets);
  note(c.predicate_nodes);
  note(c.predicate_operands);
  note(c.versions);
  note(c.cells);
  note(c.elements);
  if (newer) return kBinaryVersionWithKinds;
  const bool has_cas =
      std::any_of(c.op_kind.begin(), c.op_kind.end(), [](OpKind kind) { return info(kind).first; });
  return has_cas ? kBinaryVersionWithCas : kBinaryVersion;
}

}  // namespace

Result<WriteReport> write_native_binary(const History& history, Output& output) {
  const HistoryColumns& c = columns_of(history);
  Sections sections(version_for(c));
  for_each_section(sections, c);
  if (auto status = sections.write(output); !status.ok()) return status.error();
  return WriteReport{};
}

}  // namespace ouro
