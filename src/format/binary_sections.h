// The sections of the native binary format.
#pragma once

#include <cstdint>

namespace ouro {

inline constexpr char kBinaryMagic[8] = {'O', 'U', 'R', 'O', 'B', 'I', 'N', '\n'};
inline constexpr std::uint32_t kBinaryVersion = 1;
// Of files with a compare-and-set, which older programs would take for damaged.
inline constexpr std::uint32_t kBinaryVersionWithCas = 2;
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
  DefaultInitial,  // One value.
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
};
inline constexpr std::uint32_t kSectionCount = static_cast<std::uint32_t>(Section::Remarks);

struct DiskPredicateRead {
  std::uint64_t lower, upper, result;
  std::uint32_t predicate, column;
  std::uint32_t aggregate, has_version_set;
  std::uint32_t first_row, row_count, first_version, version_count;
};
static_assert(sizeof(DiskPredicateRead) == 56);

struct DiskQuad {
  std::uint32_t a, b, c, d;
};

}  // namespace ouro
