// The sections of the native binary format: their numbers, their layout on disk, and which column
// of a history each has. Reader and writer share it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "history/columns.h"

namespace ouro {

inline constexpr char kBinaryMagic[8] = {'O', 'U', 'R', 'O', 'B', 'I', 'N', '\n'};
inline constexpr std::uint32_t kBinaryVersion = 1;
// The version of files that have a compare-and-set. Older programs refuse it by number; with
// version 1 they would call the file damaged.
inline constexpr std::uint32_t kBinaryVersionWithCas = 2;
// The version of files that have booleans, decimals, floating-point numbers, averages, other new
// parts of predicates, undone parts of transactions, versions named by transactions, or
// transactions of which no session is known.
inline constexpr std::uint32_t kBinaryVersionWithKinds = 3;
// The version of files in which transactions state their own levels. To leave these out would
// change what `ouro check` judges, so older programs must refuse it.
inline constexpr std::uint32_t kBinaryVersionWithLevels = 4;
// The version of files in which transactions have numbers in their session. Without these the order
// of sessions would be another one.
inline constexpr std::uint32_t kBinaryVersionWithSnos = 5;
inline constexpr std::size_t kSectionAlignment = 64;

struct BinaryHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t section_count;
  std::uint64_t file_bytes;
  std::uint64_t reserved;  // Zero.
};

struct SectionEntry {
  std::uint32_t id;
  std::uint32_t entry_bytes;
  std::uint64_t offset;
  std::uint64_t count;
};

// Numbers are part of the format: add at the end, never renumber.
enum class Section : std::uint32_t {
  OpKind = 1,
  OpKey,
  OpValue,
  TxnFirstOp,
  TxnSession,
  TxnStatus,
  TxnName,
  Invoked,
  Completed,
  StartTs,
  CommitTs,
  SessionName,
  KeyName,
  DefaultInitial,  // A single value.
  InitialKey,
  InitialValue,
  PredicateReads,  // DiskPredicateRead.
  RowKey,
  RowValue,
  VersionSetKey,
  VersionSetValue,
  PredicateNodes,  // Four numbers: kind, column, first, count.
  PredicateChildren,
  PredicateOperands,
  VersionOrders,  // Four numbers: key, complete, first, count.
  Versions,
  TextBytes,
  TextEnd,
  CellColumn,
  CellValue,
  RowEnd,
  Elements,
  TrunkEnd,
  ColumnName,
  Remarks,  // Bytes: name and text, each ended by a zero byte, alternating.
  Began,
  Committing,
  OpPart,
  OuterPart,
  VersionTxn,
  TxnLevel,  // The number of a Level for each transaction, which never changes; 255: none.
  TxnSno,    // The smallest number: none.
};
inline constexpr std::uint32_t kSectionCount = static_cast<std::uint32_t>(Section::TxnSno);

struct DiskPredicateRead {
  std::uint64_t lower, upper, result;
  std::uint32_t predicate, column;
  std::uint32_t aggregate, has_version_set;
  std::uint32_t first_row, row_count, first_version, version_count;
};
static_assert(sizeof(DiskPredicateRead) == 56);

// PredicateNodes and VersionOrders on disk.
struct DiskQuad {
  std::uint32_t a, b, c, d;
};

