#include "check/polygraph/alignment.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/sort_within.h"

namespace ouro {
namespace {

constexpr int kRounds = 4;
constexpr int kMatchings = 2;         // How often open reads are matched with writes, …
constexpr int kRoundsOfMatching = 2;  // … and how often all is fitted after each.
// The weight of the first guess, 1/σ²: as if it were off by σ = 0.3 of the whole time, so that it
// decides only where nothing else does.
constexpr float kAnchor = 10;

// A gap tells something if it is not longer than this times what the first guess is off: of a
// session with n transactions at random times, about 0.5/√n of the whole time.
constexpr float kTelling = 2;

class Alignment {
 public:
  Alignment(const Encoding& encoding, std::span<const Node> nodes, const Budget& budget)
      : e_(encoding), o_(encoding.observed()), budget_(budget) {
    const std::size_t txns = o_.history().txn_count();
    time_.resize(txns);
    float position = 0;
    for_each_within(budget, 0, nodes.size(), [&](std::size_t at) {
      const TxnId txn = e_.txn(nodes[at]);
      if (txn == kInitialTxn || !e_.is_commit(nodes[at])) return;
      time_[txn.index()] = position++ / static_cast<float>(txns);
    });
    guess_ = time_;
    measure_gaps();
    find_known_reads();
  }

  // Whether there is anything to go by.
  [[nodiscard]] bool worthwhile() const {
    return !reads_.empty();
  }

  // Ends early, with what it has, if the budget is exhausted.
  std::vector<Node> run() {
    fit(kRounds);
    if (e_.open().sources && !o_.searched_reads().empty()) {
      const std::size_t known = reads_.size();
      for (int matching = 0; matching < kMatchings; ++matching) {
        reads_.resize(known);
        match_open_reads();
        fit(kRoundsOfMatching);
      }
    }
    std::vector<Node> order(time_.size());
    std::iota(order.begin(), order.end(), 0);
    static_cast<void>(
        sort_within(budget_, order, [&](Node a, Node b) { return time_[a] < time_[b]; }));
    return order;
  }

 private:
  // Who read what whom wrote, and how long after, probably. Times are from 0 to 1, or a little
  // beyond.
  struct Read {
    std::uint32_t reader = 0;
    std::uint32_t writer = 0;
    float gap = 0;
  };
  // The time of `other` and `gap` is that of the transaction that has this link.
  struct Link {
    std::uint32_t other = 0;
    float gap = 0;
  };
  // What is taken to be as long as it spreads widely, as the time between random events, has this
  // weight 1/σ².
  static float weight(float gap) { return 1 / (gap * gap); }

  // Of a key that is written n times a read comes 1/n later than the write, on average.
  void measure_gaps() {
    gap_.assign(o_.history().key_count(), 0);
    for_each_within(budget_, 0, o_.items().size(), [&](std::size_t i) {
      if (o_.items().is_write(ItemId{i})) ++gap_[o_.items().key(ItemId{i}).index()];
    });
    for (float& gap : gap_) gap = 1 / std::max(gap, 1.0F);
    const auto sessions = static_cast<float>(o_.history().session_count());
    const auto txns = static_cast<float>(time_.size());
    longest_ = kTelling * 0.5F / std::sqrt(txns / sessions);
  }

  void find_known_reads() {
    for_each_within(budget_, 0, time_.size(), [&](std::size_t t) {
      const TxnId txn{t};
      if (!o_.counted(txn)) return;
      for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
        if (o_.items().is_read(i) && o_.external(i)) add_read(i, o_.write(i));
      }
    });
  }
  void add_read(ItemId read, ItemId write) {
    const float gap = gap_[o_.items().key(read).index()];
    if (!write.valid() || gap > longest_) return;
    reads_.push_back({o_.txn(read).value, o_.txn(write).value, gap});
  }

