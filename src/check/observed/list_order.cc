// The version orders that list reads reveal. The longest read of a key is its order, and appends
// that it does not show come later.

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "check/observed/observed.h"

namespace ouro {
namespace {

class ListOrder {
 public:
  ListOrder(const Observed& observed, std::vector<WrongRead>& wrong_reads,
            std::vector<VersionStep>& steps, std::vector<OpenElement>& open, const Budget& budget)
      : o_(observed),
        items_(observed.items()),
        ticker_(budget),
        wrong_reads_(wrong_reads),
        steps_(steps),
        open_(open),
        position_(observed.items().size()) {}

  // Adds the steps of one key, and what is wrong with its reads.
  void key(KeyId key) {
    const auto items = o_.items_of(key);
    find_longest(items);
    if (!longest_.valid() || ticker_.tick()) return;
    compare_reads(items);
    for (std::uint32_t i = 0; i < items.size(); ++i) position_[items[i].index()] = i;
    shown_.assign(items.size(), false);
    const Value list = items_.value(longest_);
    find_open(key, list);
    ItemId last;
    bool adjacent = true;  // Whether nothing that is open is behind `last`.
    for (std::uint32_t p = 0; p < list.length(); ++p) {
      if (o_.is_open_element(list, p)) {
        adjacent = false;
        continue;
      }
      const ItemId append = o_.append_of(list, p);
      // Nobody wrote it, or it was undone. That is reported already, and the order cannot be told.
      if (!append.valid() || !items_.is_write(append)) return;
      check_program_order(items, append);
      if (!last.valid() ? adjacent : o_.txn(last) != o_.txn(append)) {
        steps_.push_back({last, append, longest_, adjacent});
      }
      last = append;
      adjacent = true;
      shown_[position_[append.index()]] = true;
    }
    place_unread(items, last);
  }

 private:
  // Whether the item is a read of a list with elements, by a transaction that takes part.
  [[nodiscard]] bool relevant(ItemId item) const {
    return items_.is_read(item) && items_.value(item).is_list() && o_.counted(o_.txn(item)) &&
           items_.value(item).length() != 0;
  }

  void find_longest(std::span<const ItemId> items) {
    longest_ = {};
    for (const ItemId item : items) {
      if (!relevant(item)) continue;
      if (!longest_.valid() || items_.value(item).length() > items_.value(longest_).length()) {
        longest_ = item;
      }
    }
  }

  // Notes which elements of the longest read are open.
  void find_open(KeyId key, Value list) {
    open_values_.clear();
    for (std::uint32_t p = 0; p < list.length(); ++p) {
      if (!o_.is_open_element(list, p)) continue;
      open_.push_back({key, p, longest_});
      open_values_.insert(o_.history().list(list)[p]);
    }
  }

  // Whether an append may be one of the open elements.
  [[nodiscard]] bool may_be_shown(ItemId append) const {
    return !open_values_.empty() && open_values_.contains(items_.value(append));
  }

  // Reports every read that is no prefix of the longest one.
  void compare_reads(std::span<const ItemId> items) {
    const Value longest = items_.value(longest_);
    const auto whole = o_.history().list(longest);
    for (const ItemId item : items) {
      if (ticker_.tick()) return;
      if (!relevant(item) || items_.value(item).trunk() == longest.trunk()) continue;
      const auto list = o_.history().list(items_.value(item));
      if (!std::equal(list.begin(), list.end(), whole.begin())) {
        wrong_reads_.push_back({AnomalyKind::IncompatibleOrder, item, longest_});
      }
    }
  }

  // A transaction's appends must show in the order in which it made them.
  void check_program_order(std::span<const ItemId> items, ItemId append) {
    for (std::size_t at = position_[append.index()]; at > 0; --at) {
      const ItemId before = items[at - 1];
      if (o_.txn(before) != o_.txn(append)) return;
      if (!items_.is_write(before)) continue;
      if (!shown_[at - 1] && !may_be_shown(before))
        wrong_reads_.push_back({AnomalyKind::IncompatibleOrder, longest_, append});
      return;
    }
  }

  // Adds steps from `last`, the last append that is shown, to all that are not shown.
  void place_unread(std::span<const ItemId> items, ItemId last) {
    if (!last.valid()) return;  // All that is shown is open.
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (shown_[i] || !items_.is_write(items[i]) || may_be_shown(items[i])) continue;
      if (!o_.counted(o_.txn(items[i])) || o_.txn(items[i]) == o_.txn(last)) continue;
      steps_.push_back({last, items[i], longest_});
    }
  }

  const Observed& o_;
  const Items& items_;
  BudgetTicker ticker_;
  std::vector<WrongRead>& wrong_reads_;
  std::vector<VersionStep>& steps_;
  std::vector<OpenElement>& open_;
  absl::flat_hash_set<Value> open_values_;  // Of the key at hand.
  // The longest read of the key at hand; invalid if there is none.
  ItemId longest_;
  std::vector<std::uint32_t> position_;  // By item of the key at hand: its place among them.
  std::vector<bool> shown_;              // By position: whether it is shown.
};

}  // namespace

void Observed::order_lists(const std::vector<KeyId>& keys, const Budget& budget) {
  ListOrder order(*this, wrong_reads_, version_steps_, open_elements_, budget);
  for (const KeyId key : keys) order.key(key);
}

}  // namespace ouro
