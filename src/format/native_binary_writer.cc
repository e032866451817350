#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "format/binary_sections.h"
#include "format/native_binary.h"
#include "history/columns.h"

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

}  // namespace

Result<WriteReport> write_native_binary(const History& history, Output& output) {
  const HistoryColumns& c = columns_of(history);
  const bool has_cas =
      std::any_of(c.op_kind.begin(), c.op_kind.end(), [](OpKind kind) { return info(kind).first; });
  Sections sections(has_cas ? kBinaryVersionWithCas : kBinaryVersion);
  for_each_section(sections, c);
  if (auto status = sections.write(output); !status.ok()) return status.error();
  return WriteReport{};
}

}  // namespace ouro
