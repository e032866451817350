#include "certify/rows.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "certify/values.h"

namespace ouro::recheck {

namespace {

// The sum of any integers that histories have, as high_ · 10^18 + low_.
class Total {
 public:
  void add(const History& history, Value value) {
    numbers_ = numbers_ && (value.kind() == ValueKind::Integer || value.kind() == ValueKind::Wide);
    if (!numbers_) return;
    const std::string digits = history.text(value);
    const bool negative = digits[0] == '-';
    const std::string_view size = std::string_view(digits).substr(negative ? 1 : 0);
    const std::size_t cut = size.size() > kDigits ? size.size() - kDigits : 0;
    const std::int64_t high = cut == 0 ? 0 : std::stoll(std::string(size.substr(0, cut)));
    const std::int64_t low = std::stoll(std::string(size.substr(cut)));
    high_ += negative ? -high : high;
    low_ += negative ? -low : low;
    high_ += low_ / kUnit;
    low_ %= kUnit;
  }

  // Null if a value was no integer; a string if the sum has more than 64 bits.
  [[nodiscard]] std::string json() const {
    if (!numbers_) return "null";
    std::int64_t high = high_;
    std::int64_t low = low_;
    if (high > 0 && low < 0) --high, low += kUnit;
    if (high < 0 && low > 0) ++high, low -= kUnit;
    const std::string sign = high < 0 || low < 0 ? "-" : "";
    const std::string rest = std::to_string(low < 0 ? -low : low);
    const std::string size = high == 0 ? rest
                                       : std::to_string(high < 0 ? -high : high) +
                                             std::string(kDigits - rest.size(), '0') + rest;
    const std::string_view most = sign.empty() ? "18446744073709551615" : "9223372036854775808";
    const bool fits = size.size() < most.size() || (size.size() == most.size() && size <= most);
    return fits ? sign + size : '"' + sign + size + '"';
  }

 private:
  static constexpr std::size_t kDigits = 18;
  static constexpr std::int64_t kUnit = 1'000'000'000'000'000'000;
  bool numbers_ = true;
  std::int64_t high_ = 0;
  std::int64_t low_ = 0;
};

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

std::string aggregate(const History& history, const PredicateRead& read,
                      const std::vector<KeyVersion>& rows) {
  std::size_t count = 0;
  Total total;
  Value least;
  Value greatest;
  for (const KeyVersion& row : rows) {
    const bool whole = !read.column.valid();
    const Value value = whole ? history.key_name(row.key) : history.cell(row.value, read.column);
    if (value.is_null()) continue;
    total.add(history, value);
    if (count == 0 || less(history, value, least)) least = value;
    if (count == 0 || less(history, greatest, value)) greatest = value;
    ++count;
  }
  switch (read.aggregate) {
    case AggregateKind::Count:
      return std::to_string(count);
    case AggregateKind::Min:
      return history.text(least);
    case AggregateKind::Max:
      return history.text(greatest);
    case AggregateKind::Sum:
      break;
  }
  return count == 0 ? "null" : total.json();
}

Table::Table(const History& history, const RowIndex& index)
    : h_(history),
      index_(index),
      contents_(history.key_count()),
      there_(index.column_count(), std::vector<std::uint64_t>(index.slot_count() / 64 + 1)) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    const bool list = op.kind == OpKind::Append || (op.kind == OpKind::Read && op.value.is_list());
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

void Table::take_back() {
  for (; !before_.empty(); before_.pop_back()) {
    const Before& last = before_.back();
    if (last.append) {
      contents_[last.key.index()].elements.pop_back();
    } else {
      set(last.key, last.version, last.row);
    }
  }
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
    return read.result.is_unobserved() || aggregate(h_, read, wanted) == h_.text(read.result);
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
