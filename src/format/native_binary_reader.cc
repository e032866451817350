#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/column.h"
#include "base/parallel.h"
#include "format/binary_sections.h"
#include "format/binary_validation.h"
#include "format/native_binary.h"
#include "history/columns.h"
#include "history/session_order.h"

namespace ouro {
namespace {

// The memory that a History read from .ouro points into: the bytes of the file, columns that are
// different on disk and were converted, and columns that were computed.
struct Loaded {
  Column<char> bytes;
  std::vector<std::shared_ptr<const void>> converted;
  std::vector<std::uint32_t> session_first;
  std::vector<TxnId> session_txns;
  std::vector<std::string> files;
  std::vector<Remark> remarks;
};

constexpr std::size_t kManyEntries = 1 << 18;  // So many are worth several threads.

class Reader {
 public:
  Reader(std::string name, unsigned threads)
      : name_(std::move(name)), threads_(threads), l_(std::make_shared<Loaded>()) {}

  Result<History> read(Input& input) {
    auto bytes = input.read_binary(threads_);
    if (!bytes.ok()) return std::move(bytes).error();
    l_->bytes = *std::move(bytes);
    if (auto status = read_table(); !status.ok()) return status.error();
    for_each_section(*this, c_);
    if (failed_) return *failed_;
    if (const auto fault = validate_columns(c_, threads_))
      return error_in(name_, *fault + damaged());
    index_sessions();
    if (const auto fault = first_sno_fault({l_->session_first, l_->session_txns}, c_.txn_sno))
      return error_in(name_, fmt::format("transaction {}: {}", fault->txn.value, fault->what));
    l_->files.push_back(name_);
    c_.files = l_->files;
    return history_of(c_, l_);
  }

  // The functions that for_each_section() calls. They set failed_ on errors.
  template <class T>
  void plain(Section id, std::span<const T>& column) {
    column = section<T>(id);
  }
  template <class T>
  void split(Section first, Section second, std::span<const T>& column) {
    const auto ids = section<decltype(id_of(T{}))>(first);
    const auto values = section<Value>(second);
    if (ids.size() != values.size()) {
      failed_ = error_in(
          name_, fmt::format("sections {} and {} differ in length{}", static_cast<int>(first),
                             static_cast<int>(second), damaged()));
      return;
    }
    // Most of the time goes into the first access to the memory, so threads share it.
    const auto out = std::make_shared<Column<T>>();
    T* to = out->extend(ids.size());
    const std::size_t parts = ids.size() < kManyEntries ? 1 : thread_count(threads_);
    for_each_part(parts, [&](std::size_t part) {
      const std::size_t end = ids.size() * (part + 1) / parts;
      for (std::size_t i = ids.size() * part / parts; i < end; ++i) to[i] = {ids[i], values[i]};
    });
    l_->converted.push_back(out);
    column = out->span();
  }
  template <class T>
  void shaped(Section id, std::span<const T>& column) {
    const auto all = section<decltype(to_disk(T{}))>(id);
    std::vector<T>& out = converted<T>(all.size());
    for (const auto& disk : all) from_disk(disk, out.emplace_back());
    column = out;
  }
  void value(Section id, Value& value) {
    const auto one = section<Value>(id);
    if (!one.empty()) value = one[0];
  }
  void remarks(Section id, std::span<const Remark>& remarks) {
    std::vector<std::string> texts(1);
    for (const char c : section<char>(id)) {
      if (c == '\0') {
        texts.emplace_back();
      } else {
        texts.back() += c;
      }
    }
    for (std::size_t i = 0; i + 2 < texts.size(); i += 2) {
      l_->remarks.push_back({texts[i], texts[i + 1]});
    }
    remarks = l_->remarks;
  }

 private:
  static KeyId id_of(const KeyVersion& version) { return version.key; }
  static ColumnId id_of(const Cell& cell) { return cell.column; }
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
    if (header.version < kBinaryVersion || header.version > kBinaryVersionWithSnos) {
      return error_at_byte(
          name_, 8,
          fmt::format("version {} of the format is not known; this program reads {} to {}",
                      header.version, kBinaryVersion, kBinaryVersionWithSnos));
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

  // The entries of a section, where they lie in the file; empty if it is absent.
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

  // A new column for `size` entries, which lives as long as the history.
  template <class T>
  std::vector<T>& converted(std::size_t size) {
    auto column = std::make_shared<std::vector<T>>();
    column->reserve(size);
    l_->converted.push_back(column);
    return *column;
  }

  // Computes which transactions each session has.
  void index_sessions() {
    SessionIndex sessions =
        ouro::index_sessions(c_.session_name.size(), c_.txn_session, c_.txn_sno);
    l_->session_first = std::move(sessions.first);
    l_->session_txns = std::move(sessions.txns);
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
