#include "certify/row_index.h"

#include <algorithm>
#include <utility>

#include "certify/values.h"
#include "history/columns.h"

namespace ouro::recheck {
namespace {

using Interval = RowIndex::Interval;

// The same slots, as sorted intervals of which no two of a column touch.
std::vector<Interval> united(std::vector<Interval> all) {
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) {
    return std::pair(a.column, a.first) < std::pair(b.column, b.first);
  });
  std::vector<Interval> out;
  for (const Interval& next : all) {
    if (next.first >= next.end) continue;
    if (!out.empty() && out.back().column == next.column && next.first <= out.back().end) {
      out.back().end = std::max(out.back().end, next.end);
    } else {
      out.push_back(next);
    }
  }
  return out;
}

// The slots that are in both. REQUIRES: both are united and of the same column.
std::vector<Interval> shared(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> out;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint32_t first = std::max(a[i].first, b[j].first);
    const std::uint32_t end = std::min(a[i].end, b[j].end);
    if (first < end) out.push_back({a[i].column, first, end});
    a[i].end < b[j].end ? ++i : ++j;
  }
  return out;
}

bool of_one_column(const std::vector<Interval>& intervals) {
  return intervals.empty() || intervals.front().column == intervals.back().column;
}

// The comparison that is true where `kind` is false.
PredicateKind opposite(PredicateKind kind) {
  switch (kind) {
    case PredicateKind::Eq:
      return PredicateKind::Ne;
    case PredicateKind::Ne:
      return PredicateKind::Eq;
    case PredicateKind::Lt:
      return PredicateKind::Ge;
    case PredicateKind::Le:
      return PredicateKind::Gt;
    case PredicateKind::Gt:
      return PredicateKind::Le;
    default:
      return PredicateKind::Lt;
  }
}

}  // namespace

RowIndex::RowIndex(const History& history) : h_(history) {
  choose_columns();
  if (columns_.empty()) return;
  const auto count = static_cast<Version>(h_.key_count() + h_.op_count());
  for (Version v = 0; v < count; ++v) row_count_ += is_row(v) ? 1 : 0;
  for (Column& column : columns_) fill(column);
}

void RowIndex::choose_columns() {
  const HistoryColumns& c = columns_of(h_);
  const auto add = [&](ColumnId id) {
    if (columns_.size() == kMostColumns || find(id) != kNone) return;
    columns_.emplace_back().id = id;
  };
  for (const PredicateNode& node : c.predicate_nodes) {
    if (info(node.kind).compares) add(node.column);
  }
  if (std::find(c.op_kind.begin(), c.op_kind.end(), OpKind::Scan) != c.op_kind.end()) add({});
}

void RowIndex::fill(Column& column) const {
  const auto count = static_cast<Version>(h_.key_count() + h_.op_count());
  std::vector<std::pair<Value, Version>> sorted;
  sorted.reserve(row_count_);
  for (Version v = 0; v < count; ++v) {
    if (!is_row(v)) continue;
    sorted.emplace_back(column.id.valid() ? h_.cell(value(v), column.id) : h_.key_name(key(v)), v);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return less(h_, a.first, b.first); });
  column.slots.assign(count, kNone);
  column.versions.reserve(sorted.size());
  for (const auto& [cell, version] : sorted) {
    const auto slot = static_cast<std::uint32_t>(column.versions.size());
    if (column.values.empty() || less(h_, column.values.back(), cell)) {
      column.values.push_back(cell);
      column.firsts.push_back(slot);
    }
    column.slots[version] = slot;
    column.versions.push_back(version);
  }
  column.firsts.push_back(static_cast<std::uint32_t>(sorted.size()));
}

KeyId RowIndex::key(Version version) const {
  const std::size_t keys = h_.key_count();
  return version < keys ? KeyId{version} : columns_of(h_).op_key[version - keys];
}

