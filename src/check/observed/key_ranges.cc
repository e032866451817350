#include "check/observed/key_ranges.h"

#include <algorithm>

#include "base/parallel.h"

namespace ouro {
namespace {

// The records and accesses of so many fit in a core's cache.
constexpr std::size_t kRangeItems = 1 << 15;
constexpr std::size_t kMaxRanges = 512;  // As many streams as the memory system serves at once.
// Record::key_and_kind has 28 bits for the key.
constexpr std::size_t kMaxRangeKeys = 1 << 28;
constexpr std::size_t kAhead = 24;  // So many records ahead transactions are prefetched.

}  // namespace

// Transactions whose items one thread deals into the ranges.
struct KeyRanges::Slice {
  TxnId begin, end;
  std::vector<std::uint32_t> per_key;  // How many items each key has.
  std::vector<std::uint32_t> next;     // Where the next record of each range goes.
};

KeyRanges::KeyRanges(const History& history, const Items& items, unsigned threads,
                     const Budget& budget, Column<TxnId>& item_txn)
    : history_(history), items_(items), budget_(budget), item_txn_(item_txn) {
  item_txn_.extend(items.size());
  // A slice costs a counter per key, so there must be enough items to be worth it.
  const std::size_t parts =
      items.size() < 50'000 || items.size() < 2 * history.key_count() ? 1 : thread_count(threads);
  std::vector<Slice> slices(parts);
  for_each_part(parts, [&](std::size_t part) {
    Slice& slice = slices[part];
    slice.begin = TxnId{history.txn_count() * part / parts};
    slice.end = TxnId{history.txn_count() * (part + 1) / parts};
    slice.per_key.assign(history.key_count(), 0);
    if (slice.begin == slice.end) return;
    for_each_within(budget, items_.first(slice.begin).index(), items_.first(slice.end).index(),
                    [&](std::size_t i) {
                      const KeyId key = items_.key(ItemId{i});
                      if (key.valid()) ++slice.per_key[key.index()];
                    });
  });
  if (budget.exhausted()) return;
  choose_ranges(slices);

  std::vector<std::uint32_t> next(count());
  for (std::size_t r = 0; r < count(); ++r) next[r] = key_first_[first_key_[r]];
  for (Slice& slice : slices) {
    slice.next = next;
    for (std::size_t r = 0; r < count(); ++r) {
      for (std::size_t k = first_key_[r]; k < first_key_[r + 1]; ++k) next[r] += slice.per_key[k];
    }
  }
  records_.reset(new Record[key_first_.back()]);  // Not cleared, as make_unique() would.
  for_each_part(parts, [&](std::size_t part) { deal(slices[part]); });
}

// Divides the keys into ranges of about as many items each. A key is never split.
void KeyRanges::choose_ranges(std::span<const Slice> slices) {
  const std::size_t keys = history_.key_count();
  key_first_.assign(keys + 1, 0);
  for (std::size_t k = 0; k < keys; ++k) {
    key_first_[k + 1] = key_first_[k];
    for (const Slice& slice : slices) key_first_[k + 1] += slice.per_key[k];
  }
  const std::size_t wanted = std::max(kRangeItems, key_first_.back() / kMaxRanges + 1);
  range_of_key_.resize(keys);
  first_key_.push_back(0);
  for (std::size_t k = 0; k < keys; ++k) {
    const std::size_t begin = first_key_.back();
    const bool full = key_first_[k + 1] - key_first_[begin] > wanted || k - begin >= kMaxRangeKeys;
    if (full && k > begin) first_key_.push_back(static_cast<std::uint32_t>(k));
    range_of_key_[k] = static_cast<std::uint16_t>(first_key_.size() - 1);
  }
  if (keys != 0) first_key_.push_back(static_cast<std::uint32_t>(keys));
}

void KeyRanges::deal(Slice& slice) {
  for_each_within(budget_, slice.begin.index(), slice.end.index(), [&](std::size_t t) {
    const TxnId txn{t};
    for (ItemId i = items_.first(txn); i < items_.end(txn); ++i.value) {
      item_txn_[i.index()] = txn;
      const KeyId key = items_.key(i);
      if (!key.valid()) continue;
      const std::size_t range = range_of_key_[key.index()];
      const std::uint32_t local = key.value - first_key_[range];
      records_[slice.next[range]++] = {
          items_.value(i).bits(), i.value,
          local << kKindBits | static_cast<std::uint32_t>(items_.kind(i))};
    }
  });
}

bool KeyRanges::sort(std::size_t range, std::vector<Access>& out) const {
  const std::size_t keys = first_key_[range + 1] - first_key_[range];
  const auto first_of_key = std::span(key_first_).subspan(first_key_[range], keys + 1);
  const std::uint32_t begin = first_of_key.front();
  std::vector<std::uint32_t> next(first_of_key.begin(), first_of_key.end() - 1);
  out.resize(first_of_key.back() - begin);
  const std::size_t end = first_of_key.back();
  return for_each_within(budget_, begin, end, [&](std::size_t at) {
    const Record& record = records_[at];
    __builtin_prefetch(&item_txn_[records_[std::min(at + kAhead, end - 1)].item]);
    const std::uint32_t local = record.key_and_kind >> kKindBits;
    const TxnId txn = item_txn_[record.item];
    const auto kind = static_cast<OpKind>(record.key_and_kind & ((1u << kKindBits) - 1));
    out[next[local]++ - begin] = {
        .value = Value::from_bits(record.value),
        .item = ItemId{record.item},
        .txn = txn,
        .key = KeyId{first_key_[range] + local},
        .kind = kind,
        .aborted = history_.status(txn) == TxnStatus::Aborted || is_undone(kind)};
  });
}

}  // namespace ouro
