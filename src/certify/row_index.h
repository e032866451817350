// Which versions a predicate can be true of, found without looking at all of them.
//
// Each column that predicates compare, and the names of keys, has an index: all versions that
// anybody wrote, sorted by their value there. The positions of versions in it are the *slots* of
// the column. A comparison is true only in an interval of slots; `and` may take what any of its
// parts allows, `or` must take what each of them does, and `not` turns the one into the other. So a
// predicate has a *cover*: intervals outside of which it is not true. Inside, it must be evaluated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "certify/values.h"
#include "ouro/history.h"

namespace ouro::recheck {

class RowIndex {
 public:
  explicit RowIndex(const History& history);

  // A version is an initial value or what a write wrote. Versions are numbered: initial values by
  // key, then writes by operation.
  using Version = std::uint32_t;
  static constexpr std::uint32_t kNone = 0xffffffff;
  [[nodiscard]] Version initial(KeyId key) const { return key.value; }
  [[nodiscard]] Version written(OpId write) const {
    return static_cast<Version>(h_.key_count() + write.index());
  }
  [[nodiscard]] KeyId key(Version version) const;
  [[nodiscard]] Value value(Version version) const;
  // Whether it is a row; tombstones and elements of lists are none.
  [[nodiscard]] bool is_row(Version version) const;

  [[nodiscard]] std::size_t column_count() const { return columns_.size(); }
  [[nodiscard]] std::size_t slot_count() const { return row_count_; }  // Of each column.
  [[nodiscard]] Version version(std::uint32_t column, std::uint32_t slot) const {
    return columns_[column].versions[slot];
  }
  // REQUIRES: is_row(version).
  [[nodiscard]] std::uint32_t slot(std::uint32_t column, Version version) const {
    return columns_[column].slots[version];
  }

  // Slots of a column, from `first` up to, not including, `end`.
  struct Interval {
    std::uint32_t column = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  struct Cover {
    bool everything = false;          // No column bounds it.
    std::vector<Interval> intervals;  // Those of one column do not overlap.
  };
  // The cover of a scan, select or aggregate.
  [[nodiscard]] Cover cover(OpId read) const;
  // How many versions a cover leaves.
  [[nodiscard]] std::size_t size(const Cover& cover) const;

 private:
  // If predicates compare more columns, the others have no index: each takes eight bytes a version.
  static constexpr std::size_t kMostColumns = 16;

  struct Column {
    ColumnId id;                        // Invalid: the names of keys.
    std::vector<Version> versions;      // By slot.
    std::vector<std::uint32_t> slots;   // By version; kNone: no row.
    std::vector<Value> values;          // All different, ascending.
    std::vector<std::uint32_t> firsts;  // The first slot of each value, and the end.
  };

  void choose_columns();
  void fill(Column& column) const;
  [[nodiscard]] std::uint32_t find(ColumnId column) const;
  // The first slot whose value is at least `bound`, and the first whose value is greater.
  [[nodiscard]] std::uint32_t at_least(const Column& column, Value bound) const;
  [[nodiscard]] std::uint32_t beyond(const Column& column, Value bound) const;
  [[nodiscard]] Scalar::Family family(Value value) const;
  // The first slot with a value of the family of `like`, and the one behind the last.
  [[nodiscard]] std::uint32_t family_first(const Column& column, Value like) const;
  [[nodiscard]] std::uint32_t family_end(const Column& column, Value like) const;

  // Where a part of a predicate is true or, if `wanted` is false, where it is false.
  [[nodiscard]] Cover cover(PredicateId node, bool wanted) const;
  [[nodiscard]] Cover compare(const PredicateNode& node, bool wanted) const;
  [[nodiscard]] Cover all_of(std::span<const std::uint32_t> nodes, bool wanted) const;
  [[nodiscard]] Cover any_of(std::span<const std::uint32_t> nodes, bool wanted) const;
  void add_comparison(PredicateKind kind, std::uint32_t column, Value bound, Cover& out) const;

  const History& h_;
  std::size_t row_count_ = 0;
  std::vector<Column> columns_;
};

}  // namespace ouro::recheck