// Structs that have padding in memory are converted to these, which have none.
[[nodiscard]] inline DiskPredicateRead to_disk(const PredicateRead& read) {
  return {read.lower.bits(),
          read.upper.bits(),
          read.result.bits(),
          read.predicate.value,
          read.column.value,
          static_cast<std::uint32_t>(read.aggregate),
          read.has_version_set ? 1u : 0u,
          read.first_row,
          read.row_count,
          read.first_version,
          read.version_count};
}
[[nodiscard]] inline DiskQuad to_disk(const PredicateNode& node) {
  return {static_cast<std::uint32_t>(node.kind), node.column.value, node.first, node.count};
}
[[nodiscard]] inline DiskQuad to_disk(const VersionOrder& order) {
  return {order.key.value, order.complete ? 1u : 0u, order.first, order.count};
}
inline void from_disk(const DiskPredicateRead& disk, PredicateRead& out) {
  out.lower = Value::from_bits(disk.lower);
  out.upper = Value::from_bits(disk.upper);
  out.result = Value::from_bits(disk.result);
  out.predicate = PredicateId{disk.predicate};
  out.column = ColumnId{disk.column};
  out.aggregate = static_cast<AggregateKind>(std::min<std::uint32_t>(disk.aggregate, 255));
  out.has_version_set = disk.has_version_set != 0;
  out.first_row = disk.first_row;
  out.row_count = disk.row_count;
  out.first_version = disk.first_version;
  out.version_count = disk.version_count;
}
inline void from_disk(const DiskQuad& disk, PredicateNode& out) {
  out = {static_cast<PredicateKind>(std::min<std::uint32_t>(disk.a, 255)), ColumnId{disk.b}, disk.c,
         disk.d};
}
inline void from_disk(const DiskQuad& disk, VersionOrder& out) {
  out = {KeyId{disk.a}, disk.b != 0, disk.c, disk.d};
}

// Calls `file` for every section, with the column that it has, in the order of the file. Columns
// that are not here are computed when a file is read (sessions) or not kept (places in other
// files). The calls are
//
//   file.plain(section, column)          the column as it is in memory
//   file.split(first, second, column)    a column of pairs, an id and a value, in two sections
//   file.shaped(section, column)         a column of structs, converted by to_disk()
//   file.value(section, value)           a single value
//   file.remarks(section, remarks)
template <class File, class Columns>
void for_each_section(File& file, Columns& c) {
  file.plain(Section::OpKind, c.op_kind);
  file.plain(Section::OpKey, c.op_key);
  file.plain(Section::OpValue, c.op_value);
  file.plain(Section::OpPart, c.op_part);
  file.plain(Section::OuterPart, c.outer_part);
  file.plain(Section::TxnFirstOp, c.txn_first_op);
  file.plain(Section::TxnSession, c.txn_session);
  file.plain(Section::TxnStatus, c.txn_status);
  file.plain(Section::TxnName, c.txn_name);
  file.plain(Section::Invoked, c.invoked);
  file.plain(Section::Completed, c.completed);
  file.plain(Section::StartTs, c.start_ts);
  file.plain(Section::CommitTs, c.commit_ts);
  file.plain(Section::SessionName, c.session_name);
  file.plain(Section::KeyName, c.key_name);
  file.value(Section::DefaultInitial, c.default_initial);
  file.split(Section::InitialKey, Section::InitialValue, c.key_initial);
  file.shaped(Section::PredicateReads, c.predicate_reads);
  file.split(Section::RowKey, Section::RowValue, c.row_reads);
  file.split(Section::VersionSetKey, Section::VersionSetValue, c.version_sets);
  file.shaped(Section::PredicateNodes, c.predicate_nodes);
  file.plain(Section::PredicateChildren, c.predicate_children);
  file.plain(Section::PredicateOperands, c.predicate_operands);
  file.shaped(Section::VersionOrders, c.version_orders);
  file.plain(Section::Versions, c.versions);
  file.plain(Section::VersionTxn, c.version_txn);
  file.plain(Section::TextBytes, c.text_bytes);
  file.plain(Section::TextEnd, c.text_end);
  file.split(Section::CellColumn, Section::CellValue, c.cells);
  file.plain(Section::RowEnd, c.row_end);
  file.plain(Section::Elements, c.elements);
  file.plain(Section::TrunkEnd, c.trunk_end);
  file.plain(Section::ColumnName, c.column_name);
  file.remarks(Section::Remarks, c.remarks);
  file.plain(Section::Began, c.began);
  file.plain(Section::Committing, c.committing);
  file.plain(Section::TxnLevel, c.txn_level);
  file.plain(Section::TxnSno, c.txn_sno);
}

}  // namespace ouro