Value RowIndex::value(Version version) const {
  const std::size_t keys = h_.key_count();
  return version < keys ? h_.initial(KeyId{version}) : columns_of(h_).op_value[version - keys];
}

bool RowIndex::is_row(Version version) const {
  const std::size_t keys = h_.key_count();
  const OpKind kind = version < keys ? OpKind::Write : columns_of(h_).op_kind[version - keys];
  const OpInfo& write = info(kind);
  const bool kept = write.writes && !write.deletes && write.model == KeyModel::Register;
  const bool put = kept || kind == OpKind::UndoneWrite;
  return put && !value(version).is_null();
}

std::uint32_t RowIndex::find(ColumnId id) const {
  const auto at = std::find_if(columns_.begin(), columns_.end(),
                               [&](const Column& column) { return column.id == id; });
  return at == columns_.end() ? kNone : static_cast<std::uint32_t>(at - columns_.begin());
}

// ---- slots ----

std::uint32_t RowIndex::at_least(const Column& column, Value bound) const {
  const auto at = std::partition_point(column.values.begin(), column.values.end(),
                                       [&](Value value) { return less(h_, value, bound); });
  return column.firsts[static_cast<std::size_t>(at - column.values.begin())];
}

std::uint32_t RowIndex::beyond(const Column& column, Value bound) const {
  const auto at = std::partition_point(column.values.begin(), column.values.end(),
                                       [&](Value value) { return !less(h_, bound, value); });
  return column.firsts[static_cast<std::size_t>(at - column.values.begin())];
}

Scalar::Family RowIndex::family(Value value) const { return scalar_of(h_, value).family; }

std::uint32_t RowIndex::family_first(const Column& column, Value like) const {
  const auto at = std::partition_point(column.values.begin(), column.values.end(),
                                       [&](Value value) { return family(value) < family(like); });
  return column.firsts[static_cast<std::size_t>(at - column.values.begin())];
}

std::uint32_t RowIndex::family_end(const Column& column, Value like) const {
  const auto at = std::partition_point(column.values.begin(), column.values.end(),
                                       [&](Value value) { return family(value) <= family(like); });
  return column.firsts[static_cast<std::size_t>(at - column.values.begin())];
}

// ---- covers ----

std::size_t RowIndex::size(const Cover& cover) const {
  if (cover.everything) return h_.key_count() + h_.op_count();
  std::size_t all = 0;
  for (const Interval& interval : cover.intervals) all += interval.end - interval.first;
  return all;
}

RowIndex::Cover RowIndex::cover(OpId id) const {
  const PredicateRead& read = h_.predicate_read(id);
  if (h_.op(id).kind != OpKind::Scan) return cover(read.predicate, true);
  const std::uint32_t name = find({});
  if (name == kNone) return {true, {}};
  const Column& column = columns_[name];
  const std::uint32_t first = read.lower.is_null() ? 0 : at_least(column, read.lower);
  const std::uint32_t end =
      read.upper.is_null() ? column.firsts.back() : beyond(column, read.upper);
  return {false, united({{name, first, end}})};
}

RowIndex::Cover RowIndex::cover(PredicateId id, bool wanted) const {
  const PredicateNode& node = h_.predicate(id);
  switch (node.kind) {
    case PredicateKind::True:
      return {wanted, {}};
    case PredicateKind::And:
      return wanted ? all_of(h_.children(node), wanted) : any_of(h_.children(node), wanted);
    case PredicateKind::Or:
      return wanted ? any_of(h_.children(node), wanted) : all_of(h_.children(node), wanted);
    case PredicateKind::Not:
      return cover(PredicateId{h_.children(node)[0]}, !wanted);
    default:
      return compare(node, wanted);
  }
}