  // A write of an open key, sorted by what it wrote and when.
  struct Write {
    KeyId key;
    Value value;
    float time = 0;
    ItemId item;
    constexpr auto operator<=>(const Write&) const = default;
  };
  // Adds to reads_, for each open read, the write of the same value that was likeliest just before.
  void match_open_reads() {
    std::vector<Write> writes;
    for_each_within(budget_, 0, o_.items().size(), [&](std::size_t i) {
      const ItemId item{i};
      if (!o_.items().is_write(item) || !e_.is_open(o_.items().key(item))) return;
      if (gap_[o_.items().key(item).index()] > longest_) return;
      if (!o_.final(item) || !o_.counted(o_.txn(item))) return;
      const float time = time_[o_.txn(item).index()];
      writes.push_back({o_.items().key(item), o_.items().value(item), time, item});
    });
    if (!sort_within(budget_, writes, std::less<>())) return;
    const auto searched = o_.searched_reads();
    for_each_within(budget_, 0, searched.size(), [&](std::size_t r) {
      const ItemId read = searched[r];
      const KeyId key = o_.items().key(read);
      const float gap = gap_[key.index()];
      if (gap > longest_) return;
      const float wanted = time_[o_.txn(read).index()] - gap;
      const Write probe{key, o_.items().value(read), wanted, ItemId{0}};
      const auto behind = std::lower_bound(writes.begin(), writes.end(), probe);
      const auto off = [&](const Write& write) {
        const bool fits = write.key == key && write.value == probe.value &&
                          o_.txn(write.item) != o_.txn(read);
        return fits ? std::abs(write.time - wanted) : kNever;
      };
      const float right = behind == writes.end() ? kNever : off(*behind);
      const float left = behind == writes.begin() ? kNever : off(*(behind - 1));
      if (std::min(left, right) > kFar * gap) return;
      add_read(read, left < right ? (behind - 1)->item : behind->item);
    });
  }
  static constexpr float kNever = 1e9F;
  static constexpr float kFar = 3;  // In gaps: what is further away is no match.

  // Makes links_ from reads_.
  void link() {
    first_.assign(time_.size() + 1, 0);
    for (const Read& read : reads_) {
      ++first_[read.reader];
      ++first_[read.writer];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    links_.resize(2 * reads_.size());
    for (const Read& read : reads_) {
      links_[--first_[read.reader]] = {read.writer, read.gap};
      links_[--first_[read.writer]] = {read.reader, -read.gap};
    }
  }

  void fit(int rounds) {
    link();
    const History& h = o_.history();
    for (int round = 0; round < rounds; ++round) {
      for_each_within(budget_, 0, h.session_count(),
                      [&](std::size_t s) { fit_session(h.session_txns(SessionId{s})); });
    }
  }

  // Moves all transactions of a session to where they fit best while the others stay. Each depends
  // on its neighbours only, so that is a tridiagonal system of equations: elimination forward, and
  // substitution backward.
  template <class Txns>
  void fit_session(const Txns& txns) {
    if (txns.empty()) return;
    const float step = 1 / static_cast<float>(txns.size());
    const float stiff = weight(step);
    rows_.clear();
    for (std::size_t i = 0; i < txns.size(); ++i) {
      Row row = row_of(txns[i]);
      if (i + 1 < txns.size()) {
        row.weight += stiff;
        row.sum -= stiff * step;
      }
      if (i > 0) {
        const double share = stiff / rows_.back().weight;
        row.weight += stiff - stiff * share;
        row.sum += stiff * step + rows_.back().sum * share;
      }
      rows_.push_back(row);
    }
    double behind = 0;
    for (std::size_t i = txns.size(); i-- > 0;) {
      behind = (rows_[i].sum + (i + 1 < txns.size() ? stiff * behind : 0)) / rows_[i].weight;
      time_[txns[i].index()] = static_cast<float>(behind);
    }
  }
  // How much holds a transaction, and the weighted sum of where it is held.
  struct Row {
    double weight = 0;
    double sum = 0;
  };
  [[nodiscard]] Row row_of(TxnId txn) const {
    Row row{kAnchor, kAnchor * guess_[txn.index()]};
    for (std::uint32_t l = first_[txn.index()]; l < first_[txn.index() + 1]; ++l) {
      const float weight = this->weight(links_[l].gap);
      row.weight += weight;
      row.sum += weight * (time_[links_[l].other] + links_[l].gap);
    }
    return row;
  }

  const Encoding& e_;
  const Observed& o_;
  const Budget& budget_;
  std::vector<float> time_;   // By transaction: its time by now,
  std::vector<float> guess_;  // and by the first guess.
  std::vector<float> gap_;    // By key: how long after a write it is read.
  float longest_ = 0;         // Longer gaps tell nothing.
  std::vector<Read> reads_;
  std::vector<Link> links_;            // By transaction; each read is there twice.
  std::vector<std::uint32_t> first_;   // By transaction, and one more: where its links begin.
  std::vector<Row> rows_;              // Scratch of fit_session().
};

}  // namespace

std::optional<std::vector<Node>> aligned(const Encoding& encoding, std::span<const Node> nodes,
                                         const Budget& budget) {
  Alignment alignment(encoding, nodes, budget);
  if (!alignment.worthwhile()) return std::nullopt;
  return alignment.run();
}

}  // namespace ouro
