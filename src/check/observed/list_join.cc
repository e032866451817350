// Joins the reads of a list to its appends.
//
// Reads of one key are prefixes of few trunks (history_builder.h), so elements are looked up once
// per trunk, not once per read.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/observed/join.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/input_error.h"

namespace ouro {

// Joins all reads of the list at hand. REQUIRES: its writes are in the table and have sources.
void Join::list_key() {
  list_keys_.push_back(accesses_[0].key);
  trunks_.clear();
  shown_in_.assign(size(), 0);
  repeated_ = appends_repeat_ ? RepeatedElements(o_, accesses_[0].key) : RepeatedElements();
  for (const Access& access : accesses_) resolve_trunk(access.value);
  for_each_group([&](std::uint32_t first, std::uint32_t end) { read_list_group(first, end); });
}

// Whether all accesses are such as a list may have; otherwise reports a fault.
bool Join::check_list_kinds() {
  for (const auto& [value, item, txn, key, kind, aborted] : accesses_) {
    if (is_append(kind) && value.is_null()) {
      fail(item,
           fmt::format("append of null to {}; give the element a value", h_.key_label(key)));
      return false;
    }
    if (!shows_register(kind, value)) continue;
    fail(item, no_list_text(h_, key, kind));
    return false;
  }
  return true;
}

// Finds the append of each element of the trunk that `list` is a prefix of, unless that is done.
void Join::resolve_trunk(Value list) {
  if (!list.is_list() || list.length() == 0) return;
  const auto [at, added] = trunks_.try_emplace(list.trunk());
  if (!added) return;
  Trunk& trunk = at->second;
  const HistoryColumns& c = columns_of(h_);
  const std::size_t first = o_.first_element(list);
  const std::size_t count = c.trunk_end[list.trunk()] - first;
  const auto number = static_cast<std::uint32_t>(trunks_.size());
  const auto show = [&](std::uint32_t append, std::uint32_t p) {
    const bool again = std::exchange(shown_in_[append], number) == number;
    if (again) trunk.duplicate = std::min(trunk.duplicate, p);
  };
  for (std::uint32_t p = 0; p < count; ++p) {
    if (!repeated_.empty() && repeated_.contains(c.elements[first + p])) {
      const ItemId item = repeated_append(c.elements[first + p], p, trunk);
      o_.element_item_[first + p] = item;
      if (item.valid() && item != Observed::kOpenElement) show(position(item), p);
      continue;
    }
    const std::uint32_t append = find(c.elements[first + p]);
    o_.element_item_[first + p] = append == kNoWrite ? ItemId{} : accesses_[append].item;
    if (append == kNoWrite) {
      trunk.thin_air = std::min(trunk.thin_air, p);
      continue;
    }
    if (accesses_[append].aborted) trunk.aborted = std::min(trunk.aborted, p);
    show(append, p);
  }
}

// The append of a repeated element of a trunk, or Observed::kOpenElement. The elements of a
// transaction are its appends in their order. Called for the elements of a trunk from the first on.
ItemId Join::repeated_append(Value element, std::uint32_t position, Trunk& trunk) {
  const auto appends = repeated_.appends(element);
  if (trunk.shown[element]++ >= appends.size()) {
    trunk.duplicate = std::min(trunk.duplicate, position);
    return repeated_.last_append(element);
  }
  const auto said = o_.said_elements_.find({accesses_[0].key, position});
  const TxnId txn =
      said != o_.said_elements_.end() ? said->second : repeated_.only(element, position);
  if (!txn.valid()) return Observed::kOpenElement;
  std::uint32_t& shown = trunk.shown_of[{element, txn}];
  const ItemId append = repeated_.append(element, txn, shown);
  if (append.valid()) ++shown;
  if (append.valid() || shown == 0) return append.valid() ? append : Observed::kOpenElement;
  // It is shown more often than the transaction appended it: the last append once more.
  trunk.duplicate = std::min(trunk.duplicate, position);
  return repeated_.append(element, txn, shown - 1);
}

// Whether `list`, which `item` read, ends with exactly the appends that its transaction made
// before, `own`, and shows none of the transaction's appends elsewhere. Reports it if not.
bool Join::shows_own_appends(ItemId item, Value list, std::span<const ItemId> own) {
  const TxnId txn = o_.txn(item);
  const std::size_t length = list.is_list() ? list.length() : 0;
  const auto mine = [&](ItemId element) {
    return element.valid() && o_.txn(element) == txn && items_.is_write(element);
  };
  for (std::size_t p = 0; p < length; ++p) {
    const ItemId element = o_.append_of(list, p);
    if (mine(element) && element > item) {
      find_wrong(AnomalyKind::FutureRead, item, element);
      return false;
    }
  }
  bool right = length >= own.size();
  for (std::size_t p = 0; right && p < length; ++p) {
    const ItemId element = o_.append_of(list, p);
    const std::size_t tail = length - own.size();
    if (p < tail) {
      right = !mine(element);
    } else if (o_.is_open_element(list, p)) {
      right = h_.list(list)[p] == items_.value(own[p - tail]);
    } else {
      right = element == own[p - tail];
    }
  }
  if (!right) find_wrong(AnomalyKind::Internal, item, own.back());
  return right;
}

// Joins the list reads of one transaction, whose accesses are those from `first` to `end`.
void Join::read_list_group(std::uint32_t first, std::uint32_t end) {
  const auto group = accesses_.subspan(first, end - first);
  const bool appends =
      std::any_of(group.begin(), group.end(), [](const Access& a) { return a.is_write(); });
  own_.clear();
  ItemId earlier;
  std::span<const Value> before;  // What the earlier read showed of others' appends.
  std::size_t own_at_earlier = 0;
  for (std::uint32_t i = first; i < end; ++i) {
    const auto& [list, item, txn, key, kind, aborted] = accesses_[i];
    if (is_write(kind)) {
      own_.push_back(item);
      continue;
    }
    if (aborted || !looks_at_key(kind) || list.is_unobserved()) continue;
    if (appends && !shows_own_appends(item, list, own_)) continue;
    std::span<const Value> elements;
    if (list.is_list()) elements = h_.list(list);
    const auto others = elements.first(elements.size() - own_.size());
    if (earlier.valid() &&
        !std::equal(before.begin(), before.end(), others.begin(), others.end())) {
      const bool between = own_.size() != own_at_earlier;
      find_wrong(between ? AnomalyKind::Internal : AnomalyKind::NonRepeatableRead, item, earlier);
    }
    const std::uint32_t source = list_source(item, list);
    set_source(item, source);
    sources_[i] = source < Observed::kInitial ? position(ItemId{source}) : source;
    earlier = item;
    before = others;
    own_at_earlier = own_.size();
  }
}

// The position of an item of the key among its accesses.
std::uint32_t Join::position(ItemId item) const {
  const auto at = std::partition_point(accesses_.begin(), accesses_.end(),
                                       [&](const Access& access) { return access.item < item; });
  return static_cast<std::uint32_t>(at - accesses_.begin());
}

// The source of a list read: the last append that others made to it. Reports what is wrong with it.
std::uint32_t Join::list_source(ItemId item, Value list) {
  if (!list.is_list() || list.length() == own_.size()) return Observed::kInitial;
  const auto others = static_cast<std::uint32_t>(list.length() - own_.size());
  const Trunk& trunk = trunks_.at(list.trunk());
  if (trunk.duplicate < list.length()) {
    find_wrong(AnomalyKind::DuplicateElements, item, o_.append_of(list, trunk.duplicate));
  }
  if (trunk.thin_air < others) find_wrong(AnomalyKind::ThinAirRead, item, {});
  if (trunk.aborted < others) {
    find_wrong(AnomalyKind::AbortedRead, item, o_.append_of(list, trunk.aborted));
  }
  if (trunk.thin_air < others || trunk.aborted < others) return Observed::kNone;
  if (o_.is_open_element(list, others - 1)) return Observed::kNone;
  const ItemId last = o_.append_of(list, others - 1);
  if (!o_.final(last)) find_wrong(AnomalyKind::IntermediateRead, item, last);
  return o_.source_[last.index()];
}

}  // namespace ouro