// The cover of a conjunction. Covers of parts with the same column are intersected; each of what is
// left is a cover, so the smallest is taken.
RowIndex::Cover RowIndex::all_of(std::span<const std::uint32_t> nodes, bool wanted) const {
  std::vector<Cover> known;
  for (const std::uint32_t node : nodes) {
    Cover next = cover(PredicateId{node}, wanted);
    if (next.everything) continue;
    if (next.intervals.empty()) return next;
    const auto same = std::find_if(known.begin(), known.end(), [&](const Cover& other) {
      return of_one_column(other.intervals) && of_one_column(next.intervals) &&
             other.intervals.front().column == next.intervals.front().column;
    });
    if (same == known.end()) {
      known.push_back(std::move(next));
      continue;
    }
    same->intervals = shared(same->intervals, next.intervals);
    if (same->intervals.empty()) return std::move(*same);
  }
  if (known.empty()) return {true, {}};
  return *std::min_element(known.begin(), known.end(),
                           [&](const Cover& a, const Cover& b) { return size(a) < size(b); });
}

// The cover of a disjunction: the union of those of its parts.
RowIndex::Cover RowIndex::any_of(std::span<const std::uint32_t> nodes, bool wanted) const {
  Cover all;
  for (const std::uint32_t node : nodes) {
    const Cover next = cover(PredicateId{node}, wanted);
    if (next.everything) return next;
    all.intervals.insert(all.intervals.end(), next.intervals.begin(), next.intervals.end());
  }
  all.intervals = united(std::move(all.intervals));
  return all;
}

RowIndex::Cover RowIndex::compare(const PredicateNode& node, bool wanted) const {
  const PredicateInfo& kind = info(node.kind);
  if (kind.takes_terms || node.kind == PredicateKind::Like) return {true, {}};  // No index helps.
  const std::uint32_t column = find(node.column);
  const auto operands = h_.operands(node);
  if (column == kNone) return {true, {}};
  Cover out;
  switch (node.kind) {
    case PredicateKind::IsNull:
      if (!wanted) return {true, {}};
      out.intervals.push_back({column, 0, family_end(columns_[column], Value::null())});
      break;
    case PredicateKind::Between:
      if (wanted) {
        add_comparison(PredicateKind::Ge, column, operands[0], out);
        Cover other;
        add_comparison(PredicateKind::Le, column, operands[1], other);
        out.intervals = shared(united(std::move(out.intervals)), united(other.intervals));
      } else {
        add_comparison(PredicateKind::Lt, column, operands[0], out);
        add_comparison(PredicateKind::Gt, column, operands[1], out);
      }
      break;
    case PredicateKind::In:
      if (!wanted) return {true, {}};
      for (const Value value : operands) add_comparison(PredicateKind::Eq, column, value, out);
      break;
    default:
      add_comparison(wanted ? node.kind : opposite(node.kind), column, operands[0], out);
      break;
  }
  out.intervals = united(std::move(out.intervals));
  return out;
}

// Adds the slots of which a comparison is true. It is neither true nor false of values of another
// family (values.h), nor of null.
void RowIndex::add_comparison(PredicateKind kind, std::uint32_t number, Value bound,
                              Cover& out) const {
  if (family(bound) == Scalar::Family::None) return;
  const Column& column = columns_[number];
  const auto add = [&](std::uint32_t first, std::uint32_t end) {
    out.intervals.push_back({number, first, end});
  };
  switch (kind) {
    case PredicateKind::Eq:
      return add(at_least(column, bound), beyond(column, bound));
    case PredicateKind::Ne:
      add(family_first(column, bound), at_least(column, bound));
      return add(beyond(column, bound), family_end(column, bound));
    case PredicateKind::Lt:
      return add(family_first(column, bound), at_least(column, bound));
    case PredicateKind::Le:
      return add(family_first(column, bound), beyond(column, bound));
    case PredicateKind::Gt:
      return add(beyond(column, bound), family_end(column, bound));
    default:
      return add(at_least(column, bound), family_end(column, bound));
  }
}

}  // namespace ouro::recheck
