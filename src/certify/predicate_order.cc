// Compares what predicate reads saw with an order of transactions.
//
// A read saw one version of each row; by the order, another one may be there when the read's
// transaction begins. The order contradicts the read if some version between these two changes
// whether the row matches. By timestamps both are mostly the same; so we look only at the rows
// where they differ.

#include <algorithm>

#include "certify/differences.h"
#include "certify/predicate_reads.h"

namespace ouro::recheck {

class PredicateReads::Comparison {
 public:
  Comparison(const PredicateReads& reads, const Moments& moments, Unseen unseen)
      : r_(reads), h_(reads.h_), moments_(moments), unseen_(unseen), differences_(times()) {}

  // A link of the read that the order does not keep, if there is one.
  [[nodiscard]] std::optional<Link> broken(OpId id) {
    const TxnId reader = h_.txn_of(id);
    if (h_.predicate_read(id).has_version_set || !find_rows(id)) return broken_of_all(id);
    if (keys_.empty()) return std::nullopt;
    const Sight sight(r_, id);
    for (const KeyId key : keys_) {
      const auto seen = sight.seen(key);
      if (!seen) continue;
      const auto link = next_change(id, key, *seen);
      if (link && writer(*link) != reader) return link;
    }
    return std::nullopt;
  }

 private:
  // So few differences are looked at without comparing costs.
  static constexpr std::size_t kFew = 64;

  // When a version is committed, as a position in the order.
  struct Commit {
    std::size_t at = 0;
    KeyPosition place;
    constexpr auto operator<=>(const Commit&) const = default;
  };

  [[nodiscard]] TxnId writer(const Link& link) const { return r_.reading_.access(link.write).txn; }
  [[nodiscard]] std::size_t committed(AccessId write) const {
    return moments_.committed[r_.reading_.access(write).txn.index()];
  }

  // Fills commits_ and stamps_. Returns the times of all versions in the order of commits_: where
  // their timestamps are in stamps_.
  std::vector<std::uint32_t> times() {
    for (std::size_t k = 0; k < r_.versions_.size(); ++k) {
      for (std::uint32_t i = 1; i < r_.versions_[k].size(); ++i) {
        commits_.push_back({committed(r_.versions_[k][i]), {KeyId{k}, i}});
        stamps_.push_back(r_.latest_[k][i]);
      }
    }
    std::sort(commits_.begin(), commits_.end());
    std::sort(stamps_.begin(), stamps_.end());
    stamps_.erase(std::unique(stamps_.begin(), stamps_.end()), stamps_.end());
    std::vector<std::uint32_t> times;
    times.reserve(commits_.size());
    for (const Commit& commit : commits_) {
      const Clock::Moment stamp = r_.latest_[commit.place.key.index()][commit.place.position];
      const auto at = std::lower_bound(stamps_.begin(), stamps_.end(), stamp);
      times.push_back(static_cast<std::uint32_t>(at - stamps_.begin()));
    }
    return times;
  }

  // Fills `keys_` with the rows of which the read saw another version than the order has when its
  // transaction begins. False if they are so many that links() costs less.
  bool find_rows(OpId id) {
    const TxnId reader = h_.txn_of(id);
    const auto place = std::lower_bound(commits_.begin(), commits_.end(),
                                        Commit{moments_.begun[reader.index()], {KeyId{0}, 0}});
    const auto time = std::lower_bound(stamps_.begin(), stamps_.end(), r_.snapshot(reader));
    const auto find = [&](std::size_t most) {
      places_.clear();
      return differences_.find(static_cast<std::uint32_t>(place - commits_.begin()),
                               static_cast<std::uint32_t>(time - stamps_.begin()), most, places_);
    };
    if (!find(kFew) && !find(r_.index_->size(r_.index_->cover(id)))) return false;
    keys_.clear();
    for (const std::uint32_t at : places_) keys_.push_back(commits_[at].place.key);
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    return true;
  }

  // Of the versions between the one that the read saw and the one that the order has when its
  // transaction begins, the change that is next to the former; nothing if there is none.
  [[nodiscard]] std::optional<Link> next_change(OpId id, KeyId key, std::uint32_t seen) const {
    const auto all = r_.versions(key);
    const std::size_t begun = moments_.begun[h_.txn_of(id).index()];
    const auto behind = std::partition_point(
        all.begin() + 1, all.end(), [&](AccessId write) { return committed(write) < begun; });
    const auto held = static_cast<std::uint32_t>(behind - all.begin() - 1);
    for (std::uint32_t i = seen; i > held; --i) {
      if (r_.changes(id, key, i - 1, i)) return Link{all[i], true};
    }
    for (std::uint32_t i = seen + 1; unseen_ == Unseen::Matter && i <= held; ++i) {
      if (r_.changes(id, key, i - 1, i)) return Link{all[i], false};
    }
    return std::nullopt;
  }

  // As broken(), by all links of the read.
  [[nodiscard]] std::optional<Link> broken_of_all(OpId id) const {
    const TxnId reader = h_.txn_of(id);
    for (const Link& link : r_.links(id)) {
      if (writer(link) == reader || (!link.seen && unseen_ != Unseen::Matter)) continue;
      if (link.seen != (committed(link.write) < moments_.begun[reader.index()])) return link;
    }
    return std::nullopt;
  }

  const PredicateReads& r_;
  const History& h_;
  const Moments& moments_;
  const Unseen unseen_;
  std::vector<Commit> commits_;        // Of all versions but the initial ones; sorted.
  std::vector<Clock::Moment> stamps_;  // Their timestamps, sorted, all different.
  Differences differences_;
  std::vector<std::uint32_t> places_;
  std::vector<KeyId> keys_;
};

std::optional<PredicateReads::Broken> PredicateReads::first_broken(const Moments& moments,
                                                                   Unseen unseen) const {
  Comparison comparison(*this, moments, unseen);
  for (const OpId read : reads_) {
    if (const auto link = comparison.broken(read)) return Broken{read, *link};
  }
  return std::nullopt;
}

}  // namespace ouro::recheck
