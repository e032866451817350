#include "check/polygraph/rehearsal.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ouro {
namespace {

// How many later transactions may run before an earlier one: few first, more where that fails.
constexpr std::array<std::uint32_t, 3> kReach = {4, 12, 24};
constexpr std::uint32_t kTries = 100;  // With each of them, until one has to run.

class Rehearsal {
 public:
  Rehearsal(const Encoding& encoding, std::span<const Node> txns, const Budget& budget)
      : e_(encoding), o_(encoding.observed()), recorded_(txns), ticker_(budget, 1024, 20) {
    for (const Node txn : txns) {
      if (o_.counted(TxnId{txn})) lines_.push_back(TxnId{txn});
    }
    commit_.assign(txns.size(), 0);
    is_open_.assign(o_.items().size(), false);
    for (const ItemId read : o_.searched_reads()) is_open_[read.index()] = true;
    versions_.assign(o_.history().key_count(), {});
    link_sessions();
    gather_writes();
  }

  Rehearsed run() {
    std::size_t reach = 0;  // Into kReach.
    std::uint32_t tries = 0;
    std::uint32_t from = 0;  // The line to be tried next.
    while (done_.size() < lines_.size() && !ticker_.tick()) {
      const std::uint32_t end = std::min<std::uint32_t>(
          first_ + kReach[reach] + 1, static_cast<std::uint32_t>(lines_.size()));
      std::uint32_t line = std::max(from, first_);
      Place place = kNoPlace;
      for (; line < end && place == kNoPlace; ++line) place = place_of(line);
      if (place != kNoPlace) {
        perform(line - 1, place);
        from = 0;
        if (done_.size() <= deepest_) continue;
        deepest_ = done_.size();
        tries = 0;
        if (deepest_ > settled_ + 4 * kReach.back()) reach = 0;
        continue;
      }
      const bool enough = ++tries > kTries;
      if (!enough && done_.size() > settled_) {
        from = take_back() + 1;
      } else if (reach + 1 < kReach.size()) {
        ++reach;
        tries = 0;
        from = 0;
      } else {
        perform(first_, static_cast<Place>(done_.size()));
        ++misfits_;
        settled_ = deepest_ = done_.size();
        reach = 0;
        tries = 0;
        from = 0;
      }
    }
    return {order(), misfits_};
  }

 private:
  // How many transactions committed before a begin.
  using Place = std::uint32_t;
  static constexpr Place kNoPlace = 0xffffffff;
  struct Version {
    Place since = 0;
    ItemId write;
  };
  struct Done {
    std::uint32_t line = 0;
    Place begin = 0;
  };

  void link_sessions() {
    const History& h = o_.history();
    previous_.assign(recorded_.size(), TxnId{});
    if (!e_.sessions()) return;
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      TxnId before;
      for (const TxnId txn : h.session_txns(SessionId{s})) {
        if (!o_.counted(txn)) continue;
        previous_[txn.index()] = before;
        before = txn;
      }
    }
  }

  void gather_writes() {
    first_write_.assign(recorded_.size() + 1, 0);
    for (std::size_t t = 0; t < recorded_.size(); ++t) {
      for (ItemId i = o_.items().first(TxnId{t}); i < o_.items().end(TxnId{t}); ++i.value) {
        if (o_.items().is_write(i) && o_.final(i)) writes_.push_back(i);
      }
      first_write_[t + 1] = static_cast<std::uint32_t>(writes_.size());
    }
  }
  // The last writes of a transaction, one for each key.
  [[nodiscard]] std::span<const ItemId> writes(TxnId txn) const {
    const std::uint32_t first = first_write_[txn.index()];
    return std::span(writes_).subspan(first, first_write_[txn.index() + 1] - first);
  }

  // The version of a key after `place` transactions committed; invalid: the initial one.
  [[nodiscard]] Version version_at(KeyId key, Place place) const {
    const auto& versions = versions_[key.index()];
    for (std::size_t v = versions.size(); v-- > 0;) {
      if (versions[v].since <= place) return versions[v];
    }
    return {};
  }
  [[nodiscard]] bool fits(ItemId read, ItemId write) const {
    if (!is_open_[read.index()]) return o_.write(read) == write;
    return o_.fits(read, write);
  }
  // The latest place, from `place` down, at which a read fits; kNoPlace if there is none from
  // `lowest` on.
  [[nodiscard]] Place fitting(ItemId read, Place place, Place lowest) const {
    for (;;) {
      const Version version = version_at(o_.items().key(read), place);
      if (fits(read, version.write)) return place;
      if (version.since <= lowest) return kNoPlace;
      place = version.since - 1;
    }
  }

