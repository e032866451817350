#include "check/open_elements.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <queue>
#include <span>
#include <tuple>

#include "check/observed/repeated_elements.h"

namespace ouro {
namespace {

// Guesses the open elements of one list, from the first on.
class ListGuess {
 public:
  ListGuess(const Observed& observed, const Positions& places, KeyId key, ItemId longest)
      : o_(observed),
        places_(places),
        items_(observed.items_of(key)),
        repeated_(observed, key),
        list_(observed.items().value(longest)) {
    for (std::uint32_t p = 0; p < list_.length(); ++p) {
      if (const ItemId append = o_.append_of(list_, p); append.valid()) used_.insert(append);
    }
  }

  // Says who appended the elements at `open`, which are all open ones of the list.
  void run(std::span<const OpenElement> open, std::vector<ReadSource>& out) {
    ItemId before;  // The append of the element before.
    std::uint32_t next = 0;
    for (const OpenElement& element : open) {
      if (element.position > next) before = o_.append_of(list_, element.position - 1);
      const ItemId append = guess(element.position, before);
      used_.insert(append);
      out.push_back({o_.items().op(element.read), element.key, o_.txn(append),
                     element.position + 1});
      before = append;
      next = element.position + 1;
    }
  }

 private:
  // The next append of the same transaction to the list; not valid if there is none.
  [[nodiscard]] ItemId next_append(ItemId append) const {
    auto at = std::upper_bound(items_.begin(), items_.end(), append);
    for (; at != items_.end() && o_.txn(*at) == o_.txn(append); ++at) {
      if (o_.items().is_write(*at)) return *at;
    }
    return {};
  }
  [[nodiscard]] bool is_first_append(ItemId append) const {
    auto at = std::lower_bound(items_.begin(), items_.end(), append);
    while (at != items_.begin() && o_.txn(*(at - 1)) == o_.txn(append)) {
      if (o_.items().is_write(*--at)) return false;
    }
    return true;
  }

  [[nodiscard]] Value element(std::uint32_t position) const {
    return o_.history().list(list_)[position];
  }

  // Whether the appends of a transaction from `append` on are what the list shows from `position`
  // on.
  [[nodiscard]] bool goes_on(ItemId append, std::uint32_t position) const {
    for (; append.valid() && position < list_.length(); append = next_append(append), ++position) {
      if (o_.items().value(append) != element(position)) return false;
      const ItemId known = o_.append_of(list_, position);
      if (known.valid() ? known != append : used_.contains(append)) return false;
    }
    return true;
  }

  ItemId guess(std::uint32_t position, ItemId before) {
    if (before.valid()) {
      const ItemId next = next_append(before);
      const bool fits = next.valid() && o_.items().value(next) == element(position);
      if (fits && !used_.contains(next)) return next;
    }
    Waiting& waiting = waiting_[element(position)];
    waiting.fill(*this, repeated_.appends(element(position)), position);
    std::vector<Entry> unfit;
    ItemId out;
    while (!out.valid() && !waiting.ready.empty()) {
      const Entry entry = waiting.ready.top();
      const ItemId append = std::get<2>(entry);
      waiting.ready.pop();
      if (used_.contains(append)) continue;
      if (is_first_append(append) && goes_on(append, position)) {
        out = append;
      } else {
        unfit.push_back(entry);
      }
    }
    for (const Entry& entry : unfit) waiting.ready.push(entry);
    if (out.valid()) return out;
    // Nothing fits; anything is as good.
    for (const RepeatedElements::Append& append : repeated_.appends(element(position))) {
      if (append.seen <= position && !used_.contains(append.item)) return append.item;
    }
    return repeated_.appends(element(position)).front().item;
  }

  // Appends of an element that may stand at the position at hand. Whoever read the list appends
  // soon after what it read, so those that read most come first; then the others by place.
  using Entry = std::tuple<std::uint32_t, std::uint32_t, ItemId>;
  struct Waiting {
    std::size_t next = 0;  // How many of the appends of the element are in `ready`.
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;

    void fill(const ListGuess& list, std::span<const RepeatedElements::Append> appends,
              std::uint32_t position) {
      for (; next < appends.size() && appends[next].seen <= position; ++next) {
        const auto& [txn, item, seen] = appends[next];
        constexpr std::uint32_t kUnread = 0xffffffff;
        ready.emplace(seen == 0 ? kUnread : kUnread - 1 - seen, list.places_.commit[txn.index()],
                      item);
      }
    }
  };

  const Observed& o_;
  const Positions& places_;
  const std::span<const ItemId> items_;
  const RepeatedElements repeated_;
  const Value list_;
  absl::flat_hash_set<ItemId> used_;
  absl::flat_hash_map<Value, Waiting> waiting_;
};

}  // namespace

std::vector<ReadSource> guess_elements(const Observed& observed, const Positions& places) {
  std::vector<ReadSource> out;
  const auto open = observed.open_elements();
  for (std::size_t i = 0; i < open.size();) {
    std::size_t end = i;
    while (end < open.size() && open[end].key == open[i].key) ++end;
    ListGuess(observed, places, open[i].key, open[i].read).run(open.subspan(i, end - i), out);
    i = end;
  }
  return out;
}

std::vector<TxnId> by_preference(const Observed& observed, const Positions& places,
                                 const OpenElement& element) {
  const auto list = observed.history().list(observed.items().value(element.read));
  auto out = RepeatedElements(observed, element.key)
                 .candidates(list[element.position], element.position);
  std::stable_sort(out.begin(), out.end(), [&](TxnId a, TxnId b) {
    return places.commit[a.index()] < places.commit[b.index()];
  });
  return out;
}

const OpenElement* suspected_element(const Observed& observed,
                                     const std::vector<ReadSource>& guess,
                                     const std::vector<Anomaly>& anomalies) {
  const auto open = observed.open_elements();
  absl::flat_hash_set<std::pair<KeyId, TxnId>> appends;
  absl::flat_hash_set<KeyId> keys;
  for (const Anomaly& anomaly : anomalies) {
    for (const Edge& edge : anomaly.edges) {
      if (!edge.key.valid()) continue;
      appends.insert({edge.key, edge.from});
      appends.insert({edge.key, edge.to});
    }
    for (const OpId op : anomaly.ops) keys.insert(observed.history().op(op).key);
  }
  absl::flat_hash_map<std::pair<KeyId, std::uint32_t>, TxnId> writers;
  for (const ReadSource& said : guess) writers[{said.key, said.element}] = said.writer;
  const OpenElement* of_list = nullptr;
  for (const OpenElement& element : open) {
    const auto writer = writers.find({element.key, element.position + 1});
    if (writer != writers.end() && appends.contains({element.key, writer->second})) return &element;
    if (of_list == nullptr && keys.contains(element.key)) of_list = &element;
  }
  if (of_list != nullptr) return of_list;
  return open.empty() ? nullptr : &open.front();
}

}  // namespace ouro
