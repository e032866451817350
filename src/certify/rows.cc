#include "certify/rows.h"

#include <algorithm>
#include <bit>
#include <string>

#include "certify/sums.h"
#include "certify/undone.h"
#include "certify/values.h"

namespace ouro::recheck {

namespace {

// What an aggregate needs of its rows.
struct Aggregated {
  std::size_t count = 0;
  Sums sums;
  Value least;
  Value greatest;
};

Aggregated aggregated(const History& history, const PredicateRead& read,
                      const std::vector<KeyVersion>& rows) {
  const bool adds = read.aggregate == AggregateKind::Sum || read.aggregate == AggregateKind::Avg;
  Aggregated all;
  for (const KeyVersion& row : rows) {
    const bool whole = !read.column.valid();
    const Value value = whole ? history.key_name(row.key) : history.cell(row.value, read.column);
    if (value.is_null()) continue;
    if (adds) all.sums.add(history, value);
    if (all.count == 0 || before(history, value, all.least)) all.least = value;
    if (all.count == 0 || before(history, all.greatest, value)) all.greatest = value;
    ++all.count;
  }
  all.sums.settle();
  return all;
}

}  // namespace

bool selects(const History& history, OpId id, KeyId key, Value row) {
  const PredicateRead& read = history.predicate_read(id);
  if (history.op(id).kind != OpKind::Scan) {
    return is_settled(history, read.predicate, key, row);
  }
  const Value name = history.key_name(key);
  const bool below = !read.lower.is_null() && less(history, name, read.lower);
  const bool above = !read.upper.is_null() && less(history, read.upper, name);
  return !below && !above;
}

bool is_result(const History& history, const PredicateRead& read,
               const std::vector<KeyVersion>& rows) {
  if (read.result.is_unobserved()) return true;
  const Aggregated all = aggregated(history, read, rows);
  const std::string given = history.text(read.result);
  switch (read.aggregate) {
    case AggregateKind::Count:
      return given == std::to_string(all.count);
    case AggregateKind::Min:
      return given == history.text(all.least);
    case AggregateKind::Max:
      return given == history.text(all.greatest);
    case AggregateKind::Sum:
      return all.sums.allow(given, false);
    case AggregateKind::Avg:
      break;
  }
  return all.sums.allow(given, true);
}

Table::Table(const History& history, const RowIndex& index)
    : h_(history),
      index_(index),
      contents_(history.key_count()),
      there_(index.column_count(), std::vector<std::uint64_t>(index.slot_count() / 64 + 1)) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    const bool appends = op.kind == OpKind::Append || op.kind == OpKind::UndoneAppend;
    const bool list = appends || (!is_predicate_read(op.kind) && op.value.is_list());
    if (list) contents_[op.key.index()].list = true;
  }
  for (std::size_t k = 0; k < contents_.size(); ++k) {
    contents_[k].value = history.initial(KeyId{k});
    contents_[k].row = !contents_[k].value.is_null() && !contents_[k].list;
    versions_.push_back(index.initial(KeyId{k}));
    if (contents_[k].row) mark(versions_[k], true);
  }
}

// Sets the bits of a version, or clears them.
void Table::mark(RowIndex::Version version, bool there) {
  for (std::uint32_t c = 0; c < there_.size(); ++c) {
    const std::uint32_t slot = index_.slot(c, version);
    const std::uint64_t bit = std::uint64_t{1} << slot % 64;
    (there ? there_[c][slot / 64] |= bit : there_[c][slot / 64] &= ~bit);
  }
}

void Table::set(KeyId key, RowIndex::Version version, bool row) {
  Content& content = contents_[key.index()];
  if (content.row) mark(versions_[key.index()], false);
  versions_[key.index()] = version;
  content.value = index_.value(version);
  content.row = row;
  if (row) mark(version, true);
}

void Table::put(RowIndex::Version version) {
  set(index_.key(version), version, index_.is_row(version));
}

void Table::apply(const Op& write) {
  if (write.kind == OpKind::Append) {
    contents_[write.key.index()].elements.push_back(write.value);
  } else {
    put(index_.written(write.id));
  }
}

void Table::apply_for_now(const Op& write) {
  const std::size_t k = write.key.index();
  before_.push_back({write.key, write.kind == OpKind::Append, versions_[k], contents_[k].row});
  apply(write);
}

void Table::take_back(std::size_t left) {
  for (; before_.size() > left; before_.pop_back()) {
    const Before& last = before_.back();
    if (last.append) {
      contents_[last.key.index()].elements.pop_back();
    } else {
      set(last.key, last.version, last.row);
    }
  }
}

bool Table::returned_right_within(TxnId txn, OpId read) {
  if (h_.undone_part(read) == 0) return returned_right(read);
  const std::size_t kept = before_.size();
  for (OpId id = h_.first_op(txn); id < read; ++id.value) {
    const Op own = h_.op(id);
    const bool rows = own.kind != OpKind::UndoneAppend && undoes(own.kind);
    if (rows && sees_own(h_, own, read)) apply_for_now(own);
  }
  const bool right = returned_right(read);
  take_back(kept);
  return right;
}

// Adds the keys that hold a version within the cover, sorted.
void Table::find_candidates(const RowIndex::Cover& cover, std::vector<KeyId>& out) const {
  for (const RowIndex::Interval& interval : cover.intervals) {
    const auto& words = there_[interval.column];
    for (std::uint32_t w = interval.first / 64; w * 64 < interval.end; ++w) {
      std::uint64_t bits = words[w];
      if (w == interval.first / 64) bits &= ~std::uint64_t{0} << interval.first % 64;
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t slot = w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (slot >= interval.end) break;
        out.push_back(index_.key(index_.version(interval.column, slot)));
      }
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

std::vector<KeyVersion> Table::selected(OpId read) const {
  std::vector<KeyVersion> rows;
  const auto consider = [&](KeyId key) {
    const Content& content = contents_[key.index()];
    if (content.row && selects(h_, read, key, content.value)) rows.push_back({key, content.value});
  };
  const RowIndex::Cover cover = index_.cover(read);
  if (cover.everything || index_.size(cover) / 64 > contents_.size()) {
    for (std::size_t k = 0; k < contents_.size(); ++k) consider(KeyId{k});
    return rows;
  }
  std::vector<KeyId> candidates;
  find_candidates(cover, candidates);
  for (const KeyId key : candidates) consider(key);
  return rows;
}

bool Table::returned_right(OpId id) const {
  const PredicateRead& read = h_.predicate_read(id);
  std::vector<KeyVersion> wanted = selected(id);
  if (h_.op(id).kind == OpKind::Aggregate) {
    return is_result(h_, read, wanted);
  }
  std::vector<KeyVersion> got;
  for (const KeyVersion& row : h_.rows(read)) {
    const Content& content = contents_[row.key.index()];
    if (content.list) continue;  // Lists are no rows.
    if (content.row || content.value != row.value) got.push_back(row);
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(got.begin(), got.end());
  return wanted == got;
}

}  // namespace ouro::recheck