  // Where the transaction of a line may begin if it commits now; kNoPlace if it may not.
  [[nodiscard]] Place place_of(std::uint32_t line) const {
    const TxnId txn = lines_[line];
    if (commit_[txn.index()] != 0) return kNoPlace;
    const TxnId previous = previous_[txn.index()];
    if (previous.valid() && commit_[previous.index()] == 0) return kNoPlace;
    if (e_.is_single(txn) && disturbs(line)) return kNoPlace;
    auto place = static_cast<Place>(done_.size());
    const Place lowest = e_.is_single(txn) ? place : earliest(txn);
    const ItemId first = o_.items().first(txn);
    const ItemId end = o_.items().end(txn);
    for (bool again = true; again;) {
      again = false;
      charge_reads_of(txn);
      for (ItemId i = first; i < end; ++i.value) {
        if (!o_.items().is_read(i) || !(o_.external(i) || is_open_[i.index()])) continue;
        const Place found = fitting(i, place, lowest);
        if (found == kNoPlace) return kNoPlace;
        again |= found != place;
        place = found;
      }
    }
    return place;
  }
  // A tick is what looking at about sixty-four items takes.
  void charge_reads_of(TxnId txn) const {
    ticker_.tick((o_.items().end(txn).value - o_.items().first(txn).value) / 64);
  }
  // Whether the transaction of a line overwrites what an earlier line, which did not run yet, could
  // read now. The same value may come back, but hardly while that one waits.
  [[nodiscard]] bool disturbs(std::uint32_t line) const {
    for (std::uint32_t earlier = first_; earlier < line; ++earlier) {
      const TxnId reader = lines_[earlier];
      if (commit_[reader.index()] != 0 || writes(lines_[line]).empty()) continue;
      charge_reads_of(reader);
      for (ItemId r = o_.items().first(reader); r < o_.items().end(reader); ++r.value) {
        if (!o_.items().is_read(r) || !(o_.external(r) || is_open_[r.index()])) continue;
        const ItemId write = written(lines_[line], o_.items().key(r));
        if (!write.valid() || fits(r, write)) continue;
        if (fits(r, version_at(o_.items().key(r), kNoPlace).write)) return true;
      }
    }
    return false;
  }
  // The last write of a key by a transaction; invalid if there is none.
  [[nodiscard]] ItemId written(TxnId txn, KeyId key) const {
    for (const ItemId write : writes(txn)) {
      if (o_.items().key(write) == key) return write;
    }
    return {};
  }
  // Behind the one before in its session, and behind whoever wrote what it writes.
  [[nodiscard]] Place earliest(TxnId txn) const {
    const TxnId previous = previous_[txn.index()];
    Place place = previous.valid() ? commit_[previous.index()] : 0;
    if (!e_.chained(txn)) return place;
    for (const ItemId write : writes(txn)) {
      const auto& versions = versions_[o_.items().key(write).index()];
      if (!versions.empty()) place = std::max(place, versions.back().since);
    }
    return place;
  }

  template <class F>
  void for_each_written(TxnId txn, const F& f) {
    for (const ItemId write : writes(txn)) f(versions_[o_.items().key(write).index()], write);
  }
  void perform(std::uint32_t line, Place begin) {
    done_.push_back({line, begin});
    const auto now = static_cast<Place>(done_.size());
    commit_[lines_[line].index()] = now;
    for_each_written(lines_[line], [&](auto& versions, ItemId i) { versions.push_back({now, i}); });
    while (first_ < lines_.size() && commit_[lines_[first_].index()] != 0) ++first_;
  }
  // Returns the line that was taken back.
  std::uint32_t take_back() {
    const std::uint32_t line = done_.back().line;
    done_.pop_back();
    commit_[lines_[line].index()] = 0;
    for_each_written(lines_[line], [](auto& versions, ItemId) { versions.pop_back(); });
    first_ = std::min(first_, line);
    return line;
  }

  // Transactions that did not run, as the budget is exhausted or they do not count, come last.
  std::vector<Node> order() const {
    std::vector<Node> order;
    order.reserve(e_.node_count());
    for (Node node = e_.first_readers(); node < e_.node_count(); ++node) order.push_back(node);
    std::vector<std::vector<Node>> begins(e_.split() ? done_.size() + 1 : 0);
    if (e_.split()) {
      for (const Done& done : done_) begins[done.begin].push_back(lines_[done.line].value * 2);
      order.insert(order.end(), begins[0].begin(), begins[0].end());
    }
    for (std::size_t i = 0; i < done_.size(); ++i) {
      order.push_back(e_.commit(lines_[done_[i].line]));
      if (e_.split()) order.insert(order.end(), begins[i + 1].begin(), begins[i + 1].end());
    }
    for (const Node txn : recorded_) {
      if (commit_[txn] != 0) continue;
      if (e_.split()) order.push_back(txn * 2);
      order.push_back(e_.commit(TxnId{txn}));
    }
    return order;
  }

  const Encoding& e_;
  const Observed& o_;
  const std::span<const Node> recorded_;
  mutable BudgetTicker ticker_;
  std::vector<TxnId> lines_;     // Those that take part, as they were recorded.
  std::vector<TxnId> previous_;  // By transaction: the one before in its session, if that counts.
  std::vector<bool> is_open_;    // By item.
  std::vector<ItemId> writes_;   // The last writes of all transactions, and by transaction
  std::vector<std::uint32_t> first_write_;  // where its own begin.
  std::vector<Place> commit_;    // By transaction: how many committed up to it; 0: it did not.
  std::vector<std::vector<Version>> versions_;  // By key, but for the initial ones.
  std::vector<Done> done_;
  std::uint32_t first_ = 0;  // All lines before it ran.
  std::size_t deepest_ = 0;  // The most that ran at a time.
  std::size_t misfits_ = 0;  // See Rehearsed.
  std::size_t settled_ = 0;  // So many that ran are not taken back.
};

}  // namespace

Rehearsed rehearsed(const Encoding& encoding, std::span<const Node> txns, const Budget& budget) {
  return Rehearsal(encoding, txns, budget).run();
}

}  // namespace ouro
